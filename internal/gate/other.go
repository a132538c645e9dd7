package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/llms"
)

// spreading is a backend's model that can be called for something else than a chat.
type spreading interface {
	At(ctx context.Context, work func(endpoint llms.Model) error) error
}

// errNoChat is what an endpoint's counts see of such a call that did not fail: how long it
// took says nothing of chats, and what we asked for wrongly is not the endpoint's fault.
var errNoChat = errors.New("the call is no chat")

// Other makes one call of a vendor that is no chat, such as one for embeddings, under a
// permit as every call: work gets the endpoint that a chat would go to. The permit goes
// back when the call has ended, on every path, after a failure a moment later. judge says
// what its end means to the breaker and the windows. It is not tried again. ctx bounds the
// call, and granted the wait for the permit.
func (m *Model) Other(ctx, granted context.Context, g Granter, a Ask, judge func(error) Verdict, work func(ctx context.Context, endpoint llms.Model) error) error {
	p, err := g.Ask(granted, a)
	if err != nil {
		return fmt.Errorf("wait for a permit: %w", err)
	}
	b := m.backend(p.Vendor)
	after := b.ReleaseAfter // also after a panic
	defer func() { g.Release(p, after) }()
	spread, able := b.Model.(spreading)
	if !able {
		after = 0
		return fmt.Errorf("permit for %q, which takes no such call", p.Vendor)
	}
	held, stop := whileHeld(ctx, p)
	defer stop()
	_ = spread.At(held, func(endpoint llms.Model) error {
		if err = work(held, endpoint); judge(err).Outcome == Failed {
			return err
		}
		return errNoChat
	})
	if err != nil && context.Cause(held) == ErrPermitLost {
		return ErrPermitLost
	}
	if !g.End(p, judge(err).End) && err != nil {
		return ErrPermitLost
	}
	if err == nil {
		after = 0
	}
	return err
}
