package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// DefaultMaxStore is the size of the embedded server's store in bytes.
const DefaultMaxStore = 16 << 30

// ServerConfig describes the embedded NATS server.
type ServerConfig struct {
	Dir       string // where JetStream stores its files; required
	MaxStore  int64  // bytes on disk before writes are refused; 0: DefaultMaxStore
	MaxMemory int64  // bytes in memory streams; 0: 256 MiB
	// Sync is how often files are synced: what a power cut may cost. A kill of the process
	// costs nothing. 0: each second.
	Sync time.Duration
}

// Validate names the field that is wrong.
func (c ServerConfig) Validate() error {
	if c.Dir == "" {
		return fmt.Errorf("server config: Dir is empty")
	}
	if c.MaxStore < 0 || c.MaxMemory < 0 || c.Sync < 0 {
		return fmt.Errorf("server config: MaxStore, MaxMemory and Sync must not be negative")
	}
	return nil
}

// Server is a nats-server inside this process. It opens no port: clients come in
// through Dial alone.
type Server struct{ ns *server.Server }

// StartServer starts the server and waits until it accepts clients.
func StartServer(ctx context.Context, cfg ServerConfig) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	opts := &server.Options{
		ServerName: "sluice", JetStream: true, StoreDir: cfg.Dir,
		DontListen: true, NoSigs: true, NoLog: true,
		JetStreamMaxStore:  orDefault(cfg.MaxStore, DefaultMaxStore),
		JetStreamMaxMemory: orDefault(cfg.MaxMemory, 256<<20),
		SyncInterval:       orDefault(cfg.Sync, time.Second),
		MaxPayload:         2 << 20, // a rules document may have 1 MiB, and comes with headers
	}
	ns, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("create nats server: %w", err)
	}
	ns.Start()
	for !ns.ReadyForConnections(10 * time.Millisecond) {
		if err := ctx.Err(); err != nil {
			ns.Shutdown()
			return nil, fmt.Errorf("start nats server: %w", err)
		}
	}
	if !ns.JetStreamEnabled() {
		ns.Shutdown()
		ns.WaitForShutdown()
		return nil, fmt.Errorf("start nats server: jetstream did not start in %s", cfg.Dir)
	}
	return &Server{ns: ns}, nil
}

// Dial opens a connection inside the process. The caller closes it before Stop.
func (s *Server) Dial() (*nats.Conn, error) {
	nc, err := nats.Connect("", nats.InProcessServer(s.ns), nats.Name("sluice"),
		nats.ReconnectWait(100*time.Millisecond), nats.MaxReconnects(-1))
	if err != nil {
		return nil, fmt.Errorf("connect to the embedded nats server: %w", err)
	}
	return nc, nil
}

// Stop shuts the server down and waits until its files are closed.
func (s *Server) Stop() {
	s.ns.Shutdown()
	s.ns.WaitForShutdown()
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
