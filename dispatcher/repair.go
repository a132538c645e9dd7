package dispatcher

import (
	"context"
	"time"
)

// How often lanes are searched for strays, and every how many times all tickets are
// swept as well. The first time is at start.
const (
	repairEvery = time.Minute
	sweepEvery  = 10
)

// repair lets the queue mend what a crash left behind, until ctx ends.
func (d *Dispatcher) repair(ctx context.Context) {
	ticker := time.NewTicker(repairEvery)
	defer ticker.Stop()
	for round := 0; ; round++ {
		d.mend(ctx, round%sweepEvery == 0)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (d *Dispatcher) mend(ctx context.Context, sweep bool) {
	moved, err := d.queue.Strays(ctx)
	if err != nil && ctx.Err() == nil {
		d.log.Warn().Err(err).Msg("search the lanes for strays")
	}
	removed, restored := 0, 0
	if sweep {
		if removed, restored, err = d.queue.Sweep(ctx, time.Now()); err != nil && ctx.Err() == nil {
			d.log.Warn().Err(err).Msg("sweep the tickets")
		}
	}
	if moved+removed+restored > 0 {
		d.log.Warn().Int("moved", moved).Int("removed", removed).Int("restored", restored).
			Msg("tickets and lanes disagreed, mended")
	}
}
