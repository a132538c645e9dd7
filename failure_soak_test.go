package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
)

// kept is what a process holds at rest.
type kept struct {
	goroutines int
	objects    uint64
}

// rest lets everything end that can, and counts what is left.
func (o *outage) rest(l *life) kept {
	l.fleet.close() // connections that are only idle
	time.Sleep(time.Second)
	o.atRest("between the calls")
	var m runtime.MemStats
	for range 3 { // finalizers free in the round after
		runtime.GC()
		synctest.Wait()
	}
	runtime.ReadMemStats(&m)
	k := kept{runtime.NumGoroutine(), m.HeapObjects}
	for range 50 { // the broker and its client start one for a moment now and then
		time.Sleep(50 * time.Millisecond)
		k.goroutines = min(k.goroutines, runtime.NumGoroutine())
	}
	return k
}

// Row 33 (BerriAI/litellm#38193: 40 GiB after a while; vllm-project/production-stack#1072: 14
// kills for want of memory in 12 days): something of each request was never freed. Of 20,000
// calls, a fifth of them aborted, nothing is left, neither a goroutine nor an object of the
// heap. SLUICE_SOAK is another number of calls: make soak.
func TestCallsLeaveNothingBehindHoweverMany(t *testing.T) {
	calls := 20_000
	if raced {
		calls = 4_000
	}
	if n, err := strconv.Atoi(os.Getenv("SLUICE_SOAK")); err == nil {
		calls = n
	}
	queuetest.Bubble(t, func(t *testing.T) {
		b := sim.Behaviour{FirstToken: sim.Uniform(0, 20*time.Millisecond), Call: sim.Uniform(10*time.Millisecond, 50*time.Millisecond), ChunkTokens: 1000}
		o := newOutage(t, onVendor(`quota: 48, qps: 1000000, tokens_per_minute: 1000000000`), sim.Config{Behaviour: b})
		defer o.end()
		o.bare = true // a dispatcher's repairs leave consumers that end by themselves, minutes later
		l := o.alone()
		var answered, aborted atomic.Int64
		round := func(n int) {
			var callers sync.WaitGroup
			for i := range 50 {
				rng := rand.New(rand.NewPCG(uint64(n), uint64(i)))
				callers.Go(func() {
					for range n / 50 {
						ctx, cancel := context.WithCancelCause(t.Context())
						if rng.IntN(5) == 0 {
							time.AfterFunc(time.Duration(rng.Int64N(int64(20*time.Millisecond))), func() { cancel(errLeft) })
						}
						var options []llms.CallOption
						if rng.IntN(2) == 0 {
							options = append(options, streamed())
						}
						a := o.wish(chat.Lanes()[rng.IntN(5)], 0)
						a.Tokens = 100
						switch _, err := l.call(ctx, a, "hello", options...); {
						case err == nil:
							answered.Add(1)
						case errors.Is(err, errLeft):
							aborted.Add(1)
						default:
							t.Error(err)
						}
						cancel(nil)
					}
				})
			}
			callers.Wait()
		}
		round(calls / 10)
		time.Sleep(time.Minute) // what windows remember
		before := o.rest(l)
		for range 9 {
			round(calls / 10)
		}
		time.Sleep(time.Minute)
		after := o.rest(l)
		t.Logf("%d answered, %d aborted; %+v before, %+v after", answered.Load(), aborted.Load(), before, after)
		if after.goroutines > before.goroutines {
			t.Errorf("%d goroutines are left, there were %d", after.goroutines, before.goroutines)
		}
		if after.objects > before.objects+3000 { // an object for each abort is more
			t.Errorf("%d objects are left, there were %d", after.objects, before.objects)
		}
		if n := aborted.Load(); n < int64(calls)/10 || answered.Load() < int64(calls)*7/10 {
			t.Errorf("%d were answered and %d aborted of %d", answered.Load(), n, calls)
		}
	})
}
