// PostgreSQL with pgvector on a port, in one process without any installation: the same C
// sources, compiled to WebAssembly. All connections share one session. It ends with its
// standard input, so that it never outlives the tests.
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'

// Node.js 18, which Debian 12 has, knows it under a flag only.
globalThis.CustomEvent ??= class extends Event {
  constructor(type, options) {
    super(type)
    this.detail = options?.detail
  }
}

const [dataDir, port] = process.argv.slice(2)
process.stdin.on('end', () => process.exit(0)).resume()
const db = await PGlite.create({ dataDir, extensions: { vector } })
const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: Number(port), maxConnections: 20 })
await server.start()
console.log(`ready ${server.port}`)
