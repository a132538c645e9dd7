package dispatcher

import (
	"context"
	"errors"
	"time"

	"sluice/internal/queue"
)

// How often an end is tried while the engine does not answer, and the longest pause
// between two tries. After that the job comes again and is worked on anew.
const (
	settleTries = 12
	settlePause = 2 * time.Second
	settleLimit = 5 * time.Second // of one try
)

// settle writes the end of a ticket, once: a try that was cut short is found by the
// next one, and a ticket that somebody else ended is completed instead.
func (d *Dispatcher) settle(ctx context.Context, j *job, s queue.Stored) {
	ctx = context.WithoutCancel(ctx)
	pause := 20 * time.Millisecond
	for range settleTries {
		err := d.end(ctx, j, s)
		if err == nil {
			d.log.Info().Str("ticket", s.ID).Str("tenant", s.Tenant).Str("lane", string(s.Lane)).
				Str("route", string(s.Route)).Str("reason", string(s.Reason)).Str("vendor", s.Vendor).
				Int64("age_ms", time.Since(s.AcceptedAt).Milliseconds()).Int("attempt", s.Attempts).Msg("answered")
			d.cfg.Answered(&s.Ticket)
			return
		}
		if errors.Is(err, queue.ErrLost) {
			d.log.Info().Str("ticket", s.ID).Int("attempt", s.Attempts).Msg("somebody else ended or holds the ticket")
			return
		}
		d.log.Warn().Err(err).Str("ticket", s.ID).Msg("end of the ticket, trying again")
		wait(ctx, pause)
		pause = min(2*pause, settlePause)
	}
	d.log.Error().Str("ticket", s.ID).Msg("the end could not be written, the job comes again")
}

// end writes the end, or completes the one that stands in the bucket already.
func (d *Dispatcher) end(ctx context.Context, j *job, s queue.Stored) error {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	_, err := d.queue.End(ctx, j.Job, s)
	if errors.Is(err, queue.ErrLost) {
		return d.queue.Finish(ctx, j.Job)
	}
	return err
}
