// A WebSocket client over a plain TCP connection, for Node versions that have none: as much
// of the browser's interface as the connection module uses, text frames only.
import { connect } from "node:net";
import { randomBytes } from "node:crypto";

export class Wire {
  readyState = 0;
  onopen = null;
  onmessage = null;
  onclose = null;
  #tcp;
  #buffer = Buffer.alloc(0);
  #open = false;

  constructor(url, protocol) {
    const { hostname, port, pathname, search } = new URL(url);
    this.#tcp = connect(Number(port), hostname, () => this.#tcp.write(
      `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`));
    this.#tcp.setNoDelay(true);
    this.#tcp.on("data", (data) => this.#read(data));
    this.#tcp.on("error", () => {});
    this.#tcp.on("close", () => this.#end(1006, ""));
  }

  send(text) { this.#frame(1, Buffer.from(text)); }

  close(code = 1000) {
    if (this.#open) this.#frame(8, Buffer.from([code >> 8, code & 255]));
    this.#tcp.end();
    setTimeout(() => this.#tcp.destroy(), 1000).unref();
    this.readyState = 2;
  }

  #end(code, reason) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.#tcp.destroy();
    this.onclose?.({ code, reason });
  }

  #frame(kind, body) {
    const mask = randomBytes(4);
    const long = body.length > 125;
    const head = Buffer.from(long ? [128 | kind, 254, body.length >> 8, body.length & 255] : [128 | kind, 128 | body.length]);
    this.#tcp.write(Buffer.concat([head, mask, body.map((byte, i) => byte ^ mask[i % 4])]));
  }

  #read(data) {
    this.#buffer = Buffer.concat([this.#buffer, data]);
    if (!this.#open) {
      const end = this.#buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      if (!this.#buffer.toString("latin1", 0, 12).endsWith(" 101")) return this.#end(1006, "");
      this.#buffer = this.#buffer.subarray(end + 4);
      this.#open = true;
      this.readyState = 1;
      this.onopen?.({});
    }
    for (let frame; this.readyState < 3 && (frame = this.#next());) {
      const { kind, body } = frame;
      if (kind === 1) this.onmessage?.({ data: body.toString() });
      else if (kind === 9) this.#frame(10, body);
      else if (kind === 8) return this.#end(body.length > 1 ? body.readUInt16BE(0) : 1005, body.toString("utf8", 2));
    }
  }

  #next() {
    const b = this.#buffer;
    if (b.length < 2) return null;
    let size = b[1] & 127, at = 2;
    if (size === 126) {
      if (b.length < 4) return null;
      size = b.readUInt16BE(2);
      at = 4;
    } else if (size === 127) {
      if (b.length < 10) return null;
      size = Number(b.readBigUInt64BE(2));
      at = 10;
    }
    if (b.length < at + size) return null;
    this.#buffer = b.subarray(at + size);
    return { kind: b[0] & 15, body: b.subarray(at, at + size) };
  }
}
