package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/llm"
	"sluice/internal/sim"
)

// spent returns the tokens that a vendor's minute holds by the controller's count.
func (l *life) spent(vendor string) (n int) {
	l.w.t.Helper()
	time.Sleep(time.Second) // the controller tells it each half second
	all, err := l.line.member.VendorStates()
	if err != nil {
		l.w.t.Fatal(err)
	}
	for _, part := range all[vendor].Tokens {
		n += part.Used
	}
	return n
}

// tokens returns what the vendor has billed.
func (o *outage) tokens(vendor string) int {
	s := o.vendors[vendor].Stats()
	return s.PromptTokens + s.CompletionTokens
}

// Row 5 (BerriAI/litellm#39309): a request that the concurrency check refused had used up
// its place in the minute all the same. Here whole crowds are refused, each in another
// way, and afterwards the second and the minute are as if nobody had come.
func TestWhoeverIsRefusedHasUsedNothingOfAWindow(t *testing.T) {
	atGate(t, onVendor(`quota: 5, qps: 5, tokens_per_minute: 1000, `+neverOpen), sim.Behaviour{HangShare: 1}, func(t *testing.T, o *outage) {
		l := o.alone()
		ctx, cancel := context.WithCancelCause(t.Context())
		var calls sync.WaitGroup
		begin := func(n, tokens int) {
			for range n {
				a := o.wish(chat.Normal, 0)
				a.Tokens = tokens
				calls.Go(func() { _, _ = l.call(ctx, a, "hello", streamed()) })
			}
			synctest.Wait()
		}
		begin(5, 100)
		if s := o.vendors["a"].Stats(); s.InFlight != 5 {
			t.Fatalf("the vendor has %d calls, want 5", s.InFlight)
		}
		var crowd sync.WaitGroup
		for i := range 200 {
			crowd.Go(func() {
				a := o.wish(chat.Low, time.Second+time.Duration(i)*time.Millisecond)
				a.Tokens, a.Retry, a.Step = 100, i%3 == 0, i%3 == 0
				leaving := ctx
				if i%5 == 0 {
					gone, leave := context.WithCancel(ctx)
					leaving = gone
					time.AfterFunc(time.Duration(i)*time.Millisecond, leave)
				}
				_, err := l.call(leaving, a, "hello", streamed())
				var refused *gate.Refusal
				if !errors.As(err, &refused) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
					t.Errorf("crowd: %v", err)
				}
			})
		}
		crowd.Wait()
		if n := l.spent("a"); n != 500 {
			t.Errorf("%d tokens are taken of the minute, want the 500 of those that run", n)
		}
		cancel(errLeft)
		calls.Wait()
		time.Sleep(250 * time.Millisecond)
		o.atRest("after the crowd")
		// Five of the second and 500 tokens of the minute are left, to be had at one blow.
		o.behave("a", brisk)
		ctx = t.Context()
		begin(5, 100)
		if s := o.vendors["a"].Stats(); s.InFlight != 5 || s.Calls != 10 {
			t.Errorf("the vendor counted %+v, want 5 new calls at once", s)
		}
		calls.Wait()
		o.atRest("at the end")
	})
}

// Row 6 (BerriAI/litellm#40291, #27736): each of four replicas read its own memory, and the
// limit held once for each. Here the four share it to the last call and token, ε = 0.
func TestFourNodesShareTheWindowsExactly(t *testing.T) {
	const nodes, callers = 4, 8
	for name, c := range map[string]struct {
		limits      string
		qps, minute int
		lasts       time.Duration
	}{
		"calls a second":  {"qps: 10", 10, 0, 15 * time.Second},
		"tokens a minute": {"tokens_per_minute: 4000", 0, 4000, 100 * time.Second},
		"both":            {"qps: 4, tokens_per_minute: 4000", 4, 4000, 80 * time.Second},
	} {
		atGate(t, onVendor(`quota: 40, `+c.limits+`, `+neverOpen), brisk, func(t *testing.T, o *outage) {
			used := map[string]int{} // tokens, by the question
			var mu sync.Mutex
			var all sync.WaitGroup
			ctx, stop := context.WithCancel(t.Context())
			for range nodes {
				l := o.join()
				for range callers {
					all.Go(func() {
						for ctx.Err() == nil {
							a := o.wish(chat.Normal, 0)
							a.Tokens = 150
							resp, err := l.call(ctx, a, "Where is order "+a.Ticket+"?", streamed(), llms.WithMaxTokens(100))
							if err != nil && !errors.Is(err, context.Canceled) {
								t.Errorf("%s: %v", name, err)
								return
							}
							u := llm.UsageOf(resp)
							mu.Lock()
							used["Where is order "+a.Ticket+"?"] = u.PromptTokens + u.CompletionTokens
							mu.Unlock()
						}
					})
				}
			}
			time.Sleep(c.lasts)
			prompts := o.vendors["a"].Prompts()
			stop()
			all.Wait()
			time.Sleep(250 * time.Millisecond)
			o.atRest(name)
			calls, tokens := most(prompts, time.Second, func(sim.Prompt) int { return 1 }), most(prompts, time.Minute, func(p sim.Prompt) int {
				return used[p.Messages[0].Content]
			})
			if c.qps > 0 && calls > c.qps || c.minute > 0 && tokens > c.minute {
				t.Errorf("%s: the vendor saw %d calls in a second and %d tokens in a minute", name, calls, tokens)
			}
			if c.minute == 0 && calls != c.qps || c.minute > 0 && tokens < c.minute*9/10 {
				t.Errorf("%s: the quota is not used: %d calls in a second, %d tokens in a minute", name, calls, tokens)
			}
		})
	}
}

// most returns the highest sum over any stretch of time that is open at its far end.
func most(prompts []sim.Prompt, length time.Duration, of func(sim.Prompt) int) (highest int) {
	slices.SortFunc(prompts, func(a, b sim.Prompt) int { return a.ReceivedAt.Compare(b.ReceivedAt) })
	sum, first := 0, 0
	for _, p := range prompts {
		for ; p.ReceivedAt.Sub(prompts[first].ReceivedAt) >= length; first++ {
			sum -= of(prompts[first])
		}
		sum += of(p)
		highest = max(highest, sum)
	}
	return highest
}

// Row 7 (BerriAI/litellm#18730, PR #23775): five parallel calls all saw that nothing was
// used, and all went. Two hundred at a barrier, on four nodes.
func TestTwoHundredAtABarrierOnFourNodesShareTheMinute(t *testing.T) {
	atGate(t, onVendor(`quota: 200, tokens_per_minute: 2000, `+neverOpen), steady, func(t *testing.T, o *outage) {
		barrier := make(chan struct{})
		var all sync.WaitGroup
		var mu sync.Mutex
		answered, late := 0, 0
		for range 4 {
			l := o.join()
			for range 50 {
				all.Go(func() {
					<-barrier
					a := o.wish(chat.Normal, 30*time.Second)
					a.Tokens = 90
					_, err := l.call(t.Context(), a, "hello", streamed(), llms.WithMaxTokens(80))
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						answered++
					case errors.Is(err, context.DeadlineExceeded):
						late++
					default:
						t.Error(err)
					}
				})
			}
		}
		close(barrier)
		synctest.Wait()
		if n := o.vendors["a"].Stats().Calls; n != 2000/90 {
			t.Errorf("%d calls began at the barrier, want %d of 90 tokens each", n, 2000/90)
		}
		all.Wait()
		o.atRest("at the end")
		if answered+late != 200 || o.tokens("a") > 2000 {
			t.Errorf("%d were answered and %d not, with %d tokens", answered, late, o.tokens("a"))
		}
	})
}

// Row 8 (BerriAI/litellm#37001: 2 tokens reserved for an answer of 10,000; #34728: the usage
// was taken to be 0; #17664: only the output counted; #29193: an estimate above the limit
// was refused for ever). The vendor's own count is what the minute holds afterwards.
func TestTheMinuteHoldsWhatTheVendorCounted(t *testing.T) {
	atGate(t, onVendor(`quota: 5, tokens_per_minute: 50000, `+neverOpen), brisk, func(t *testing.T, o *outage) {
		l := o.alone()
		for _, c := range []struct {
			what      string
			behaviour sim.Behaviour
			instead   func(http.ResponseWriter, *http.Request, http.HandlerFunc)
			whole     bool
			reserved  int
			want      int // 0: what the vendor has counted
		}{
			{what: "an estimate above the limit", behaviour: brisk, reserved: 1_000_000},
			{what: "a stream", behaviour: brisk, reserved: 1000},
			{what: "a whole answer", behaviour: brisk, whole: true, reserved: 1000},
			{what: "an estimate that was too low", behaviour: brisk, reserved: 1},
			{what: "a vendor that does not say", behaviour: brisk, instead: withoutUsage, reserved: 1000, want: 1000},
			{what: "half an answer", behaviour: sim.Behaviour{TruncateShare: 1}, reserved: 1000, want: 1000},
		} {
			o.behave("a", c.behaviour)
			o.fronts["a"].replace(c.instead)
			a := o.wish(chat.Normal, 0)
			a.Tokens = c.reserved
			var options []llms.CallOption
			if !c.whole {
				options = append(options, streamed())
			}
			spent, billed := l.spent("a"), o.tokens("a")
			if _, err := l.call(t.Context(), a, "Where is my order 1234?", options...); (err != nil) != (c.behaviour.TruncateShare > 0) {
				t.Errorf("%s: %v", c.what, err)
			}
			if billed = o.tokens("a") - billed; c.want == 0 {
				c.want = billed
			}
			if got := l.spent("a") - spent; got != c.want || got == 0 {
				t.Errorf("%s: %d tokens count, want %d", c.what, got, c.want)
			}
		}
		o.atRest("at the end")
	})
}

// Row 8 (BerriAI/litellm#37001, #17664): a further call of a ticket reserves its input and
// the longest answer that it asks for.
func TestAFurtherCallReservesItsInputAndItsLongestAnswer(t *testing.T) {
	atGate(t, onVendor(`quota: 5, tokens_per_minute: 50000, `+neverOpen), brisk, func(t *testing.T, o *outage) {
		l := o.alone()
		a := o.wish(chat.Normal, 0)
		p, err := l.permit(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		caller := gate.NewCaller(l.line.member, a, p)
		defer caller.Close()
		ctx, cancel := context.WithCancel(gate.WithCaller(t.Context(), caller))
		if _, err = l.fleet.model.GenerateContent(ctx, question("hello"), streamed()); err != nil {
			t.Fatal(err)
		}
		before := l.spent("a")
		o.behave("a", sim.Behaviour{HangShare: 1})
		var call sync.WaitGroup
		call.Go(func() {
			_, _ = l.fleet.model.GenerateContent(ctx, question(strings.Repeat("word ", 60)), streamed(), llms.WithMaxTokens(700))
		})
		if got := l.spent("a") - before; got < 700+300/4 || got > 700+300 {
			t.Errorf("%d tokens are reserved for 300 bytes and an answer of 700 tokens", got)
		}
		cancel()
		call.Wait()
		time.Sleep(250 * time.Millisecond)
		o.atRest("at the end")
	})
}

// Row 5 again (BerriAI/litellm#39309), for a vendor that cannot be reached: what was never
// sent has used none of its minute.
func TestACallWhoseConnectionIsRefusedHasUsedNoTokens(t *testing.T) {
	atGate(t, onVendor(`quota: 5, tokens_per_minute: 3000, retry: {attempts: 1}, `+neverOpen), brisk, func(t *testing.T, o *outage) {
		l := o.alone()
		o.refuses.Store(true)
		for range 2 {
			a := o.wish(chat.Normal, 0)
			a.Tokens = 1000
			if _, err := l.call(t.Context(), a, "hello", streamed()); err == nil {
				t.Fatal("a vendor that cannot be reached answered")
			}
		}
		if n := l.spent("a"); n != 0 || len(o.fronts["a"].since(0)) != 0 {
			t.Errorf("%d tokens count of calls that never reached the vendor", n)
		}
	})
}

// withoutUsage serves an answer whose usage the vendor has left out.
func withoutUsage(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	serve(&renamer{ResponseWriter: w, from: []byte(`"usage":{`), to: []byte(`"usagi":{`)}, r)
}

// renamer replaces words of an answer by others of the same length.
type renamer struct {
	http.ResponseWriter
	from, to []byte
}

// Unwrap lets the vendor flush.
func (n *renamer) Unwrap() http.ResponseWriter { return n.ResponseWriter }

func (n *renamer) Write(p []byte) (int, error) {
	return n.ResponseWriter.Write(bytes.ReplaceAll(p, n.from, n.to))
}

// Row 9 (envoyproxy/ai-gateway#2394: tokens were charged after the stream, so all that ran
// together went beyond the limit; Kuadrant/wasm-shim#372: a stream was cut when its budget
// ended). Calls that use more than they reserved go to their ends, and whoever comes next
// waits until the minute has room again.
func TestAnOvershootCutsNoStreamAndKeepsTheNextCallOut(t *testing.T) {
	const reserved, running = 100, 8
	atGate(t, onVendor(`quota: 20, tokens_per_minute: 800, `+neverOpen), steady, func(t *testing.T, o *outage) {
		l := o.alone()
		o.fronts["a"].replace(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			serve(&renamer{ResponseWriter: w, from: []byte(`"completion_tokens":`), to: []byte(`"completion_tokens":9`)}, r)
		})
		begin := func(n int) (wait func() []error) {
			var calls sync.WaitGroup
			errs := make([]error, n)
			for i := range n {
				a := o.wish(chat.Normal, 5*time.Minute)
				a.Tokens = reserved
				calls.Go(func() { _, errs[i] = l.call(t.Context(), a, fmt.Sprint("Where is my order ", i, "?"), streamed()) })
			}
			return func() []error { calls.Wait(); return errs }
		}
		first := begin(running + 5)
		synctest.Wait()
		begun := time.Now()
		if n := o.vendors["a"].Stats().Calls; n != running {
			t.Fatalf("%d calls of %d tokens began, want %d", n, reserved, running)
		}
		time.Sleep(2 * time.Second)
		if s := o.vendors["a"].Stats(); s.Completed != running || s.Calls != running {
			t.Errorf("the vendor counted %+v, want %d whole answers", s, running)
		}
		if n := l.spent("a"); n <= 800 {
			t.Errorf("%d tokens count: the vendor's own count is above 800", n)
		}
		for i, err := range first() {
			if err != nil {
				t.Errorf("call %d: %v", i, err)
			}
		}
		// What was used beyond the reservations counts from when it was known.
		later := o.fronts["a"].since(running)
		if slices.ContainsFunc(later, func(at time.Time) bool { return at.Sub(begun) < 60*time.Second || at.Sub(begun) > 63*time.Second }) {
			t.Errorf("the next calls began after %v", later)
		}
		o.atRest("at the end")
	})
}
