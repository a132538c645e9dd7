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

// stage warms all vendors at the start, and endpoints that new rules bring as they come.
// It holds up no other stage: a vendor that hangs must not delay the answers of the rest.
// A vendor that comes back after its breaker was open needs none: the probes are calls.
func (w warmer) stage(in *live) stage {
	changed := make(chan struct{}, 1)
	in.onChange(func(*rules.Rules) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	return stage{name: "warm-up", run: func(ctx context.Context) error {
		warm := map[seat]bool{}
		for {
			warm = w.fresh(ctx, in.rules(), warm)
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
			}
		}
	}}
}

// fresh warms the endpoints of r that are not warm yet, and returns all of them.
func (w warmer) fresh(ctx context.Context, r *rules.Rules, warm map[seat]bool) map[seat]bool {
	all := map[seat]bool{}
	var vendors sync.WaitGroup
	for _, v := range r.Vendors {
		var cold []string
		for _, name := range endpointNames(v) {
			at := seat{v.Name, name}
			if all[at] = true; !warm[at] {
				cold = append(cold, name)
			}
		}
		vendors.Go(func() { w.warm(ctx, v, cold...) })
	}
	vendors.Wait()
	return all
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
