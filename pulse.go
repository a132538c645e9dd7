package main

import (
	"context"
	"time"

	"sluice/api"
	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/pulse"
)

// refused counts a message that was turned away.
func (n *node) refused(tenant string, lane chat.Lane, code string) {
	n.metrics.Refused(tenant, code)
	n.tally.Refused(lane)
	n.refusals.Add(time.Now())
}

// board makes what adds up the counts of all processes, for the api.
func (n *node) board() *pulse.Board { return pulse.NewBoard(n.engine.queue, n.log) }

// beater is the stage that tells the others what this process counts.
func (n *node) beater() stage {
	sockets := func() int { return 0 }
	if n.api != nil {
		sockets = n.api.Sockets
	}
	b := pulse.NewBeater(n.live.name, n.tally, sockets, n.engine.queue, n.log)
	return stage{name: "pulse", run: func(ctx context.Context) error { return b.Run(ctx) }}
}

// demand returns who holds and waits for a vendor's permits, as operators see it.
func demand(v *gate.AccountState, d gate.Demand) api.VendorDemand {
	all := api.VendorDemand{Crowd: []api.Occupant{}, Waiters: d.Waiters}
	for _, o := range d.Crowd {
		all.Crowd = append(all.Crowd, api.Occupant(o))
	}
	if all.Waiters == nil {
		all.Waiters = map[chat.Lane]int{}
	}
	for _, part := range v.Tokens {
		all.TokensUsed += part.Used
	}
	if b := v.Breaker; b != nil && v.State == gate.BreakerOpen && !v.Shut {
		until := time.Now().Add(b.RetryIn).UTC().Truncate(time.Second)
		all.BreakerUntil = &until
	}
	return all
}
