package gate

import (
	"fmt"
	"testing"
	"time"

	"sluice/internal/chat"
)

// BenchmarkTableGrantRelease is one permit's way: it comes back, the next waiter gets
// it, and another one joins, while so many wait.
func BenchmarkTableGrantRelease(b *testing.B) {
	for _, waiters := range []int{0, 100, 1500, 40_000} {
		b.Run(fmt.Sprintf("waiters=%d", waiters), func(b *testing.B) {
			lanes := []chat.Lane{chat.High, chat.Normal, chat.Low}
			tb := NewTable(limited(map[string]int{"a": 48, "b": 24, "c": 16}))
			id := uint64(0)
			join := func() {
				id++
				err := tb.Join(Ask{
					ID: id, Tenant: "demo", Session: fmt.Sprint(id), Ticket: fmt.Sprint(id), Lane: lanes[id%3], Seq: 1,
					AcceptedAt: begin.Add(time.Duration(id) * time.Millisecond), Vendors: []string{"a", "b", "c"},
				}, begin)
				if err != nil {
					b.Fatal(err)
				}
			}
			var held []Grant
			for range 88 {
				join()
			}
			held = append(held, tb.Grants(begin)...)
			for range waiters {
				join()
			}
			b.ReportAllocs()
			for b.Loop() {
				g := held[0]
				tb.Release(g.Permit.ID, begin.Add(time.Second))
				tb.EndTurn(g.Ask.Tenant, g.Ask.Session, g.Ask.Ticket)
				join()
				held = append(held[1:], tb.Grants(begin.Add(time.Second))...)
			}
		})
	}
}
