package queuetest

import (
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Serve runs a nats-server with JetStream until the test ends: on a port of 127.0.0.1
// that was free, unless the options say otherwise. Zero options will do.
func Serve(t testing.TB, opts *server.Options) *server.Server {
	t.Helper()
	if opts.Port == 0 && !opts.DontListen {
		opts.Host, opts.Port = "127.0.0.1", server.RANDOM_PORT
	}
	if opts.StoreDir == "" {
		opts.StoreDir = t.TempDir()
	}
	opts.JetStream, opts.NoSigs, opts.NoLog = true, true, true
	ns, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	if !ns.ReadyForConnections(10*time.Second) || !ns.JetStreamEnabled() {
		t.Fatal("the nats-server did not start")
	}
	return ns
}

// Port returns where a server listens.
func Port(t testing.TB, ns *server.Server) int {
	t.Helper()
	addr, tcp := ns.Addr().(*net.TCPAddr)
	if !tcp {
		t.Fatal("the nats-server listens nowhere")
	}
	return addr.Port
}
