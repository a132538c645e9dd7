package queue

import (
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
)

// BenchmarkAccept measures an intake: every write of it, one session a ticket.
func BenchmarkAccept(b *testing.B) {
	server, err := StartServer(b.Context(), ServerConfig{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Stop()
	nc, err := server.Dial()
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	bounds := map[chat.Lane]int{}
	for _, l := range chat.Lanes() {
		bounds[l] = 1_000_000
	}
	q, err := Open(b.Context(), nc, Config{Bounds: bounds, Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			now := time.Now()
			id := chat.NewTicketID()
			t := chat.Ticket{ID: id, Tenant: "demo", Session: chat.NewSessionID(), Lane: chat.Normal,
				Message: "Where is my order 1234?", AcceptedAt: now, Deadline: now.Add(10 * time.Second)}
			if _, _, err := q.Accept(b.Context(), t, Claim{Key: id, Body: "x"}); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
