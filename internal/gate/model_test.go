package gate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
)

// back is a permit that was given back, and after how long.
type back struct {
	permit uint64
	after  time.Duration
}

// book is a granter that grants at once and writes down what happens.
type book struct {
	mu     sync.Mutex
	vendor string
	asks   []Ask
	backs  []back
	err    error
}

func (b *book) Ask(_ context.Context, a Ask) (Permit, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return Permit{}, b.err
	}
	b.asks = append(b.asks, a)
	return Permit{ID: uint64(100 + len(b.asks)), Vendor: b.vendor}, nil
}

func (*book) End(Permit, End) bool { return true }

func (b *book) Release(p Permit, after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backs = append(b.backs, back{p.ID, after})
}

// vendor is a model whose one answer is the function.
type vendor func(ctx context.Context) (*llms.ContentResponse, error)

func (v vendor) GenerateContent(ctx context.Context, _ []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	return v(ctx)
}

func (v vendor) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, v, prompt, options...)
}

func good(context.Context) (*llms.ContentResponse, error) {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "yes"}}}, nil
}

const stays = 250 * time.Millisecond

func newModel(t *testing.T, v vendor, ended bool) *Model {
	t.Helper()
	m, err := NewModel(map[string]Backend{"a": {
		Model: v, Name: "model-a", ReleaseAfter: stays,
		Watch: func(ctx context.Context) (context.Context, func(*llms.ContentResponse, error) Verdict) {
			return ctx, func(*llms.ContentResponse, error) Verdict { return Verdict{Cut: !ended} }
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestThePermitGoesBackOnEveryPath(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		vendor vendor
		cut    bool // the body did not end by itself
		err    error
		after  time.Duration
	}{
		"answer":            {vendor: good},
		"answer, body cut":  {vendor: good, cut: true, after: stays},
		"error":             {vendor: func(context.Context) (*llms.ContentResponse, error) { return nil, broken }, err: broken, after: stays},
		"error with answer": {vendor: func(ctx context.Context) (*llms.ContentResponse, error) { r, _ := good(ctx); return r, broken }, err: broken, after: stays},
		"cancelled": {
			vendor: func(ctx context.Context) (*llms.ContentResponse, error) { <-ctx.Done(); return nil, ctx.Err() },
			err:    context.Canceled, after: stays,
		},
		"panic": {vendor: func(context.Context) (*llms.ContentResponse, error) { panic("vendor code fails") }, err: errPanicked, after: stays},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &book{vendor: "a"}
			caller := NewCaller(b, Ask{Ticket: "t"}, Permit{ID: 1, Vendor: "a"})
			ctx, cancel := context.WithCancel(WithCaller(t.Context(), caller))
			if name == "cancelled" {
				cancel()
			}
			defer cancel()
			err := generate(ctx, newModel(t, c.vendor, !c.cut))
			if !errors.Is(err, c.err) {
				t.Errorf("err = %v, want %v", err, c.err)
			}
			caller.Close()
			if want := []back{{1, c.after}}; !slices.Equal(b.backs, want) {
				t.Errorf("given back %v, want %v", b.backs, want)
			}
			if len(b.asks) > 0 {
				t.Errorf("asked %v, though the first permit was there", b.asks)
			}
		})
	}
}

var errPanicked = errors.New("panicked")

// generate calls the model and turns a panic into an error.
func generate(ctx context.Context, m *Model) (err error) {
	defer func() {
		if recover() != nil {
			err = errPanicked
		}
	}()
	_, err = m.GenerateContent(ctx, nil)
	return err
}

func TestACallOnBehalfOfNobodyIsRefused(t *testing.T) {
	t.Parallel()
	m := newModel(t, func(context.Context) (*llms.ContentResponse, error) {
		t.Error("the vendor was called")
		return nil, nil
	}, true)
	if _, err := m.GenerateContent(t.Context(), nil); !errors.Is(err, ErrNoCaller) {
		t.Errorf("err = %v, want ErrNoCaller", err)
	}
	if _, err := m.Call(t.Context(), "hello"); !errors.Is(err, ErrNoCaller) {
		t.Errorf("err = %v, want ErrNoCaller", err)
	}
}

func TestTheFirstPermitServesOneCallAndEachFurtherOneAsks(t *testing.T) {
	t.Parallel()
	b := &book{vendor: "a"}
	ask := Ask{Ticket: "t", Tenant: "x", Session: "s", Lane: chat.Low, Vendors: []string{"a"}}
	caller := NewCaller(b, ask, Permit{ID: 1, Vendor: "a"})
	m := newModel(t, good, true)
	for range 3 {
		if text, err := m.Call(WithCaller(t.Context(), caller), "hello"); err != nil || text != "yes" {
			t.Fatalf("call = %q, %v", text, err)
		}
	}
	caller.Close()
	caller.Close()
	if want := []back{{1, 0}, {101, 0}, {102, 0}}; !slices.Equal(b.backs, want) {
		t.Errorf("given back %v, want %v", b.backs, want)
	}
	if len(b.asks) != 2 || !b.asks[0].Step || b.asks[0].Ticket != "t" || b.asks[0].Lane != chat.Low {
		t.Errorf("asked %+v, want two further steps of the ticket", b.asks)
	}
	if v, model := caller.Used(); v != "a" || model != "model-a" {
		t.Errorf("used %s, %s", v, model)
	}
}

func TestParallelCallsNeverShareAPermit(t *testing.T) {
	t.Parallel()
	b := &book{vendor: "a"}
	caller := NewCaller(b, Ask{Ticket: "t"}, Permit{ID: 1, Vendor: "a"})
	m := newModel(t, good, true)
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			if _, err := m.GenerateContent(WithCaller(t.Context(), caller), nil); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	caller.Close()
	seen := map[uint64]bool{}
	for _, r := range b.backs {
		if seen[r.permit] {
			t.Errorf("permit %d went back twice", r.permit)
		}
		seen[r.permit] = true
	}
	if len(seen) != 20 || len(b.asks) != 19 {
		t.Errorf("%d permits of %d asks for 20 calls, want 20 of 19", len(seen), len(b.asks))
	}
}

func TestAnUnusedFirstPermitGoesBackAtOnce(t *testing.T) {
	t.Parallel()
	b := &book{}
	caller := NewCaller(b, Ask{}, Permit{ID: 1})
	caller.Close()
	caller.Close()
	if want := []back{{1, 0}}; !slices.Equal(b.backs, want) {
		t.Errorf("given back %v, want %v", b.backs, want)
	}
	if v, model := caller.Used(); v != "" || model != "" {
		t.Errorf("used %q, %q before any call", v, model)
	}
}

func TestAPermitForAnUnknownVendorGoesBack(t *testing.T) {
	t.Parallel()
	b := &book{}
	caller := NewCaller(b, Ask{}, Permit{ID: 1, Vendor: "gone"})
	if _, err := newModel(t, good, true).GenerateContent(WithCaller(t.Context(), caller), nil); err == nil {
		t.Error("a call to an unknown vendor succeeded")
	}
	if want := []back{{1, 0}}; !slices.Equal(b.backs, want) {
		t.Errorf("given back %v, want %v", b.backs, want)
	}
}

func TestARefusedAskCallsNobodyAndGivesNothingBack(t *testing.T) {
	t.Parallel()
	b := &book{err: ErrCrowded}
	caller := NewCaller(b, Ask{}, Permit{ID: 1, Vendor: "a"})
	caller.Close()
	m := newModel(t, func(context.Context) (*llms.ContentResponse, error) {
		t.Error("the vendor was called")
		return nil, nil
	}, true)
	if _, err := m.GenerateContent(WithCaller(t.Context(), caller), nil); !errors.Is(err, ErrCrowded) {
		t.Errorf("err = %v, want ErrCrowded", err)
	}
	if len(b.backs) != 1 {
		t.Errorf("given back %v, want the first permit alone", b.backs)
	}
}

func TestAGateWithoutVendorsIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := NewModel(nil); err == nil {
		t.Error("no error")
	}
}
