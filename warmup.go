package main

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/gate"
	"sluice/internal/rules"
)

const (
	warmCalls = 2               // at each endpoint
	warmLimit = 5 * time.Second // for all of them, the wait for their permits included
)

// warmer makes the first calls to vendors, so that the first customers meet connections
// that stand.
type warmer struct {
	granter gate.Granter
	model   *gate.Model
	log     zerolog.Logger
}

// stage warms all vendors once. It holds up no other stage: a vendor that hangs must not
// delay the answers of the rest.
func (w warmer) stage(r *rules.Rules) stage {
	return stage{name: "warm-up", run: func(ctx context.Context) error {
		var vendors sync.WaitGroup
		for _, v := range r.Vendors {
			vendors.Go(func() { w.warm(ctx, v, endpointNames(v)...) })
		}
		vendors.Wait()
		<-ctx.Done()
		return nil
	}}
}

// warm makes a few light calls at endpoints of v, all at once so that each opens a
// connection of its own, and waits for their end. It makes none where the rules want
// none. What fails is only told: the first customer would have met it anyway.
func (w warmer) warm(ctx context.Context, v rules.Vendor, endpoints ...string) {
	if !v.Warmup {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, warmLimit)
	defer cancel()
	var calls sync.WaitGroup
	for _, endpoint := range endpoints {
		for range warmCalls {
			calls.Go(func() {
				if err := w.model.Warm(ctx, w.granter, v.Name, endpoint); err != nil {
					w.log.Debug().Err(err).Str("vendor", v.Name).Str("endpoint", endpoint).Msg("warm-up call")
				}
			})
		}
	}
	calls.Wait()
}
