package queue

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
)

// measured opens a queue on a server that syncs as a user's does, for a benchmark.
func measured(b *testing.B, bound int) (*Queue, *nats.Conn) {
	b.Helper()
	server, err := StartServer(b.Context(), ServerConfig{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(server.Stop)
	nc, err := server.Dial()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(nc.Close)
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = bound
	}
	q, err := Open(b.Context(), nc, Config{Bounds: bounds, Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	return q, nc
}
