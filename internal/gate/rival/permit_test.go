//go:build linux

package rival

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"

	"golang.org/x/sync/semaphore"

	"sluice/internal/gate"
)

// BenchmarkPermit takes a permit in the process and gives it back: one after the other,
// and from 64 goroutines that want 48 permits and let the others run while they hold one.
// The gate's comes from the elected controller, with a turn of a session, in order of
// lanes, through windows and breaker, which hear of the call's end; the others only count.
func BenchmarkPermit(b *testing.B) {
	for _, goroutines := range []int{1, 64} {
		cost := map[string]float64{}
		for _, w := range []struct {
			name string
			open func(testing.TB) hold
		}{{byGate, gateHold}, {"channel", channelHold}, {"semaphore", semaphoreHold}} {
			b.Run(fmt.Sprintf("goroutines=%d/way=%s", goroutines, w.name), func(b *testing.B) {
				cost[w.name] = benchHold(b, goroutines, w.open(b))
			})
		}
		if len(cost) == 3 {
			fmt.Fprintf(os.Stderr, "| CPU of a permit, %d goroutines: gate %.1f µs, %.0f × a channel's, %.0f × a semaphore's.\n",
				goroutines, cost[byGate]/1000, cost[byGate]/cost["channel"], cost[byGate]/cost["semaphore"])
		}
	}
}

// hold waits for a permit and returns what gives it back.
type hold func(context.Context) (release func(), err error)

// benchHold measures a hold, and returns its CPU in ns.
func benchHold(b *testing.B, goroutines int, take hold) float64 {
	each := (b.N + goroutines - 1) / goroutines
	b.ReportAllocs()
	begun, err := ownCPU()
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				release, err := take(b.Context())
				if err != nil {
					b.Error(err)
					return
				}
				if goroutines > 1 {
					runtime.Gosched()
				}
				release()
			}
		})
	}
	all.Wait()
	b.StopTimer()
	ended, err := ownCPU()
	if err != nil {
		b.Fatal(err)
	}
	cost := float64(ended-begun) / float64(each*goroutines)
	b.ReportMetric(cost, "cpu-ns/op")
	return cost
}

func gateHold(t testing.TB) hold {
	m, asks := startMember(t), &asker{}
	return func(ctx context.Context) (func(), error) {
		a := asks.next()
		p, err := m.Ask(ctx, a)
		return func() {
			m.End(p, gate.End{Outcome: gate.Good, Tokens: 500})
			m.Release(p, 0)
			m.EndTurn(a.Tenant, a.Session, a.Ticket)
		}, err
	}
}

func channelHold(testing.TB) hold {
	permits := make(chan struct{}, limit)
	return func(ctx context.Context) (func(), error) {
		select {
		case permits <- struct{}{}:
			return func() { <-permits }, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func semaphoreHold(testing.TB) hold {
	permits := semaphore.NewWeighted(limit)
	return func(ctx context.Context) (func(), error) {
		return func() { permits.Release(1) }, permits.Acquire(ctx, 1)
	}
}
