package gate

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sluice/internal/chat"
)

// Granter grants permits; the controller is one.
type Granter interface {
	// Ask waits until a permit is granted or ctx ends. A *Refusal: there is none in time.
	Ask(ctx context.Context, a Ask) (Permit, error)
	// End tells at once how a permit's call ended, which may be before the permit comes
	// back; it never blocks. False: the permit is lost, and nothing was told. A process that
	// was paused must not blame its vendors for the time that it stood still.
	End(p Permit, e End) (held bool)
	// Release gives a permit back after a while; it never blocks, and a second
	// release of the same permit does nothing.
	Release(p Permit, after time.Duration)
}

// ErrPermitLost ends a call whose permit may have been given to another: the controller
// did not hear of this process for too long.
var ErrPermitLost = errors.New("the permit is lost")

// ErrNoCaller says that a vendor was to be called on behalf of nobody.
var ErrNoCaller = errors.New("call to a vendor without a caller")

// Caller is the ticket on whose behalf vendors are called. It carries the permit that
// was granted together with the session's turn, for the first call; each further
// call asks for its own. It is safe for concurrent use.
type Caller struct {
	granter Granter
	ask     Ask
	spare   bool // its calls come from the retries' budget

	mu     sync.Mutex
	first  *Permit
	vendor string
	model  string
	steps  []chat.Step // calls that have ended
}

// NewCaller returns a caller that holds its first permit. Close gives it back if no
// call used it.
func NewCaller(g Granter, a Ask, first Permit) *Caller {
	a.Step = true
	return &Caller{granter: g, ask: a, first: &first}
}

// NewFollower returns a caller that holds no permit: each of its calls asks for one.
func NewFollower(g Granter, a Ask) *Caller {
	a.Step = true
	return &Caller{granter: g, ask: a}
}

// NewRetrier returns a caller that holds no permit, and whose calls come from the retries'
// own budget: each is granted at once or refused.
func NewRetrier(g Granter, a Ask) *Caller {
	c := NewFollower(g, a)
	c.spare = true
	return c
}

// Close gives the first permit back if no call used it.
func (c *Caller) Close() {
	if p := c.takeFirst(); p != nil {
		c.granter.End(*p, End{Unused: true})
		c.granter.Release(*p, 0)
	}
}

// Used returns the vendor and the model of the latest call, or two empty strings.
func (c *Caller) Used() (vendor, model string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.vendor, c.model
}

// Steps returns the calls that have ended, in the order of their ends: the first
// chat.MaxSteps of them.
func (c *Caller) Steps() []chat.Step {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.steps)
}

// note keeps what a call came to, which began at an instant.
func (c *Caller) note(s chat.Step, began time.Time, outcome string) {
	s.At, s.MS, s.Outcome = began.UTC(), time.Since(began).Milliseconds(), outcome
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.steps) < chat.MaxSteps {
		c.steps = append(c.steps, s)
	}
}

func (c *Caller) takeFirst() *Permit {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.first
	c.first = nil
	return p
}

func (c *Caller) use(vendor, model string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.vendor, c.model = vendor, model
}

// permit returns the first permit, or asks for a further one.
func (c *Caller) permit(ctx context.Context, tokens int) (Permit, error) {
	if p := c.takeFirst(); p != nil {
		return *p, nil
	}
	if c.spare {
		return c.retry(ctx, c.ask.Vendors, 0, tokens)
	}
	a := c.ask
	a.Tokens = tokens
	return c.granter.Ask(ctx, a)
}

// retryLimit is how long an answer to a retry may take: it never waits for room.
const retryLimit = time.Second

// retry asks for another try at one of vendors, in place of a failed call's permit or not.
func (c *Caller) retry(ctx context.Context, vendors []string, instead uint64, tokens int) (Permit, error) {
	ctx, cancel := context.WithTimeout(ctx, retryLimit)
	defer cancel()
	a := c.ask
	a.Retry, a.Vendors, a.Instead, a.Tokens = true, vendors, instead, tokens
	return c.granter.Ask(ctx, a)
}

type callerKey struct{}

// WithCaller returns a context on which vendors are called on behalf of c.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

func callerFrom(ctx context.Context) (*Caller, error) {
	c, ok := ctx.Value(callerKey{}).(*Caller)
	if !ok {
		return nil, ErrNoCaller
	}
	return c, nil
}
