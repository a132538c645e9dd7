package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
)

func (l *life) warmer() warmer {
	return warmer{granter: l.line.member, model: l.fleet.model, log: zerolog.Nop()}
}

// dials returns how many connections to vendors were opened.
func (l *life) dials() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// wantNoPermits fails if a permit is in use.
func (l *life) wantNoPermits(when string) {
	l.w.t.Helper()
	for _, v := range l.line.control.Vendors() {
		if v.InUse != 0 {
			l.w.t.Errorf("%s: vendor %s has %d permits in use", when, v.Name, v.InUse)
		}
	}
}

func TestTheFirstCustomerMeetsAWarmConnection(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), steady)
		l := w.live()
		a := w.rules.Vendors[0]
		l.warmer().warm(t.Context(), a, endpointNames(a)...)
		synctest.Wait()
		s := w.vendors["a"].Stats()
		if s.Calls != warmCalls || s.MaxInFlight != warmCalls || s.InFlight != 0 || w.vendors["b"].Stats().Calls != 0 {
			t.Errorf("the vendor counted %+v", s)
		}
		l.wantNoPermits("after the warm-up")
		if n := l.dials(); n != warmCalls {
			t.Errorf("%d connections", n)
		}
		asked := l.accept(w.ask("s1", "Where is my order 1234?", chat.Normal, 10*time.Second))
		l.until(20*time.Second, asked.ID)
		if n := l.dials(); n != warmCalls {
			t.Errorf("the first customer waited for a new connection: there were %d", n)
		}
		l.stop()
		w.close()
	})
}

func TestAWarmUpOfAVendorThatHangsEndsAfterItsLimit(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{HangShare: 1})
		l := w.live()
		a := w.rules.Vendors[0]
		begun := time.Now()
		l.warmer().warm(t.Context(), a, endpointNames(a)...)
		if took := time.Since(begun); took != warmLimit {
			t.Errorf("it took %s", took)
		}
		synctest.Wait()
		if s := w.vendors["a"].Stats(); s.Cancelled != warmCalls || s.InFlight != 0 {
			t.Errorf("the vendor counted %+v", s)
		}
		time.Sleep(time.Second)
		l.wantNoPermits("a second later")
		l.stop()
		w.close()
	})
}

func TestAWarmUpThatNobodyWantsIsNotMade(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), steady)
		l := w.live()
		a := w.rules.Vendors[0]
		a.Warmup = false
		l.warmer().warm(t.Context(), a, endpointNames(a)...)
		if s := w.vendors["a"].Stats(); s.Calls != 0 {
			t.Errorf("the vendor counted %+v", s)
		}
		l.stop()
		w.close()
	})
}

func TestTheWarmUpStageServesAllVendorsAndStaysUntilItsEnd(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		r := testRules(t, smallRules)
		w := newWorld(t, r, steady)
		l := w.live()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		in, err := unchanging(r)
		if err != nil {
			t.Fatal(err)
		}
		go func() { ended <- l.warmer().stage(in).run(ctx) }()
		time.Sleep(warmLimit)
		select {
		case err := <-ended:
			t.Fatalf("ended by itself: %v", err)
		default:
		}
		for _, v := range r.Vendors {
			if s := w.vendors[v.Name].Stats(); s.Calls != warmCalls || s.InFlight != 0 {
				t.Errorf("vendor %s counted %+v", v.Name, s)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		l.wantNoPermits("after the stage")
		l.stop()
		w.close()
	})
}

// Customers go first: while they take every permit, a warm-up waits and then gives up.
func TestAWarmUpStandsBehindEveryCustomer(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		slow := sim.Behaviour{FirstToken: sim.Fixed(time.Second), Call: sim.Fixed(20 * time.Second)}
		w := newWorld(t, testRules(t, smallRules), slow)
		l := w.live()
		var ids []string
		for i := range 12 {
			ids = append(ids, l.accept(w.ask(string(rune('a'+i)), "Where is my order 1234?", chat.Low, 60*time.Second)).ID)
		}
		time.Sleep(time.Second)
		before := w.vendors["a"].Stats().Calls
		a := w.rules.Vendors[0]
		l.warmer().warm(t.Context(), a, endpointNames(a)...)
		if s := w.vendors["a"].Stats(); before != 4 || s.Calls != before {
			t.Errorf("%d calls, then %d: want the 4 permits' and no more", before, s.Calls)
		}
		l.until(2*time.Minute, ids...)
		l.stop()
		w.close()
	})
}
