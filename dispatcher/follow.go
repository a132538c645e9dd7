package dispatcher

import (
	"context"
	"errors"
	"slices"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// Pauses of a follow-up: while it may not run, and after its chain has failed once. The
// second one doubles with each failure up to the third.
const (
	followPause = 2 * time.Second
	failedPause = 10 * time.Second
	failedMost  = 2 * time.Minute
)

// follows reports whether a follow-up may stand in line for a vendor now. One that may not
// yet is handed back, one that nobody was promised is dropped.
func (d *Dispatcher) follows(ctx context.Context, j *job, s *queue.Stored) bool {
	if d.busy(s) {
		j.HandBack(followPause)
		return false
	}
	may, _, err := d.queue.MayFollow(ctx, &s.Ticket, 0)
	switch {
	case err != nil:
		d.log.Warn().Err(err).Str("ticket", s.ID).Msg("whether a follow-up may run is not known, handed back")
	case may == queue.FollowNow:
		return true
	case may == queue.FollowNever:
		d.unpromised(ctx, j, *s)
		return false
	}
	j.HandBack(followPause)
	return false
}

// busy reports whether the load that made a promise still stands, and the follow-up has
// time to wait until it falls: the last third of it is kept for the answer.
func (d *Dispatcher) busy(s *queue.Stored) bool {
	level, _ := d.control.Level(chat.Low) // feels what every customer feels
	return level > 0 && time.Until(s.Deadline) > s.Deadline.Sub(s.AcceptedAt)/3
}

// unpromised ends a follow-up that nobody was promised.
func (d *Dispatcher) unpromised(ctx context.Context, j *job, s queue.Stored) {
	s.Ticket.Cancel(chat.ReasonUnpromised, time.Now())
	d.settle(ctx, j, s)
}

// pastOf reads the session of a follow-up before it runs, without the exchange that it
// follows up, and reports whether it may run now.
func (d *Dispatcher) pastOf(ctx context.Context, s *queue.Stored) ([]chat.Event, bool) {
	may, events, err := d.queue.MayFollow(ctx, &s.Ticket, d.cfg.History)
	if err != nil {
		d.log.Warn().Err(err).Str("ticket", s.ID).Msg("read the session before a follow-up")
		return nil, false
	}
	events = slices.DeleteFunc(events, func(e chat.Event) bool { return e.Ticket == s.Parent })
	return events, may == queue.FollowNow
}

// unanswered deals with a follow-up that has no full answer. Its customer has the template,
// so nothing less will do: it is tried again while there is time, as often as a job may be
// taken, and fails after that.
func (d *Dispatcher) unanswered(ctx context.Context, j *job, s queue.Stored, dec decision) {
	now := time.Now()
	spent := s.Status == chat.Running && s.Attempts >= d.cfg.Rules().MaxDeliver
	if dec.action != bury && !spent && now.Before(s.Deadline) {
		d.later(ctx, j, s)
		return
	}
	if s.Dead = dec.action == bury; s.Dead && len(s.Failures) == 0 {
		s.Fail(string(dec.reason), now)
	}
	s.GiveUp(dec.reason, now)
	d.settle(ctx, j, s)
}

// later gives a follow-up back, to be tried again. A taking that came to nothing counts.
func (d *Dispatcher) later(ctx context.Context, j *job, s queue.Stored) {
	if s.Status != chat.Running {
		j.HandBack(followPause)
		return
	}
	pause := min(failedPause<<min(max(s.Attempts-1, 0), 8), failedMost)
	d.log.Info().Str("ticket", s.ID).Int("attempt", s.Attempts).Dur("pause", pause).Msg("follow-up is tried again")
	err := d.queue.Postpone(context.WithoutCancel(ctx), j.Job, s, pause)
	if err != nil && !errors.Is(err, queue.ErrLost) {
		d.log.Warn().Err(err).Str("ticket", s.ID).Msg("hand back a follow-up")
	}
}
