package gate

import (
	"context"
	"strings"
	"time"

	"sluice/internal/chat"
)

// Entry is the right to make one call at an account that is no vendor's: a tool. Done gives
// it back.
type Entry struct {
	caller *Caller
	permit Permit
	step   chat.Step
	began  time.Time
}

// Enter waits for a call at an account that is no vendor's, on behalf of the caller of ctx:
// as a further step of its ticket, which needs no turn, and no longer than wait. A
// *Refusal: the account takes no call by then. ErrNoCaller: ctx carries none.
func Enter(ctx context.Context, account string, wait time.Duration) (*Entry, error) {
	caller, err := callerFrom(ctx)
	if err != nil {
		return nil, err
	}
	a := caller.ask
	a.Vendors, a.Model, a.Tokens, a.Deadline = []string{account}, "", 0, time.Now().Add(wait)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	p, err := caller.granter.Ask(ctx, a)
	if err != nil {
		return nil, err
	}
	_, name, _ := strings.Cut(account, ":")
	return &Entry{caller: caller, permit: p, step: chat.Step{What: chat.StepTool, Tool: name}, began: time.Now()}, nil
}

// Context returns a context that ends with ErrPermitLost when the permit is lost. stop waits
// until what it started has ended.
func (p *Entry) Context(ctx context.Context) (_ context.Context, stop func()) {
	return whileHeld(ctx, p.permit)
}

// Done tells how the call ended, and gives the permit back.
func (p *Entry) Done(e End) {
	p.caller.note(p.step, p.began, string(e.Outcome))
	p.caller.granter.End(p.permit, e)
	p.caller.granter.Release(p.permit, 0)
}
