package dispatcher

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
)

// Pauses: before a job that could not be admitted comes again, and between looks at an
// earlier message of the session that nobody has answered yet.
const (
	admitPause   = time.Second
	earlierPause = 50 * time.Millisecond
)

// turn is a ticket whose turn it is: a vendor has room for it, and its session waits
// for it alone.
type turn struct {
	queue.Stored
	permit  gate.Permit
	history []chat.Event
}

// tend looks after one job from its delivery to its end.
func (d *Dispatcher) tend(ctx context.Context, j *job, seat *seat) {
	s, err := d.queue.Admit(ctx, j.Job)
	switch {
	case errors.Is(err, queue.ErrEnded):
		return
	case err != nil:
		d.log.Warn().Err(err).Str("ticket", j.Ticket.ID).Msg("job cannot be admitted, handed back")
		j.HandBack(admitPause)
		return
	}
	if s.Attempts >= d.cfg.Rules().MaxDeliver { // a deed without an end is told to operators this way
		d.leave(ctx, j, s, decide(situation{now: time.Now(), deadline: s.Deadline, spent: true, stopped: stopCause(ctx)}))
		return
	}
	if s.Deed != nil {
		d.alone(ctx, j, s, func(ctx context.Context, s *queue.Stored) (chat.Answer, error) {
			return d.worker.Resume(ctx, chat.Question{Ticket: s.Ticket})
		})
		return
	}
	if history, settles := d.settles(ctx, &s); settles {
		d.alone(ctx, j, s, func(ctx context.Context, s *queue.Stored) (chat.Answer, error) {
			return d.worker.Answer(ctx, d.question(s, history), func(string) {})
		})
		return
	}
	for {
		permit, err := d.line(ctx, &s)
		var refused *gate.Refusal
		errors.As(err, &refused)
		dec := decide(situation{
			now: time.Now(), deadline: s.Deadline, permit: err == nil, refused: refused, stopped: stopCause(ctx),
		})
		if dec.action == run {
			if history, free := d.past(ctx, &s); free && time.Now().Before(s.Deadline) {
				seat.running()
				d.held.setWaiting(j, false)
				d.run(ctx, j, turn{Stored: s, permit: permit, history: history})
				return
			}
			// An earlier message comes first: no permit is held while it is waited for.
			d.giveUp(&s, permit)
			wait(ctx, min(earlierPause, time.Until(s.Deadline)))
			continue
		}
		if err == nil {
			d.giveUp(&s, permit)
		}
		if dec.action != await {
			d.leave(ctx, j, s, dec)
			return
		}
	}
}

// settles reports whether a ticket needs no model. One whose session has an earlier open
// message waits for its turn as any other does.
func (d *Dispatcher) settles(ctx context.Context, s *queue.Stored) (history []chat.Event, settles bool) {
	defer func() {
		if recover() != nil { // the chain will tell of it, if it panics as well
			d.log.Error().Str("ticket", s.ID).Bytes("stack", debug.Stack()).Msg("the look at a confirmation panicked")
			settles = false
		}
	}()
	free := false
	settles = d.worker.Settles(&s.Ticket, func() []chat.Event {
		history, free = d.past(ctx, s)
		return history
	})
	return history, settles && free
}

// line stands at the controller until a permit comes, the controller refuses one, the
// deadline passes or the work on the job is stopped.
func (d *Dispatcher) line(ctx context.Context, s *queue.Stored) (gate.Permit, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, s.Deadline, errOverdue)
	defer cancel()
	permit, err := d.control.Ask(ctx, d.ask(s))
	var refused *gate.Refusal
	if err != nil && ctx.Err() == nil && !errors.As(err, &refused) {
		// The controller is away or crowded: the deadline answers.
		d.log.Warn().Err(err).Str("ticket", s.ID).Msg("no permit can be asked for")
		wait(ctx, pullPause)
	}
	return permit, err
}

func (d *Dispatcher) ask(s *queue.Stored) gate.Ask {
	r := d.cfg.Rules()
	return gate.Ask{
		Tenant: s.Tenant, Session: s.Session, Ticket: s.ID, Lane: s.Lane, Urgent: s.Urgent,
		Seq: s.Seq, AcceptedAt: s.AcceptedAt, Deadline: s.Deadline,
		Vendors: r.Vendors, Model: r.Model, Tokens: d.worker.Estimate(&s.Ticket),
	}
}

// giveUp gives back a permit and a turn that were not used.
func (d *Dispatcher) giveUp(s *queue.Stored, permit gate.Permit) {
	d.control.Release(permit, 0)
	d.control.EndTurn(s.Tenant, s.Session, s.ID)
}

// leave ends a job that no vendor works on, as decided.
func (d *Dispatcher) leave(ctx context.Context, j *job, s queue.Stored, dec decision) {
	switch dec.action {
	case answer, bury:
		d.fallback(ctx, j, s, dec)
	case handBack:
		j.HandBack(0)
	case drop:
		// Whoever cancelled it completes the end; if it died, the job comes again.
		j.HandBack(admitPause)
	}
}

// past reads the session before its ticket runs, and reports whether the ticket may
// run now: not while an earlier message of the session has no final event. The
// controller orders what it knows of; this sees what it cannot: a job still in its lane, or one
// that ended without its last steps. An urgent ticket goes before.
func (d *Dispatcher) past(ctx context.Context, s *queue.Stored) ([]chat.Event, bool) {
	if !s.Lane.Interactive() {
		return nil, true
	}
	past, err := d.queue.Past(ctx, s.Tenant, s.Session, d.cfg.History)
	if err != nil {
		d.log.Warn().Err(err).Str("ticket", s.ID).Msg("read the session before its turn")
		return nil, false
	}
	return past.Events, s.Urgent || !past.OpenBefore(s.Seq)
}

// stopCause returns why the work on a job was stopped, or nil.
func stopCause(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}
