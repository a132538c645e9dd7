package gate

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
)

// Backend is one vendor behind the gate.
type Backend struct {
	// Model is called with the name of one of Models as llms.WithModel. Its GenerateContent
	// must not return before the response's body has ended or was closed: the permit goes
	// back then.
	Model  llms.Model
	Name   string            // of the model that is called where Models lacks the word
	Models map[string]string // the vendor's names of its models, by our words for them
	// ReleaseAfter is how long a permit stays after a call that did not end well.
	ReleaseAfter time.Duration
	// Attempts is how many calls of one question this vendor sees at most; 0 or 1: one that
	// fails is not tried again, elsewhere neither.
	Attempts int
	// Watch is called before each call: it returns the call's context, and what judges its
	// end. Nil: nothing is told of how calls end, and nothing is tried again.
	Watch func(ctx context.Context) (context.Context, func(*llms.ContentResponse, error) Verdict)
}

// Verdict is what the end of a call means.
type Verdict struct {
	End
	// Cut says that the response's body had to be closed before its end: the vendor may
	// count the call a moment longer, as after a failure.
	Cut   bool
	Again Again // after a failure
}

// Again says where a failed call may be tried again.
type Again int

// Where a failed call may be tried again.
const (
	Nowhere   Again = iota // it would fail again, or nobody wants it
	Elsewhere              // at another vendor
	Anywhere               // also at the same one
)

// Model is an llms.Model whose every call holds a permit of the vendor it goes to: the
// one that the permit names. It is safe for concurrent use. It is the one place where
// calls are tried again: after a failure that is worth it, before anything has reached
// the customer, with a permit from the retries' own budget, the next vendor preferred.
type Model struct {
	backends atomic.Pointer[map[string]Backend]
}

// NewModel returns the gate in front of backends, by vendor.
func NewModel(backends map[string]Backend) (*Model, error) {
	if len(backends) == 0 {
		return nil, fmt.Errorf("gate: no vendor")
	}
	m := &Model{}
	m.Follow(backends)
	return m, nil
}

// Follow puts the gate in front of other backends. Calls under way end where they began.
func (m *Model) Follow(backends map[string]Backend) { m.backends.Store(&backends) }

func (m *Model) backend(vendor string) Backend { return (*m.backends.Load())[vendor] }

// GenerateContent calls the vendor that the caller's permit names, and gives the
// permit back when the call has ended, on every path. ErrNoCaller: ctx carries none.
func (m *Model) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	caller, err := callerFrom(ctx)
	if err != nil {
		return nil, err
	}
	q := ask(messages, options)
	p, err := caller.permit(ctx, q.tokens)
	if err != nil {
		return nil, fmt.Errorf("wait for a permit: %w", err)
	}
	tried := map[string]int{}
	for {
		tried[p.Vendor]++
		resp, verdict, err := m.call(ctx, caller, p, q)
		if err == nil {
			return resp, nil
		}
		b := m.backend(p.Vendor)
		if verdict.Again == Nowhere || b.Attempts <= 1 || q.heard.Load() || ctx.Err() != nil {
			caller.granter.Release(p, b.ReleaseAfter)
			return nil, err
		}
		next, ok := m.again(ctx, caller, p, verdict.Again, tried, q.tokens)
		if !ok {
			return nil, err
		}
		p = next
	}
}

// call makes one call and tells how it ended. The permit of one that failed is still
// held, unless it panicked.
func (m *Model) call(ctx context.Context, caller *Caller, p Permit, q *question) (_ *llms.ContentResponse, verdict Verdict, err error) {
	b := m.backend(p.Vendor)
	ended := false
	defer func() {
		if !ended { // a panic: the vendor may count the call a moment longer than we do
			caller.granter.Release(p, b.ReleaseAfter)
		}
	}()
	if b.Model == nil {
		ended = true
		return nil, Verdict{}, fmt.Errorf("permit for the unknown vendor %q", p.Vendor)
	}
	name, options := b.Name, q.options
	if known := b.Models[p.Model]; known != "" {
		name, options = known, append(options[:len(options):len(options)], llms.WithModel(known))
	}
	caller.use(p.Vendor, name)
	began, told := time.Now(), "panicked"
	defer func() { caller.note(chat.Step{What: chat.StepCall, Vendor: p.Vendor, Model: name}, began, told) }()
	ctx, stop := whileHeld(ctx, p)
	defer stop()
	judge := func(*llms.ContentResponse, error) Verdict { return Verdict{} }
	if b.Watch != nil {
		ctx, judge = b.Watch(ctx)
	}
	resp, err := b.Model.GenerateContent(ctx, q.messages, options...)
	ended = true
	if err != nil && context.Cause(ctx) == ErrPermitLost {
		told = "lost"
		return nil, Verdict{}, ErrPermitLost
	}
	verdict = judge(resp, err)
	told = outcomeOf(verdict.Outcome, err)
	held := caller.granter.End(p, verdict.End)
	if err != nil && !held {
		told = "lost"
		return nil, Verdict{}, ErrPermitLost
	}
	if err != nil {
		return nil, verdict, err
	}
	after := time.Duration(0)
	if verdict.Cut {
		after = b.ReleaseAfter
	}
	caller.granter.Release(p, after)
	return resp, verdict, nil
}

// whileHeld returns a context that ends with ErrPermitLost when the permit is lost. stop
// waits until what it started has ended.
func whileHeld(ctx context.Context, p Permit) (_ context.Context, stop func()) {
	if p.Lost == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-p.Lost:
			cancel(ErrPermitLost)
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel(nil)
		watch.Wait()
	}
}

// Call asks with a single text, through the same gate.
func (m *Model) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}
