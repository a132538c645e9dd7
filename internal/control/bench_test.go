package control

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
)

// BenchmarkAcquireRelease is a permit's way through the controller: asked for, given
// back, turn ended. With 64 permits nobody waits.
func BenchmarkAcquireRelease(b *testing.B) {
	for _, limit := range []int{64, 8} {
		for _, askers := range []int{1, 64} {
			b.Run(fmt.Sprintf("permits=%d/askers=%d", limit, askers), func(b *testing.B) {
				q, closeQueue := openQueue(b)
				c := newController(b, q, limit)
				stop := start(b, c)
				defer closeQueue()
				defer stop()
				<-c.Ready()
				ctx := context.Background()
				once := func(n int) {
					a := asker(n)
					p, err := c.Ask(ctx, a)
					if err != nil {
						b.Error(err)
						return
					}
					c.Release(p, 0)
					c.EndTurn(a.Tenant, a.Session, a.Ticket)
				}
				b.ReportAllocs()
				b.ResetTimer()
				if askers == 1 {
					for b.Loop() {
						once(0)
					}
					return
				}
				var next atomic.Int64
				b.SetParallelism(askers / 2) // of GOMAXPROCS
				b.RunParallel(func(pb *testing.PB) {
					n := int(next.Add(1))
					for pb.Next() {
						once(n)
					}
				})
			})
		}
	}
}
