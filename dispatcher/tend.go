package dispatcher

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
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
	way     climb
	asked   time.Time // when the permit was asked for
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
	if d.hushed(ctx, j, s) || d.handOver(ctx, j, s) {
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
	if s.Parent != "" {
		if d.follows(ctx, j, &s) {
			d.climb(ctx, j, s, seat)
		}
		return
	}
	if history, settles := d.settles(ctx, &s); settles {
		d.alone(ctx, j, s, func(ctx context.Context, s *queue.Stored) (chat.Answer, error) {
			return d.worker.Answer(ctx, d.question(s, history), chat.Effort{Route: chat.RouteAgent}, func(string) {})
		})
		return
	}
	end, answered := d.recall(ctx, j, &s)
	defer end()
	if !answered {
		d.climb(ctx, j, s, seat)
	}
}

// climb looks for the rung on which a ticket is answered, from the best that the load
// allows downwards, and waits where that one needs a vendor.
func (d *Dispatcher) climb(ctx context.Context, j *job, s queue.Stored, seat *seat) {
	var held time.Time // since when an earlier message of its session is waited for; zero: none is
	for way := d.look(&s, climb{}); ; way = d.look(&s, way) {
		var permit gate.Permit
		now := situation{lesser: way.Reason, handed: s.Handoff != nil, drained: d.overstays(&s)}
		asked := time.Now()
		if way.Calls() && !now.drained {
			var err error
			permit, err = d.line(ctx, &s, way)
			now.permit, now.lesser = err == nil, ""
			errors.As(err, &now.refused)
		}
		now.now, now.deadline, now.stopped = time.Now(), s.Deadline, stopCause(ctx)
		dec := decide(now)
		if dec.action == run {
			if history, free := d.past(ctx, &s); free && time.Now().Before(s.Deadline) {
				seat.running()
				d.held.setWaiting(j, false)
				noteTurn(&s.Ticket, held)
				held = time.Time{}
				if d.run(ctx, j, turn{Stored: s, permit: permit, history: history, way: way, asked: asked}, &s) {
					d.held.setWaiting(j, true)
					way = climb{}
					d.pause(ctx, &s)
					continue // people take over, and it waits on
				}
				return
			}
			// An earlier message comes first: no permit is held while it is waited for.
			d.giveUp(&s, permit)
			if held.IsZero() {
				held = time.Now()
			}
			if s.Parent != "" {
				j.HandBack(followPause)
				return
			}
			wait(ctx, min(earlierPause, time.Until(s.Deadline)))
			continue
		}
		if now.permit {
			d.giveUp(&s, permit)
		}
		switch {
		case dec.action == await:
		case dec.action == answer && d.hand(ctx, &s, dec):
			way = climb{}
		case dec.action == answer && now.refused != nil && s.Pressing() && s.Lane.Interactive() && !now.drained:
			wait(ctx, min(handedLook, time.Until(s.Deadline))) // no vendor takes calls, and it is not sent away
		case dec.action == answer && way.Calls() && !now.drained:
			noteLesser(&s.Ticket, way.Route, dec.reason)
			way.tried, way.why = way.Route, dec.reason
		default:
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

// line stands at the controller until a permit comes, the controller refuses one, a level
// changes, the deadline passes or the work on the job is stopped.
func (d *Dispatcher) line(ctx context.Context, s *queue.Stored, way climb) (gate.Permit, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, d.lookAgain(s), errOverdue)
	defer cancel()
	ctx, stop := until(ctx, way.changed)
	defer stop()
	permit, err := d.control.Ask(ctx, d.ask(s, way.Effort))
	var refused *gate.Refusal
	if err != nil && ctx.Err() == nil && !errors.As(err, &refused) {
		// The controller is away or crowded: the deadline answers.
		d.log.Warn().Err(err).Str("ticket", s.ID).Msg("no permit can be asked for")
		wait(ctx, pullPause)
	}
	return permit, err
}

// until returns a context that also ends when changed is closed. stop waits until what it
// started has ended.
func until(ctx context.Context, changed <-chan struct{}) (_ context.Context, stop func()) {
	if changed == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-changed:
			cancel(errLevel)
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel(nil)
		watch.Wait()
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
	if s.Parent != "" {
		return d.pastOf(ctx, s)
	}
	if !s.Lane.Interactive() {
		return nil, true
	}
	past, err := d.queue.Past(ctx, s.Tenant, s.Session, d.cfg.History)
	if err != nil {
		d.log.Warn().Err(err).Str("ticket", s.ID).Msg("read the session before its turn")
		return nil, false
	}
	return past.Events, s.Pressing() || !past.OpenBefore(s.Seq)
}

// stopCause returns why the work on a job was stopped, or nil.
func stopCause(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}
