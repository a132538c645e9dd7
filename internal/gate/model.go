package gate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// Backend is one vendor's model behind the gate. Its GenerateContent must not return
// before the response's body has ended or was closed: the permit goes back then.
type Backend struct {
	Model        llms.Model
	Name         string        // of the model, for the record
	ReleaseAfter time.Duration // how long a permit stays after a call that did not end well
	// Ended reports whether the body behind an answer came to its end by itself; where
	// it had to be cut, the permit stays as after a failure. Nil: it always does.
	Ended func(*llms.ContentResponse) bool
}

// Model is an llms.Model whose every call holds a permit of the vendor it goes to. The
// vendor is the one that the permit names. It is safe for concurrent use. It neither
// retries nor passes a failed call to another vendor.
type Model struct{ backends map[string]Backend }

// NewModel returns the gate in front of backends, by vendor.
func NewModel(backends map[string]Backend) (*Model, error) {
	if len(backends) == 0 {
		return nil, fmt.Errorf("gate: no vendor")
	}
	return &Model{backends: backends}, nil
}

// GenerateContent calls the vendor that the caller's permit names, and gives the
// permit back when the call has ended, on every path. ErrNoCaller: ctx carries none.
func (m *Model) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	caller, err := callerFrom(ctx)
	if err != nil {
		return nil, err
	}
	p, err := caller.permit(ctx)
	if err != nil {
		return nil, fmt.Errorf("wait for a permit: %w", err)
	}
	b, known := m.backends[p.Vendor]
	// After a cancel, a time-out or any other failure (a panic too) the vendor may
	// count the call a moment longer than we do: the permit stays for that moment.
	after := b.ReleaseAfter
	defer func() { caller.granter.Release(p, after) }()
	if !known {
		return nil, fmt.Errorf("permit for the unknown vendor %q", p.Vendor)
	}
	caller.use(p.Vendor, b.Name)
	ctx, stop := whileHeld(ctx, p)
	defer stop()
	resp, err := b.Model.GenerateContent(ctx, messages, options...)
	if err != nil && context.Cause(ctx) == ErrPermitLost {
		return nil, ErrPermitLost
	}
	if err != nil {
		return nil, err
	}
	if b.Ended == nil || b.Ended(resp) {
		after = 0
	}
	return resp, nil
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
