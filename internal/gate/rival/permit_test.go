//go:build linux

package rival

import (
	"context"
	"fmt"
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
		for name, newHold := range map[string]func(*testing.B) func(context.Context) (func(), error){
			"gate": gateHold, "channel": channelHold, "semaphore": semaphoreHold,
		} {
			b.Run(fmt.Sprintf("goroutines=%d/way=%s", goroutines, name), func(b *testing.B) {
				benchHold(b, goroutines, newHold(b))
			})
		}
	}
}

// benchHold measures hold, which waits for a permit and returns what gives it back.
func benchHold(b *testing.B, goroutines int, hold func(context.Context) (func(), error)) {
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
				release, err := hold(b.Context())
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
	b.ReportMetric(float64(ended-begun)/float64(b.N), "cpu-ns/op")
}

func gateHold(b *testing.B) func(context.Context) (func(), error) {
	m, asks := startMember(b), &asker{}
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

func channelHold(*testing.B) func(context.Context) (func(), error) {
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

func semaphoreHold(*testing.B) func(context.Context) (func(), error) {
	permits := semaphore.NewWeighted(limit)
	return func(ctx context.Context) (func(), error) {
		return func() { permits.Release(1) }, permits.Acquire(ctx, 1)
	}
}
