package queue

import (
	"testing"
	"time"

	"sluice/internal/chat"
)

// BenchmarkAccept measures an intake: every write of it, one session a ticket.
func BenchmarkAccept(b *testing.B) {
	q, _ := measured(b, 1_000_000)
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
