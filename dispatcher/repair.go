package dispatcher

import (
	"context"
	"errors"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// How often lanes are searched for strays, and all tickets swept. The first time is at
// start. Of several dispatchers one does it, whichever comes first.
const (
	repairEvery = time.Minute
	sweepEvery  = 10 * time.Minute
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
	displaced := false // a job lost its place in its lane to another, and waits for a sweep
	for {
		if d.duty(ctx, "repair", repairEvery) || displaced {
			sweep := displaced || time.Since(swept) >= sweepEvery && d.duty(ctx, "sweep", sweepEvery)
			if sweep {
				swept = time.Now()
			}
			displaced = d.mend(ctx, sweep)
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

func (d *Dispatcher) mend(ctx context.Context, sweep bool) (displaced bool) {
	moved, err := d.queue.Strays(ctx)
	if err != nil && ctx.Err() == nil {
		d.log.Warn().Err(err).Msg("search the lanes for strays")
	}
	displaced = errors.Is(err, queue.ErrFull)
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
	return displaced
}
