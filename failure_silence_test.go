package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

// patient is time-outs that no call of these tests runs into.
const patient = `timeouts: {first_token: 1h, gap: 1h, call: 1h, stream: 1h}`

// Row 25 (llm-d/llm-d-router#2295): a reaper took what was older than five minutes for
// dead, streams that lived among it, and 1,700 ran where 96 were allowed. A stream that is
// silent for ten minutes keeps its permit as long as its process renews it; that of a dead
// process comes back. Row 27 (kubernetes-sigs/gateway-api-inference-extension#1982): the
// clean-up of idle queues dropped those who waited in them. Nobody who waits these ten
// minutes is dropped.
func TestTenSilentMinutesCostNobodyAPermitOrAPlace(t *testing.T) {
	const waiters = 40
	stalls := sim.Behaviour{FirstToken: brisk.FirstToken, Call: brisk.Call, StallShare: 1}
	atGate(t, onVendor(`quota: 2, `+patient+`, `+neverOpen), stalls, func(t *testing.T, o *outage) {
		elected, other := o.join(), o.join()
		ctx, cancel := context.WithCancelCause(t.Context())
		var streams, waits sync.WaitGroup
		errs := map[*life]error{}
		var mu sync.Mutex
		for _, l := range []*life{elected, other} {
			streams.Go(func() {
				_, err := l.call(ctx, o.wish(chat.Normal, 0), "hello", streamed())
				mu.Lock()
				defer mu.Unlock()
				errs[l] = err
			})
		}
		time.Sleep(time.Second)
		lanes := chat.Lanes()
		for i := range waiters {
			waits.Go(func() {
				if _, err := elected.call(t.Context(), o.wish(lanes[i%len(lanes)], 0), "hello", streamed()); err != nil {
					t.Errorf("waiter %d: %v", i, err)
				}
			})
		}
		time.Sleep(10 * time.Minute)
		if s := o.vendors["a"].Stats(); s.InFlight != 2 || s.Calls != 2 || o.inUse("a") != 2 || o.waiting() != waiters {
			t.Errorf("after ten minutes %d permits are in use and %d wait, the vendor counted %+v", o.inUse("a"), o.waiting(), s)
		}
		o.behave("a", brisk)
		other.kill()
		at := time.Now()
		waits.Wait() // all of them, with the dead one's permit
		came := o.fronts["a"].since(2)
		if after := came[0].Sub(at); after < 3500*time.Millisecond || after > 5*time.Second {
			t.Errorf("the permit of the killed process came back after %s", after)
		}
		if s := o.vendors["a"].Stats(); s.Completed != waiters || s.InFlight != 1 {
			t.Errorf("the vendor counted %+v, want %d answers and the stream that lives", s, waiters)
		}
		cancel(errLeft)
		streams.Wait()
		if !errors.Is(errs[elected], errLeft) {
			t.Errorf("the stream that lives ended with %v", errs[elected])
		}
		time.Sleep(250 * time.Millisecond)
		o.atRest("at the end")
	})
}

// usurp holds the controller's lease from now on as a process does that was elected and
// then hangs: it renews, and does nothing else. After the returned end the lease ends by
// itself.
func (o *outage) usurp() (end func()) {
	o.t.Helper()
	nc, err := o.broker.Dial()
	if err != nil {
		o.t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	write := func() {
		lease := &nats.Msg{Subject: "$KV.control.lease", Data: []byte("usurper")}
		if _, err := js.PublishMsg(context.WithoutCancel(ctx), lease, jetstream.WithMsgTTL(queue.LeaseTTL)); err != nil {
			o.t.Errorf("write the lease: %v", err)
		}
	}
	write()
	var renewing sync.WaitGroup
	renewing.Go(func() {
		ticker := time.NewTicker(queue.LeaseTTL / 4)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				write()
			}
		}
	})
	return func() {
		cancel()
		renewing.Wait()
		nc.Close()
	}
}

// Row 29 (BerriAI/litellm#35528): Redis failed, the saturation read 0, and everything was
// let in. Without a controller no call begins, those whose permits may be given away end,
// deadlines answer to the second, an error is logged, and the vendor never sees one call
// too many; with the next controller all goes on.
func TestWithoutAControllerNothingBeginsAndDeadlinesAnswer(t *testing.T) {
	const limit = 12
	slow := sim.Behaviour{FirstToken: sim.Fixed(time.Second), Call: sim.Uniform(10*time.Second, 30*time.Second)}
	inOutage(t, onVendor(fmt.Sprintf("quota: %d, %s", limit, neverOpen)), slow, func(t *testing.T, o *outage) {
		elected, one, two := o.join(), o.join(), o.join()
		accept := func(n int, wait time.Duration) (ids []string) {
			for i := range n {
				l := []*life{one, two}[i%2]
				ids = append(ids, l.accept(o.ask(chat.NewSessionID(), fmt.Sprint("Where is my order ", i, "?"), chat.Normal, wait)).ID)
			}
			return ids
		}
		running := accept(limit, time.Minute)
		time.Sleep(2 * time.Second)
		if s := o.vendors["a"].Stats(); s.InFlight != limit {
			t.Fatalf("the vendor counted %+v, want %d calls", s, limit)
		}
		elected.kill()
		end := o.usurp()
		away := time.Now()
		before := len(o.fronts["a"].since(0))
		waiting := accept(20, 8*time.Second)
		for _, ticket := range one.until(time.Minute, waiting...) {
			if ticket.Reason != chat.ReasonOverdue || ticket.EndedAt.Sub(ticket.Deadline) > 100*time.Millisecond || ticket.EndedAt.Before(ticket.Deadline) {
				t.Errorf("ticket ended %s after its deadline for %q, want overdue at it", ticket.EndedAt.Sub(ticket.Deadline), ticket.Reason)
			}
		}
		time.Sleep(time.Until(away.Add(20 * time.Second)))
		if late := o.fronts["a"].since(before); len(late) > 0 {
			t.Errorf("calls began at %v, the controller was away from %v on", late, away)
		}
		if s := o.vendors["a"].Stats(); s.InFlight != 0 || s.MaxInFlight != limit {
			t.Errorf("the vendor counted %+v, want no call any more", s)
		}
		for _, l := range []*life{one, two} {
			if _, err := l.line.check(t.Context()); err == nil {
				t.Error("readyz says that a controller grants")
			}
		}
		if !strings.Contains(o.alerts.String(), "no controller answers") {
			t.Errorf("logged as errors: %q", o.alerts.String())
		}
		end()
		back := accept(limit, time.Minute)
		for _, ticket := range one.until(3*time.Minute, append(back, running...)...) {
			if ticket.Route != chat.RouteAgent && ticket.Reason != chat.ReasonOverdue {
				t.Errorf("ticket went by %s for %q", ticket.Route, ticket.Reason)
			}
		}
		if s := o.vendors["a"].Stats(); s.Completed < limit {
			t.Errorf("the vendor counted %+v after a controller was back", s)
		}
		time.Sleep(time.Second)
		o.atRest("at the end")
	})
}

// Row 29 for calls that somebody makes by hand: while nobody grants, an ask waits for its
// own limit, on every node, and takes nothing.
func TestAnAskWithoutAControllerWaitsForItsLimit(t *testing.T) {
	atGate(t, onVendor(`quota: 5, `+neverOpen), brisk, func(t *testing.T, o *outage) {
		elected, one := o.join(), o.join()
		elected.kill()
		end := o.usurp()
		defer end()
		time.Sleep(10 * time.Second)
		begun := time.Now()
		_, err := one.call(t.Context(), o.wish(chat.High, 7*time.Second), "hello", streamed())
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took != 7*time.Second {
			t.Errorf("the ask ended after %s with %v, want its limit", took, err)
		}
		retry := o.wish(chat.High, time.Second)
		retry.Retry, retry.Step = true, true
		_, err = one.call(t.Context(), retry, "hello", streamed())
		var refused *gate.Refusal
		if err == nil || errors.As(err, &refused) {
			t.Errorf("a retry ended with %v", err)
		}
		synctest.Wait()
		if n := o.vendors["a"].Stats().Calls; n != 0 {
			t.Errorf("the vendor saw %d calls", n)
		}
	})
}
