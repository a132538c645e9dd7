package gate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
)

// hall is a granter over a table, on the clock of a bubble.
type hall struct {
	mu    sync.Mutex
	table *Table
	ended []Outcome
	asked []Ask
}

func (h *hall) Ask(_ context.Context, a Ask) (Permit, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, a)
	if a.Retry {
		g, err := h.table.Retry(a, time.Now())
		return g.Permit, err
	}
	a.ID = uint64(1000 + len(h.asked))
	if err := h.table.Join(a, time.Now()); err != nil {
		return Permit{}, err
	}
	for _, g := range h.table.Grants(time.Now()) {
		return g.Permit, nil
	}
	h.table.Leave(a.ID)
	return Permit{}, errors.New("no room")
}

func (h *hall) End(p Permit, e End) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = append(h.ended, e.Outcome)
	h.table.End(p.ID, e, time.Now())
	return true
}

func (h *hall) Release(p Permit, after time.Duration) {
	time.AfterFunc(after, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.table.Release(p.ID, time.Now())
	})
}

func (h *hall) inUse() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.table.permits)
}

// script is a vendor that plays its turns one after the other; its last one repeats.
type script struct {
	calls int
	turns []func(context.Context, llms.CallOptions) error
}

func (s *script) GenerateContent(ctx context.Context, _ []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var set llms.CallOptions
	for _, option := range options {
		option(&set)
	}
	turn := s.turns[min(s.calls, len(s.turns)-1)]
	s.calls++
	if err := turn(ctx, set); err != nil {
		return nil, err
	}
	return good(ctx)
}

func (s *script) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, s, prompt, options...)
}

var (
	errElsewhere = errors.New("try elsewhere")
	errAnywhere  = errors.New("try anywhere")
	errNowhere   = errors.New("do not try again")
)

func fails(err error) func(context.Context, llms.CallOptions) error {
	return func(context.Context, llms.CallOptions) error { return err }
}

func says(err error) func(context.Context, llms.CallOptions) error {
	return func(ctx context.Context, o llms.CallOptions) error {
		_ = o.StreamingFunc(ctx, []byte("half"))
		return err
	}
}

// backends puts scripts behind a gate that reads the errors above.
func backends(t *testing.T, attempts int, all map[string]*script) *Model {
	t.Helper()
	b := map[string]Backend{}
	for name, s := range all {
		b[name] = Backend{
			Model: s, Name: "model-" + name, ReleaseAfter: stays, Attempts: attempts,
			Watch: func(ctx context.Context) (context.Context, func(*llms.ContentResponse, error) Verdict) {
				return ctx, func(_ *llms.ContentResponse, err error) Verdict {
					v := Verdict{End: End{Outcome: Good}}
					if err != nil {
						v.Outcome = Failed
					}
					switch {
					case errors.Is(err, errElsewhere):
						v.Again = Elsewhere
					case errors.Is(err, errAnywhere):
						v.Again = Anywhere
					}
					return v
				}
			},
		}
	}
	m, err := NewModel(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// saved is a table whose budget has paid back what it was lent, and has retries saved by so
// many calls since.
func saved(cfg Config, calls int) *Table {
	tb := NewTable(cfg)
	tb.budget.saved, tb.budget.owed = 0, 0
	for range calls {
		tb.budget.Call()
	}
	return tb
}

func TestAFailedCallIsTriedAgain(t *testing.T) {
	type turns = []func(context.Context, llms.CallOptions) error
	for name, c := range map[string]struct {
		a, b     turns
		attempts int
		saved    int
		limitB   int
		err      error
		calls    [2]int // of a and b
		took     time.Duration
	}{
		"at the next vendor, at once":           {a: turns{fails(errElsewhere)}, b: turns{fails(nil)}, attempts: 2, saved: 30, limitB: 2, calls: [2]int{1, 1}},
		"the next vendor is preferred":          {a: turns{fails(errAnywhere)}, b: turns{fails(nil)}, attempts: 2, saved: 30, limitB: 2, calls: [2]int{1, 1}},
		"no other, and it would fail again":     {a: turns{fails(errElsewhere)}, attempts: 2, saved: 30, err: errElsewhere, calls: [2]int{1, 0}},
		"not worth it":                          {a: turns{fails(errNowhere)}, b: turns{fails(nil)}, attempts: 2, saved: 30, limitB: 2, err: errNowhere, calls: [2]int{1, 0}},
		"one attempt":                           {a: turns{fails(errElsewhere)}, b: turns{fails(nil)}, attempts: 1, saved: 30, limitB: 2, err: errElsewhere, calls: [2]int{1, 0}},
		"two attempts, both fail":               {a: turns{fails(errElsewhere)}, b: turns{fails(errElsewhere)}, attempts: 2, saved: 30, limitB: 2, err: errElsewhere, calls: [2]int{1, 1}},
		"nothing saved":                         {a: turns{fails(errElsewhere)}, b: turns{fails(nil)}, attempts: 2, saved: 0, limitB: 2, err: errElsewhere, calls: [2]int{1, 0}},
		"never after a byte (row 28 sub2api)":   {a: turns{says(errElsewhere)}, b: turns{fails(nil)}, attempts: 2, saved: 30, limitB: 2, err: errElsewhere, calls: [2]int{1, 0}},
		"three attempts, no vendor tried again": {a: turns{fails(errElsewhere)}, b: turns{fails(errElsewhere)}, attempts: 3, saved: 60, limitB: 2, err: errElsewhere, calls: [2]int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := limited(map[string]int{"a": 2})
				vendors, all := []string{"a"}, map[string]*script{"a": {turns: c.a}}
				b := &script{turns: c.b}
				if c.limitB > 0 {
					cfg.Vendors["b"] = Vendor{Limit: c.limitB, Retry: 0.5}
					vendors, all["b"] = append(vendors, "b"), b
				}
				h := &hall{table: saved(cfg, c.saved)}
				caller := firstOf(t, h, Ask{Ticket: "t", Lane: chat.Normal, Vendors: vendors})
				_, err := backends(t, c.attempts, all).GenerateContent(WithCaller(t.Context(), caller), nil,
					llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
				if !errors.Is(err, c.err) {
					t.Errorf("err = %v, want %v", err, c.err)
				}
				if got := [2]int{all["a"].calls, b.calls}; got != c.calls {
					t.Errorf("calls %v, want %v", got, c.calls)
				}
				time.Sleep(stays)
				synctest.Wait()
				if h.inUse() != 0 {
					t.Errorf("%d permits are left", h.inUse())
				}
			})
		})
	}
}

// firstOf returns a caller with a permit from the hall.
func firstOf(t *testing.T, h *hall, a Ask) *Caller {
	t.Helper()
	p, err := h.Ask(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return NewCaller(h, a, p)
}

// The only vendor is full and others wait: a retry needs no more room than the failed
// call had, and begins when the vendor has forgotten that one.
func TestARetryAtTheSameVendorTakesTheFailedCallsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := limited(map[string]int{"a": 1})
		cfg.Vendors["a"] = Vendor{Limit: 1, Retry: 1}
		h := &hall{table: saved(cfg, 30)}
		a := &script{turns: []func(context.Context, llms.CallOptions) error{fails(errAnywhere), fails(nil)}}
		caller := firstOf(t, h, Ask{Ticket: "t", Lane: chat.Normal, Vendors: []string{"a"}})
		crowd(t, h.table, 1, 3, Ask{Lane: chat.High}, time.Now())
		begun := time.Now()
		if _, err := backends(t, 2, map[string]*script{"a": a}).GenerateContent(WithCaller(t.Context(), caller), nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < stays || took > 2*stays {
			t.Errorf("tried again after %s, want between %s and twice that", took, stays)
		}
		synctest.Wait()
		if a.calls != 2 || h.inUse() != 0 || !slices.Equal(h.ended, []Outcome{Failed, Good}) {
			t.Errorf("%d calls, %d permits left, ends %v", a.calls, h.inUse(), h.ended)
		}
	})
}

// facts/overload.md row 11 (litellm#7130, #7262; code_puppy#317: 45 attempts a request):
// of 1,000 answers by vendors that fail every call, at most 1.1 calls each.
func TestRetriesAreATenthOfTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := limited(map[string]int{"a": 10, "b": 10})
		for name, v := range cfg.Vendors {
			v.Retry = 0.1
			cfg.Vendors[name] = v
		}
		h := &hall{table: NewTable(cfg)}
		all := map[string]*script{
			"a": {turns: []func(context.Context, llms.CallOptions) error{fails(errAnywhere)}},
			"b": {turns: []func(context.Context, llms.CallOptions) error{fails(errAnywhere)}},
		}
		m := backends(t, 3, all)
		const answers = 1000
		for range answers {
			caller := firstOf(t, h, Ask{Ticket: "t", Lane: chat.Normal, Vendors: []string{"a", "b"}, Step: true})
			if _, err := m.GenerateContent(WithCaller(t.Context(), caller), nil); err == nil {
				t.Fatal("a vendor that fails every call gave an answer")
			}
			time.Sleep(stays)
		}
		if calls := all["a"].calls + all["b"].calls; calls > answers*11/10 || calls <= answers {
			t.Errorf("%d calls for %d answers, want more than one each and at most 1.1", calls, answers)
		}
	})
}

func TestARetryIsRefusedByAVendorThatIsNotWell(t *testing.T) {
	t.Parallel()
	cfg := limited(map[string]int{"a": 10})
	cfg.Vendors["a"] = Vendor{Limit: 10, Retry: 1, Breaker: BreakerConfig{
		Window: 10 * time.Second, MinCalls: 2, Failures: 0.5, Slow: 0.5, Cooldown: 30 * time.Second, Probes: 3, ProbeFor: 20 * time.Second,
	}}
	tb := saved(cfg, 60)
	retry := Ask{Ticket: "t", Lane: chat.Normal, Vendors: []string{"a"}, Step: true, Retry: true}
	if _, err := tb.Retry(retry, begin); err != nil {
		t.Fatalf("all is well: %v", err)
	}
	tb.accounts["a"].breaker.Trip(begin)
	if _, err := tb.Retry(retry, begin); err == nil {
		t.Error("granted while the breaker is open")
	}
	half := begin.Add(40 * time.Second)
	if state := tb.accounts["a"].breaker.State(half); state != BreakerHalfOpen {
		t.Fatalf("the breaker is %s", state)
	}
	var refusal *Refusal
	if _, err := tb.Retry(retry, half); !errors.As(err, &refusal) || refusal.Reason != ReasonBudget {
		t.Errorf("granted while half open, or refused with %v", err)
	}
}
