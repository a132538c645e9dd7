package dispatcher

import (
	"context"
	"time"
)

// How often lanes are searched for strays, and all tickets swept. The first time is at
// start. Of several dispatchers one does it, whichever comes first.
const (
	repairEvery = time.Minute
	sweepEvery  = 10 * time.Minute
)

// repair lets the queue mend what a crash left behind, until ctx ends.
func (d *Dispatcher) repair(ctx context.Context) {
	ticker := time.NewTicker(repairEvery)
	defer ticker.Stop()
	var swept time.Time
	for {
		if d.duty(ctx, "repair", repairEvery) {
			sweep := time.Since(swept) >= sweepEvery && d.duty(ctx, "sweep", sweepEvery)
			if sweep {
				swept = time.Now()
			}
			d.mend(ctx, sweep)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// duty reports whether a repair is this dispatcher's to do now.
func (d *Dispatcher) duty(ctx context.Context, name string, every time.Duration) bool {
	mine, err := d.queue.Duty(ctx, name, every)
	if err != nil && ctx.Err() == nil {
		d.log.Warn().Err(err).Str("duty", name).Msg("ask whose turn a repair is")
	}
	return mine
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
