package main

import (
	"context"
	"errors"
	"time"

	"sluice/internal/control"
	"sluice/internal/gate"
	"sluice/internal/metrics"
	"sluice/internal/tool"
)

// counted is the way to the controller, with a count of what is wished for and granted.
type counted struct {
	*control.Member
	metrics *metrics.Metrics
}

// Ask implements gate.Granter.
func (c counted) Ask(ctx context.Context, a gate.Ask) (gate.Permit, error) {
	begun := time.Now()
	p, err := c.Member.Ask(ctx, a)
	refused := (*gate.Refusal)(nil)
	if err == nil {
		c.metrics.Granted(p.Vendor, a.Lane, time.Since(begun))
	} else if errors.As(err, &refused) {
		c.metrics.TurnedAway(a.Vendors[0], a.Tenant, a.Lane, string(refused.Reason))
	}
	return p, err
}

// End implements gate.Granter. Calls of vendors are counted where they are made.
func (c counted) End(p gate.Permit, e gate.End) (held bool) {
	if name, isTool := tool.Named(p.Vendor); isTool {
		c.metrics.ToolCalled(name, string(e.Outcome))
	}
	return c.Member.End(p, e)
}
