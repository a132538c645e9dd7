package main

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/sim"
)

// shipped is the breaker of the shipped rules: it opens at half of ten calls in 10 s, for
// 30 s and up to a fifth more, and then lets three probes go.
const (
	shippedMinCalls = 10
	shippedCooldown = 30 * time.Second
	shippedProbes   = 3
)

// state returns how a vendor's breaker stands, as a node has heard.
func (l *life) state(vendor string) gate.BreakerState {
	l.w.t.Helper()
	all, err := l.line.member.VendorStates()
	if err != nil {
		l.w.t.Fatal(err)
	}
	return all[vendor].State
}

// trip makes the vendor fail until its breaker is open.
func (o *outage) trip(l *life, vendor string) (openedAt time.Time) {
	o.t.Helper()
	o.behave(vendor, sim.Behaviour{FirstToken: brisk.FirstToken, ErrorShare: 1})
	for range shippedMinCalls {
		if _, err := l.call(o.t.Context(), o.wish(chat.Normal, 0), "hello", streamed()); err == nil {
			o.t.Fatal("a vendor that fails every call gave an answer")
		}
	}
	openedAt = time.Now()
	time.Sleep(time.Second)
	if s := l.state(vendor); s != gate.BreakerOpen {
		o.t.Fatalf("the breaker is %s after %d failures", s, shippedMinCalls)
	}
	return openedAt
}

// Row 14 (BerriAI/litellm PR #34836): after 25 failures in a row a deployment was still in
// the rotation, and its cooldown was heeded every ten seconds only. Here the tenth opens
// the breaker, on all three nodes, and not one call comes before the cooldown is over.
func TestAnOpenBreakerIsOpenOnEveryNodeForItsWholeCooldown(t *testing.T) {
	atGate(t, onVendor(`quota: 60, retry: {attempts: 1}`), sim.Behaviour{FirstToken: brisk.FirstToken, ErrorShare: 1}, func(t *testing.T, o *outage) {
		nodes := []*life{o.join(), o.join(), o.join()}
		var opened time.Time
		for i := range 25 {
			_, err := nodes[i%3].call(t.Context(), o.wish(chat.Normal, 3*time.Second), "hello", streamed())
			var refused *gate.Refusal
			if unavailable := errors.As(err, &refused) && refused.Reason == gate.ReasonUnavailable; unavailable != (i >= shippedMinCalls) {
				t.Errorf("call %d ended with %v", i+1, err)
			}
			if i+1 == shippedMinCalls {
				opened = time.Now()
			}
		}
		if s := o.vendors["a"].Stats(); s.Errors != shippedMinCalls || s.Calls != shippedMinCalls {
			t.Errorf("the vendor counted %+v, want %d calls and no more", s, shippedMinCalls)
		}
		time.Sleep(time.Until(opened.Add(time.Second)))
		ctx, cancel := context.WithCancel(t.Context())
		var waits sync.WaitGroup
		for i, l := range nodes {
			if s := l.state("a"); s != gate.BreakerOpen {
				t.Errorf("node %d has it %s a second after it opened", i+1, s)
			}
			for range 20 {
				waits.Go(func() { _, _ = l.call(ctx, o.wish(chat.High, 0), "hello", streamed()) })
			}
		}
		time.Sleep(2 * shippedCooldown)
		came := o.fronts["a"].since(shippedMinCalls)
		if len(came) != shippedProbes {
			t.Fatalf("%d calls came in the cooldown and the time of the first probes, want %d", len(came), shippedProbes)
		}
		for _, at := range came {
			if after := at.Sub(opened); after < shippedCooldown || after > shippedCooldown*6/5+time.Second {
				t.Errorf("a probe came after %s", after)
			}
		}
		cancel()
		waits.Wait()
		time.Sleep(250 * time.Millisecond)
		o.atRest("at the end")
	})
}

// Row 15 (QuantumNous/new-api#4100, #4585, #5420): one stray 429 or 5xx took a channel out
// for good, its load fell on the next one, and that went the same way. One failure in a
// hundred changes nothing.
func TestOneFailureInAHundredOpensNothing(t *testing.T) {
	for name, status := range map[string]int{"500": http.StatusInternalServerError, "429": http.StatusTooManyRequests} {
		atGate(t, onVendors(`quota: 10, retry: {attempts: 1}`, "a", "b"), brisk, func(t *testing.T, o *outage) {
			l := o.alone()
			for i := range 100 {
				if i == 50 {
					o.fronts["a"].replace(func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
						o.fronts["a"].replace(nil)
						w.WriteHeader(status)
					})
				}
				if _, err := l.call(t.Context(), o.wish(chat.Normal, 0), "hello", streamed()); (err != nil) != (i == 50) {
					t.Errorf("%s: call %d: %v", name, i+1, err)
				}
				if i == 50 {
					time.Sleep(time.Second) // a 429 that names no time pauses the account for one
				}
				if s := l.state("a"); s != gate.BreakerClosed {
					t.Fatalf("%s: the breaker is %s after call %d", name, s, i+1)
				}
			}
			if a, b := o.vendors["a"].Stats(), o.vendors["b"].Stats(); a.Completed != 99 || b.Calls != 0 {
				t.Errorf("%s: vendor a answered %d and vendor b saw %d calls, want 99 and 0", name, a.Completed, b.Calls)
			}
			o.atRest(name)
		})
	}
}

// Row 15, the way back: what is open comes back by probes alone, and then by steps.
func TestABreakerComesBackByProbesAndThenBySteps(t *testing.T) {
	atGate(t, onVendor(`quota: 40, retry: {attempts: 1}`), brisk, func(t *testing.T, o *outage) {
		l := o.alone()
		o.trip(l, "a")
		o.vendors["a"].Reset()
		o.behave("a", steady)
		var most [3]int // at once: while probes go, in the first step, at last
		var all sync.WaitGroup
		for range 250 {
			all.Go(func() {
				if _, err := l.call(t.Context(), o.wish(chat.Normal, 0), "hello", streamed()); err != nil {
					t.Error(err)
				}
			})
		}
		for s := o.vendors["a"].Stats(); s.Completed < shippedProbes; s = o.vendors["a"].Stats() {
			most[0] = s.MaxInFlight
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(4 * time.Second) // a step lasts five
		most[1] = o.vendors["a"].Stats().MaxInFlight
		all.Wait()
		most[2] = o.vendors["a"].Stats().MaxInFlight
		if want := [3]int{3, 4, 40}; most != want {
			t.Errorf("the vendor had %v calls at once, want %v", most, want)
		}
		o.atRest("at the end")
	})
}

// Row 16 (alibaba/sentinel-golang#196; gh-aw-mcpg#10686; nora#607; cc-switch#7206;
// erpc/erpc#1118): a probe that was blocked, lost or told nothing left a breaker half open
// for ever. Whatever becomes of the probes, it is closed in bounded time after the vendor
// is well.
func TestWhateverBecomesOfProbesTheBreakerCloses(t *testing.T) {
	for name, c := range map[string]struct {
		probes sim.Behaviour
		end    func(probing *life, leave func()) // of the probes
		within time.Duration                     // from then on, until all is well
	}{
		"they are cancelled": {probes: sim.Behaviour{HangShare: 1}, end: func(_ *life, leave func()) { leave() }, within: time.Second},
		"their process is killed": {probes: sim.Behaviour{HangShare: 1}, end: func(probing *life, _ func()) { probing.kill() },
			within: 6 * time.Second},
		"they are refused for what they ask": {probes: sim.Behaviour{FirstToken: brisk.FirstToken, ErrorShare: 1, ErrorStatus: 400},
			end: func(*life, func()) {}, within: time.Second},
		"they are throttled": {probes: sim.Behaviour{FirstToken: brisk.FirstToken, ErrorShare: 1, ErrorStatus: 429, RetryAfter: 5 * time.Second},
			end: func(*life, func()) {}, within: 6 * time.Second},
		"they hang until their own time-out": {probes: sim.Behaviour{HangShare: 1}, end: func(*life, func()) { time.Sleep(10 * time.Second) },
			within: 2*shippedCooldown*6/5 + time.Second},
	} {
		atGate(t, onVendor(`quota: 10, retry: {attempts: 1}`), brisk, func(t *testing.T, o *outage) {
			elected, probing := o.join(), o.join()
			opened := o.trip(elected, "a")
			o.behave("a", c.probes)
			ctx, leave := context.WithCancelCause(t.Context())
			var probes sync.WaitGroup
			for range shippedProbes {
				probes.Go(func() { _, _ = probing.call(ctx, o.wish(chat.Normal, 0), "probe", streamed()) })
			}
			for len(o.fronts["a"].since(shippedMinCalls)) < shippedProbes {
				time.Sleep(10 * time.Millisecond)
				if time.Since(opened) > time.Minute {
					t.Fatalf("%s: no probes", name)
				}
			}
			time.Sleep(time.Second)
			c.end(probing, func() { leave(errLeft) })
			o.behave("a", brisk)
			begun := time.Now()
			for range shippedProbes {
				if _, err := elected.call(t.Context(), o.wish(chat.Normal, 0), "hello", streamed()); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if took := time.Since(begun); took > c.within {
				t.Errorf("%s: the breaker let calls through after %s, want %s", name, took, c.within)
			}
			time.Sleep(time.Second)
			if s := elected.state("a"); s != gate.BreakerClosed {
				t.Errorf("%s: the breaker is %s", name, s)
			}
			leave(errLeft)
			probes.Wait()
			time.Sleep(250 * time.Millisecond)
			o.atRest(name)
		})
	}
}

// Row 18 (safe-global/safe-client-gateway#3442): half open let everybody in while the vendor
// hung, seventeen times the load it was meant to keep away. While a vendor hangs it sees
// three calls at once at the most, however many wait on however many nodes.
func TestAVendorThatHangsSeesNoMoreThanThreeProbesAtOnce(t *testing.T) {
	atGate(t, onVendor(`quota: 60, retry: {attempts: 1}`), brisk, func(t *testing.T, o *outage) {
		nodes := []*life{o.join(), o.join(), o.join()}
		o.trip(nodes[0], "a")
		o.vendors["a"].Reset()
		o.behave("a", sim.Behaviour{HangShare: 1})
		ctx, cancel := context.WithCancelCause(t.Context())
		var waits sync.WaitGroup
		var failed atomic.Int64
		for i := range 150 {
			waits.Go(func() {
				for ctx.Err() == nil {
					if _, err := nodes[i%3].call(ctx, o.wish(chat.Normal, 0), "hello", streamed()); err != nil {
						failed.Add(1)
					}
				}
			})
		}
		time.Sleep(150 * time.Second)
		synctest.Wait()
		if s := o.vendors["a"].Stats(); s.MaxInFlight != shippedProbes || s.Calls < 2*shippedProbes || s.Calls > 3*shippedProbes {
			t.Errorf("the vendor counted %+v, want rounds of %d probes", s, shippedProbes)
		}
		cancel(errLeft)
		waits.Wait()
		time.Sleep(250 * time.Millisecond)
		o.atRest("at the end")
	})
}
