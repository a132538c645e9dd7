package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/sim"
)

// onVendor is rules with vendor a alone, with what a test says of it.
func onVendor(rest string) string {
	return `
vendors:
  - {name: a, endpoints: [{url: "http://a/v1"}], models: {strong: m}, headroom: 1, ` + rest + `}
chains:
  agent: {vendors: [a], model: strong}
  rag: {vendors: [a], model: strong}
`
}

// neverOpen is a breaker that stays out of a test's way.
const neverOpen = `breaker: {min_calls: 1000000}`

// brisk is a vendor whose calls are short and as long as each other.
var brisk = sim.Behaviour{FirstToken: sim.Fixed(20 * time.Millisecond), Call: sim.Fixed(100 * time.Millisecond)}

var errLeft = errors.New("the customer left")

// cutter calls cut when so many bytes of an answer have gone out.
type cutter struct {
	http.ResponseWriter
	left int
	cut  func()
}

// Unwrap lets the vendor flush.
func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cutter) Write(p []byte) (int, error) {
	n := min(c.left, len(p))
	if c.left -= n; c.left > 0 || c.cut == nil {
		return c.ResponseWriter.Write(p)
	}
	if _, err := c.ResponseWriter.Write(p[:n]); err != nil {
		return 0, err
	}
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	c.cut()
	c.cut = nil
	rest, err := c.ResponseWriter.Write(p[n:])
	return n + rest, err
}

// Row 1 (BerriAI/litellm#27955, fixed by #30020): each stream that a customer left kept
// its slot for ever. Row 19 (maximhq/bifrost#828, #6802): each kept a connection. With one
// permit, whatever an abort leaves behind keeps everybody else out.
func TestAThousandAbortsAtALimitOfOneLeaveItsPermitFree(t *testing.T) {
	const aborts = 1000
	atGate(t, onVendor(`quota: 1, timeouts: {release_after_cancel: 50ms}, `+neverOpen), brisk, func(t *testing.T, o *outage) {
		l := o.alone()
		rng := rand.New(rand.NewPCG(27955, 30020))
		left := 0
		for i := 0; left < aborts; i++ {
			ctx, cancel := context.WithCancelCause(t.Context())
			leave := func() { cancel(errLeft) }
			timer := time.AfterFunc(time.Hour, leave)
			o.fronts["a"].replace(nil)
			if i%2 == 0 {
				at := 1 + rng.IntN(2000)
				o.fronts["a"].replace(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
					serve(&cutter{ResponseWriter: w, left: at, cut: leave}, r)
				})
			} else {
				timer.Reset(time.Duration(rng.Int64N(int64(110 * time.Millisecond))))
			}
			var options []llms.CallOption
			if i%4 > 0 {
				options = append(options, streamed())
			}
			a := o.wish(chat.Normal, 0)
			asked := time.Now()
			p, err := l.permit(t.Context(), a)
			if err != nil || time.Since(asked) >= 100*time.Millisecond {
				t.Fatalf("call %d was let in after %s (%v)", i, time.Since(asked), err)
			}
			caller := gate.NewCaller(l.line.member, a, p)
			_, err = l.fleet.model.GenerateContent(gate.WithCaller(ctx, caller), question("Where is my order 1234?"), options...)
			caller.Close()
			l.line.member.EndTurn(a.Tenant, a.Session, a.Ticket)
			switch {
			case errors.Is(err, errLeft):
				left++
			case err != nil:
				t.Fatalf("call %d: %v", i, err)
			}
			timer.Stop()
			cancel(nil)
			synctest.Wait()
			if n := o.vendors["a"].Stats().InFlight; n != 0 {
				t.Fatalf("after call %d the vendor still has %d", i, n)
			}
		}
		time.Sleep(50 * time.Millisecond)
		o.atRest("after the aborts")
		if s := o.vendors["a"].Stats(); s.Cancelled < aborts/2 || s.Completed == 0 {
			t.Errorf("the vendor counted %+v", s)
		}
	})
}

// Row 2 (BerriAI/litellm#20256): time-outs, 502 and 504 kept their slots, and a key was
// locked until somebody wiped Redis. Row 22 (QuantumNous/new-api#5828, ollama/ollama#17881):
// so did readers that went away.
func TestEveryKindOfFailureGivesItsPermitBack(t *testing.T) {
	failing := func(change func(*sim.Behaviour)) sim.Behaviour {
		b := brisk
		change(&b)
		return b
	}
	breakOff := func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		serve(&cutter{ResponseWriter: w, left: 300, cut: func() { panic(http.ErrAbortHandler) }}, r)
	}
	limits := `quota: 2, retry: {attempts: 1}, timeouts: {first_token: 2s, gap: 2s, call: 3s}, `
	atGate(t, onVendor(limits+neverOpen), brisk, func(t *testing.T, o *outage) {
		l := o.alone()
		for name, c := range map[string]struct {
			behaviour sim.Behaviour
			refuse    bool
			instead   func(http.ResponseWriter, *http.Request, http.HandlerFunc)
			read      func(context.Context, []byte) error
		}{
			"connection refused":      {behaviour: brisk, refuse: true},
			"reset before the head":   {behaviour: failing(func(b *sim.Behaviour) { b.RefuseShare = 1 })},
			"no head":                 {behaviour: failing(func(b *sim.Behaviour) { b.HangShare = 1 })},
			"no end of the body":      {behaviour: failing(func(b *sim.Behaviour) { b.StallShare, b.Call = 1, sim.Fixed(10*time.Minute) })},
			"500":                     {behaviour: failing(func(b *sim.Behaviour) { b.ErrorShare = 1 })},
			"502":                     {behaviour: failing(func(b *sim.Behaviour) { b.ErrorShare, b.ErrorStatus = 1, 502 })},
			"504":                     {behaviour: failing(func(b *sim.Behaviour) { b.ErrorShare, b.ErrorStatus = 1, 504 })},
			"429":                     {behaviour: failing(func(b *sim.Behaviour) { b.ErrorShare, b.ErrorStatus = 1, 429 })},
			"400":                     {behaviour: failing(func(b *sim.Behaviour) { b.ErrorShare, b.ErrorStatus = 1, 400 })},
			"broken off":              {behaviour: failing(func(b *sim.Behaviour) { b.TruncateShare = 1 })},
			"error inside the stream": {behaviour: failing(func(b *sim.Behaviour) { b.StreamErrorShare = 1 })},
			"garbage":                 {behaviour: failing(func(b *sim.Behaviour) { b.GarbageShare = 1 })},
			"reset inside the body":   {behaviour: brisk, instead: breakOff},
			"panic before the head":   {behaviour: brisk, instead: func(http.ResponseWriter, *http.Request, http.HandlerFunc) { panic(http.ErrAbortHandler) }},
			"reader that fails":       {behaviour: brisk, read: func(context.Context, []byte) error { return errLeft }},
			"reader that panics":      {behaviour: brisk, read: func(context.Context, []byte) error { panic("reader") }},
			"429 and a long pause":    {behaviour: failing(func(b *sim.Behaviour) { b.ErrorShare, b.ErrorStatus, b.RetryAfter = 1, 429, 10*time.Second })},
		} {
			o.behave("a", c.behaviour)
			o.fronts["a"].replace(c.instead)
			o.refuses.Store(c.refuse)
			l.fleet.close() // what is kept open
			for range 3 {
				var both sync.WaitGroup
				for i := range 2 {
					both.Go(func() {
						var options []llms.CallOption
						if read := c.read; read != nil {
							options = append(options, llms.WithStreamingFunc(read))
						} else if i == 0 {
							options = append(options, streamed())
						}
						if _, err := l.call(t.Context(), o.wish(chat.Normal, 0), "Where is my order 1234?", options...); err == nil {
							t.Errorf("%s: the call was answered", name)
						}
					})
				}
				both.Wait()
				time.Sleep(250 * time.Millisecond)
				o.atRest(name)
			}
			o.behave("a", brisk)
			o.fronts["a"].replace(nil)
			o.refuses.Store(false)
			if _, err := l.call(t.Context(), o.wish(chat.Normal, 0), "hello", streamed()); err != nil {
				t.Errorf("%s: the next call: %v", name, err)
			}
		}
	})
}

// Row 3 (BerriAI/litellm#28160): what gives a slot back was cancelled together with the
// call. Its other half, a killed process whose slots never expired, is below.
func TestPermitsComeBackThoughEverythingWasCancelledAtOnce(t *testing.T) {
	atGate(t, onVendor(`quota: 20, `+neverOpen), sim.Behaviour{HangShare: 1}, func(t *testing.T, o *outage) {
		l := o.alone()
		for range 5 {
			ctx, cancel := context.WithCancelCause(t.Context())
			var calls sync.WaitGroup
			for range 40 { // half of them wait
				calls.Go(func() {
					if _, err := l.call(ctx, o.wish(chat.Normal, 0), "hello", streamed()); !errors.Is(err, errLeft) {
						t.Errorf("the call ended with %v", err)
					}
				})
			}
			time.Sleep(time.Second)
			if n := o.vendors["a"].Stats().InFlight; n != 20 {
				t.Fatalf("the vendor has %d calls, want 20", n)
			}
			cancel(errLeft)
			calls.Wait()
			time.Sleep(250 * time.Millisecond)
			o.atRest("after all were cancelled")
		}
	})
}

// Row 3 (BerriAI/litellm#28160): a process that holds 20 permits is killed. The others
// have them within 5 s, and at no time does the vendor see more than the limit.
func TestThePermitsOfAKilledProcessComeBackAndNoCallTooMany(t *testing.T) {
	atGate(t, onVendor(`quota: 48, `+neverOpen), sim.Behaviour{HangShare: 1}, func(t *testing.T, o *outage) {
		elected, killed, other := o.join(), o.join(), o.join()
		ctx, cancel := context.WithCancelCause(t.Context())
		var calls sync.WaitGroup
		begin := func(l *life, n int) {
			for range n {
				calls.Go(func() { _, _ = l.call(ctx, o.wish(chat.Normal, 0), "hello", streamed()) })
			}
			time.Sleep(time.Second)
		}
		begin(killed, 20)
		begin(other, 30)
		begin(elected, 30)
		if n := o.vendors["a"].Stats().InFlight; n != 48 {
			t.Fatalf("the vendor has %d calls, want 48", n)
		}
		killed.kill()
		at := time.Now()
		synctest.Wait()
		if n := o.vendors["a"].Stats().InFlight; n != 28 {
			t.Errorf("the vendor has %d calls after the kill, want 28", n)
		}
		for o.vendors["a"].Stats().InFlight < 48 && time.Since(at) < 6*time.Second {
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(at); took > 5*time.Second {
			t.Errorf("the permits came back after %s", took)
		}
		cancel(errLeft)
		calls.Wait()
		time.Sleep(250 * time.Millisecond)
		o.atRest("after the kill")
	})
}

// Row 4 (BerriAI/litellm#1477): a malformed request and one for an unknown model leaked
// their slots. Whatever ends a call before it reaches the vendor, the permit and the
// session's turn are free at once.
func TestEveryWayOutBeforeTheVendorGivesThePermitBack(t *testing.T) {
	atGate(t, onVendor(`quota: 1, `+neverOpen), steady, func(t *testing.T, o *outage) {
		l := o.alone()
		model, member := l.fleet.model, l.line.member
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(errLeft)
		late, cancelLate := context.WithDeadline(t.Context(), time.Now())
		defer cancelLate()
		ask := func(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) func(*gate.Caller) error {
			return func(c *gate.Caller) error {
				_, err := model.GenerateContent(gate.WithCaller(ctx, c), messages, options...)
				return err
			}
		}
		for name, c := range map[string]struct {
			do      func(*gate.Caller) error
			reaches bool // the vendor, which refuses it
		}{
			"no call is made":         {do: func(*gate.Caller) error { return errLeft }},
			"the customer has left":   {do: ask(ended, question("hello"))},
			"the deadline has passed": {do: ask(late, question("hello"), streamed())},
			"a role that nobody has":  {do: ask(t.Context(), []llms.MessageContent{{Role: "stranger"}})},
			"no message":              {do: ask(t.Context(), nil), reaches: true},
			"a model that nobody has": {do: func(c *gate.Caller) error {
				o.fronts["a"].replace(func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
					http.Error(w, `{"error":{"code":"model_not_found"}}`, http.StatusNotFound)
				})
				defer o.fronts["a"].replace(nil)
				return ask(t.Context(), question("hello"), streamed())(c)
			}, reaches: true},
			"on behalf of nobody": {do: func(*gate.Caller) error {
				_, err := model.GenerateContent(t.Context(), question("hello"))
				return err
			}},
			"a vendor that is gone": {do: func(c *gate.Caller) error {
				backends, err := l.fleet.follow(o.rules)
				if err != nil {
					t.Fatal(err)
				}
				defer model.Follow(backends)
				model.Follow(map[string]gate.Backend{"b": {}})
				return ask(t.Context(), question("hello"))(c)
			}},
			"a panic before the call": {do: func(*gate.Caller) (err error) {
				defer func() { err = fmt.Errorf("%v", recover()) }()
				panic("chain")
			}},
		} {
			before := len(o.fronts["a"].since(0))
			for range 3 {
				a := o.wish(chat.Normal, 0)
				a.Session = "one" // the turn of the next is this one's
				asked := time.Now()
				p, err := l.permit(t.Context(), a)
				if err != nil || time.Since(asked) > 250*time.Millisecond {
					t.Fatalf("%s: a permit after %s (%v)", name, time.Since(asked), err)
				}
				caller := gate.NewCaller(member, a, p)
				if err := c.do(caller); err == nil {
					t.Errorf("%s: no error", name)
				}
				caller.Close()
				member.EndTurn(a.Tenant, a.Session, a.Ticket)
			}
			time.Sleep(250 * time.Millisecond)
			o.atRest(name)
			if reached := len(o.fronts["a"].since(before)) == 3; reached != c.reaches {
				t.Errorf("%s: the vendor was called: %v", name, reached)
			}
		}
	})
}
