package control

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestAPermitGrantedAsItsAskEndsComesBack lets many asks end in the very moment at
// which a permit reaches them, in few sessions, so that a turn that is lost shows too.
func TestAPermitGrantedAsItsAskEndsComesBack(t *testing.T) {
	t.Parallel()
	const limit, sessions, askers, rounds = 3, 8, 48, 200
	q, closeQueue := openQueue(t)
	defer closeQueue()
	c := newController(t, q, limit)
	stop := start(t, c)
	defer stop()
	<-c.Ready()

	var running, granted, ended atomic.Int64
	var busy [sessions]atomic.Int64
	var all sync.WaitGroup
	for n := range askers {
		all.Go(func() {
			for range rounds {
				a := asker(n)
				session := n % sessions
				a.Session = asker(session).Session
				ctx, cancel := context.WithCancel(t.Context())
				if rand.IntN(3) == 0 {
					ctx, cancel = context.WithTimeout(t.Context(), time.Duration(rand.IntN(200))*time.Microsecond)
				} else {
					all.Go(func() {
						for range rand.IntN(40) {
							runtime.Gosched()
						}
						cancel()
					})
				}
				p, err := c.Ask(ctx, a)
				if err != nil {
					if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("ask: %v", err)
					}
					ended.Add(1)
					cancel()
					continue
				}
				granted.Add(1)
				if now := running.Add(1); now > limit {
					t.Errorf("%d hold one of %d permits", now, limit)
				}
				if now := busy[session].Add(1); now > 1 {
					t.Errorf("%d have the turn of session %d", now, session)
				}
				runtime.Gosched()
				busy[session].Add(-1)
				running.Add(-1)
				c.Release(p, 0)
				c.Release(p, 0)
				c.EndTurn(a.Tenant, a.Session, a.Ticket)
				cancel()
			}
		})
	}
	all.Wait()
	t.Logf("%d granted, %d ended before", granted.Load(), ended.Load())
	if granted.Load() == 0 || ended.Load() == 0 {
		t.Error("one side of the race never won")
	}
	if inUse(c) != 0 || c.Waiting() != 0 {
		t.Errorf("%d in use, %d wait at rest", inUse(c), c.Waiting())
	}
	for n := range sessions { // every turn is free again
		c.Release(mustAsk(t, c, asker(n)), 0)
	}
}

func TestACloseMeetsAsksAndReleases(t *testing.T) {
	t.Parallel()
	q, closeQueue := openQueue(t)
	defer closeQueue()
	for range 20 {
		c := newController(t, q, 2)
		c.control.cfg.Settle = time.Nanosecond
		stop := start(t, c)
		<-c.Ready()
		var all sync.WaitGroup
		for n := range 16 {
			all.Go(func() {
				for {
					p, err := c.Ask(t.Context(), asker(n))
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil {
						t.Errorf("ask: %v", err)
						return
					}
					c.Release(p, 0)
					c.EndTurn("demo", asker(n).Session, asker(n).Ticket)
				}
			})
		}
		runtime.Gosched()
		stop()
		all.Wait()
		if inUse(c) != 0 || c.Waiting() != 0 || len(c.holder.asks) != 0 {
			t.Fatalf("%d in use, %d wait after the end", inUse(c), c.Waiting())
		}
	}
}
