package dispatcher

import (
	"context"
	"time"

	"sluice/internal/chat"
)

// How often lanes are searched for strays, and all tickets swept. The first time is at
// start. Of several dispatchers one does it, whichever comes first.
const (
	repairEvery = time.Minute
	sweepEvery  = 10 * time.Minute
	// sweepBack is how far back a round looks between two sweeps of all: some rounds may
	// have been missed.
	sweepBack = 3 * time.Minute
)

// repair lets the queue mend what a crash left behind, until ctx ends, and says what is
// held here to whoever repairs.
func (d *Dispatcher) repair(ctx context.Context) {
	stop, err := d.queue.TellHeld(d.holding)
	if err != nil {
		d.log.Warn().Err(err).Msg("nobody can ask what is held here, strays are repaired at the next start")
	} else {
		defer stop()
	}
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

// holding returns what is held of a lane, by the sequence of its messages.
func (d *Dispatcher) holding(lane chat.Lane) []uint64 {
	seqs := []uint64{}
	for _, j := range d.held.all() {
		if j.Ticket.Lane == lane {
			seqs = append(seqs, j.Ticket.LaneSeq)
		}
	}
	return seqs
}

func (d *Dispatcher) mend(ctx context.Context, sweep bool) {
	moved, err := d.queue.Strays(ctx)
	if err != nil && ctx.Err() == nil {
		d.log.Warn().Err(err).Msg("search the lanes for strays")
	}
	var removed, restored int
	if now := time.Now(); sweep {
		removed, restored, err = d.queue.Sweep(ctx, now)
	} else {
		removed, restored, err = d.queue.SweepSince(ctx, now, now.Add(-sweepBack))
	}
	if err != nil && ctx.Err() == nil {
		d.log.Warn().Err(err).Msg("sweep the tickets")
	}
	if moved+removed+restored > 0 {
		d.log.Warn().Int("moved", moved).Int("removed", removed).Int("restored", restored).
			Msg("tickets and lanes disagreed, mended")
	}
}
