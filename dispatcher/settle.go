package dispatcher

import (
	"context"
	"errors"
	"time"

	"sluice/internal/chat"
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
		done, err := d.end(ctx, j, s)
		if err == nil {
			d.tell(&s, &done)
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

// end writes the end, or completes the one that stands in the bucket already, and returns
// the ticket as it ended.
func (d *Dispatcher) end(ctx context.Context, j *job, s queue.Stored) (queue.Stored, error) {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	done, err := d.queue.End(ctx, j.Job, s)
	if errors.Is(err, queue.ErrLost) {
		return d.queue.Finish(ctx, j.Job)
	}
	return done, err
}

// tell lets the log know how a ticket ended, and the counters of an answer that was given
// here: s is what was to be written. An end of somebody else is theirs to count, and an
// answer that came after a takeover is none.
func (d *Dispatcher) tell(s, done *queue.Stored) {
	what := "answered"
	if done.Status != chat.Answered {
		what = "ended without an answer"
	}
	d.log.Info().Str("ticket", s.ID).Str("tenant", s.Tenant).Str("lane", string(s.Lane)).
		Str("status", string(done.Status)).Str("route", string(done.Route)).Str("reason", string(done.Reason)).Str("vendor", done.Vendor).
		Int64("age_ms", time.Since(s.AcceptedAt).Milliseconds()).Int("attempt", done.Attempts).Msg(what)
	ours := done.Attempts == s.Attempts && done.EndedAt != nil && s.EndedAt != nil && done.EndedAt.Equal(*s.EndedAt)
	if ours && done.Status == chat.Answered {
		d.cfg.Answered(&done.Ticket)
	}
}
