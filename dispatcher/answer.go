package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/trace"
	"sluice/internal/valve"
)

// errPanicked says what of ours panicked. Its text does not show the value, which may
// hold what the customer wrote: that is for the dead letter alone.
type errPanicked struct {
	what  string
	value any
}

func (e errPanicked) Error() string { return "the " + e.what + " panicked" }

// causeOf says for operators why a chain failed.
func causeOf(failed error) string {
	if p := (errPanicked{}); errors.As(failed, &p) {
		return fmt.Sprintf("%s: %v", p, p.value)
	}
	return failed.Error()
}

// run takes the ticket and lets the chain answer it. The session's turn ends when the
// final event is in the talk log, so that the next prompt holds this answer. again: it was
// handed to people and waits on.
func (d *Dispatcher) run(ctx context.Context, j *job, t turn, waiting *queue.Stored) (again bool) {
	defer d.control.EndTurn(t.Tenant, t.Session, t.ID)
	caller := gate.NewCaller(d.control, d.ask(&t.Stored, t.way.Effort), t.permit)
	defer caller.Close()
	notePermit(&t)
	s, err := d.queue.Take(ctx, t.Stored, time.Now())
	if err != nil {
		d.untaken(ctx, j, &t.Stored, err)
		return false
	}
	s.Level = t.Level
	heeded := d.heed(ctx, j, s)
	o := outcome{caller: caller}
	out := d.newStream(&s)
	o.answer, o.failed = d.work(gate.WithCaller(ctx, caller), &s, t.history, t.way.Effort, out.write)
	out.close()
	noteCalls(&s.Ticket, caller)
	o.answer.Reason = t.way.Reason
	if o.failed != nil {
		o = d.further(ctx, &s, t, o)
	}
	heeded()
	if o.failed != nil && stopCause(ctx) == nil {
		if dec := failure(o.failed); d.hand(ctx, &s, dec) || d.bide(ctx, &s, dec) {
			*waiting = s
			return true
		}
	}
	d.conclude(ctx, j, s, o)
	return false
}

// further answers with the next rung that needs a vendor, where there is one and time for
// it, after a rung has failed. It is a try after a failure: its call comes from the
// retries' budget, and what it says is seen when it is whole.
func (d *Dispatcher) further(ctx context.Context, s *queue.Stored, t turn, o outcome) outcome {
	dec := decide(situation{now: time.Now(), deadline: s.Deadline, permit: true, stopped: stopCause(ctx), failed: o.failed})
	if dec.action != answer || s.Deed != nil {
		return o
	}
	way := d.look(s, climb{tried: t.way.Route, why: dec.reason})
	if !way.Calls() {
		return o
	}
	caller := gate.NewRetrier(d.control, d.ask(s, way.Effort))
	defer caller.Close()
	noteLesser(&s.Ticket, t.way.Route, dec.reason)
	ans, failed := d.work(gate.WithCaller(ctx, caller), s, t.history, way.Effort, func(string) {})
	noteCalls(&s.Ticket, caller)
	if failed != nil {
		d.log.Info().Err(failed).Str("ticket", s.ID).Str("route", string(way.Route)).Msg("the next rung failed too")
		return o
	}
	ans.Reason = way.Reason
	return outcome{answer: ans, caller: caller}
}

// alone works on a ticket that needs neither a vendor nor a turn, and has no deadline:
// what its customer agreed to is done, or seen to its end after its former holder was lost.
func (d *Dispatcher) alone(ctx context.Context, j *job, s queue.Stored, work func(context.Context, *queue.Stored) (chat.Answer, error)) {
	d.held.setWaiting(j, false)
	taken, err := d.queue.Take(ctx, s, time.Now())
	if err != nil {
		d.untaken(ctx, j, &s, err)
		return
	}
	heeded := d.heed(ctx, j, taken)
	caller := gate.NewFollower(d.control, d.ask(&taken, chat.Effort{Route: chat.RouteAgent}))
	ans, failed := d.guarded(&taken, func() (chat.Answer, error) {
		ctx, cancel := context.WithTimeout(gate.WithCaller(ctx, caller), d.cfg.Answer)
		defer cancel()
		return work(ctx, &taken)
	})
	noteCalls(&taken.Ticket, caller)
	heeded()
	d.conclude(ctx, j, taken, outcome{ans, failed, caller})
}

// outcome is what came of the work on a ticket.
type outcome struct {
	answer chat.Answer
	failed error
	caller *gate.Caller
}

// conclude brings a ticket that was worked on to its end, or gives it on.
func (d *Dispatcher) conclude(ctx context.Context, j *job, s queue.Stored, o outcome) {
	dec := decide(situation{now: time.Now(), deadline: s.Deadline, permit: true, stopped: stopCause(ctx), failed: o.failed})
	if o.failed == nil {
		dec = decision{} // an answer that is there is given, whatever happened meanwhile
	}
	switch {
	case o.failed == nil:
		o.answer.Vendor, o.answer.Model = o.caller.Used()
		if s.Lane == chat.Batch {
			o.answer.Handoff = "" // there is no conversation to take over
		}
		s.Ticket.Answer(o.answer, time.Now())
		if why := o.answer.Trouble; why != "" {
			s.Dead = true
			s.Fail(why, time.Now())
		}
		d.settle(ctx, j, s)
		d.shadow(s, chat.Effort{Route: o.answer.Route})
	case dec.action == handBack:
		d.log.Info().Str("ticket", s.ID).Int("attempt", s.Attempts).Msg("handed back")
		if err := d.queue.HandBack(context.WithoutCancel(ctx), j.Job, s); err != nil {
			d.log.Warn().Err(err).Str("ticket", s.ID).Msg("hand back a running ticket")
		}
	case dec.action == abandon:
		// Neither acknowledged nor handed back, either of which could meet the next holder.
		d.log.Warn().Str("ticket", s.ID).Int("attempt", s.Attempts).Err(o.failed).Msg("abandoned: somebody else may be at it")
	case dec.action == drop:
		d.leave(ctx, j, s, dec)
	case s.Deed != nil:
		// What cannot be undone has begun, and nobody knows how far it came: whoever takes the
		// ticket next finds out. It counts as a taking that came to nothing.
		d.log.Warn().Str("ticket", s.ID).Int("attempt", s.Attempts).Err(o.failed).Msg("a deed has no end yet, the job comes again")
		j.HandBack(admitPause)
	default:
		d.log.Warn().Err(o.failed).Str("ticket", s.ID).Str("reason", string(dec.reason)).Msg("the chain could not answer")
		if dec.action == bury {
			s.Fail(causeOf(o.failed), time.Now())
		}
		d.fallback(ctx, j, s, dec)
	}
}

// work runs the chain within the hard limit of an answer; write gets its text as it comes.
func (d *Dispatcher) work(ctx context.Context, s *queue.Stored, history []chat.Event, how chat.Effort, write func(string)) (chat.Answer, error) {
	return d.guarded(s, func() (chat.Answer, error) {
		ctx, cancel := context.WithTimeout(ctx, d.cfg.Answer)
		defer cancel()
		if how.Route == chat.RouteRAG {
			begun := time.Now()
			defer func() { d.pace.add(time.Since(begun)) }()
		}
		ctx = trace.Of(ctx, s.ID)
		ctx = d.log.With().Str("ticket", s.ID).Logger().WithContext(ctx) // for what the chain meets on its way
		return d.worker.Answer(ctx, d.question(s, history), how, write)
	})
}

// question makes the question of a ticket that was taken, which may commit it to a deed.
func (d *Dispatcher) question(s *queue.Stored, history []chat.Event) chat.Question {
	return chat.Question{Ticket: s.Ticket, History: history, Commit: func(ctx context.Context, deed chat.Deed) error {
		stored, err := d.queue.Commit(ctx, *s, deed)
		if err == nil {
			s.Deed, s.Rev = stored.Deed, stored.Rev
		}
		return err
	}}
}

// guarded makes a failed answer of a panic: the same message would end the next process as
// well.
func (d *Dispatcher) guarded(s *queue.Stored, work func() (chat.Answer, error)) (_ chat.Answer, err error) {
	defer func() {
		if value := recover(); value != nil {
			d.log.Error().Str("ticket", s.ID).Bytes("stack", debug.Stack()).Msg("the chain panicked")
			err = errPanicked{"chain", value}
		}
	}()
	return work()
}

// untaken leaves a ticket that changed between its turn and its taking.
func (d *Dispatcher) untaken(ctx context.Context, j *job, s *queue.Stored, err error) {
	if errors.Is(err, queue.ErrLost) {
		// Cancelled, or taken by another holder: the bucket says which.
		if _, err = d.queue.Finish(context.WithoutCancel(ctx), j.Job); err == nil || errors.Is(err, queue.ErrLost) {
			return
		}
	}
	d.log.Warn().Err(err).Str("ticket", s.ID).Msg("ticket cannot be taken, handed back")
	j.HandBack(admitPause)
}

// fallback ends the ticket without a vendor. Where even the template panics the ticket
// fails: left open it would come again and end the next process as well.
func (d *Dispatcher) fallback(ctx context.Context, j *job, s queue.Stored, dec decision) {
	if s.Parent != "" {
		d.unanswered(ctx, j, s, dec)
		return
	}
	s.Dead = dec.action == bury
	if ans, found := d.written(&s, dec); found {
		if len(ans.Reply.Choices) > 0 { // the question is not answered by questions
			ans = d.promise(ctx, &s, dec, ans)
		}
		s.Ticket.Answer(ans, time.Now())
	} else if ans, err := d.template(&s.Ticket, dec.reason); err == nil {
		ans = d.promise(ctx, &s, dec, ans)
		s.Ticket.Answer(ans, time.Now())
	} else {
		s.Dead = true
		s.Fail(causeOf(err), time.Now())
		s.Ticket.GiveUp(chat.ReasonError, time.Now())
	}
	d.settle(ctx, j, s)
}

// written answers from the FAQ where the load allows that and an entry fits.
func (d *Dispatcher) written(s *queue.Stored, dec decision) (_ chat.Answer, found bool) {
	step := valve.Route(valve.Case{Level: s.Level, Urgent: s.Pressing(), Lane: s.Lane, Tried: chat.RouteRAG, Why: dec.reason})
	if dec.action == bury || step.Route != chat.RouteFAQ {
		return chat.Answer{}, false
	}
	defer func() {
		if recover() != nil { // the template is still there
			d.log.Error().Str("ticket", s.ID).Bytes("stack", debug.Stack()).Msg("the FAQ panicked")
			found = false
		}
	}()
	ans, found := d.worker.FAQ(&s.Ticket)
	ans.Reason = dec.reason
	return ans, found
}

func (d *Dispatcher) template(t *chat.Ticket, reason chat.Reason) (_ chat.Answer, err error) {
	defer func() {
		if value := recover(); value != nil {
			d.log.Error().Str("ticket", t.ID).Bytes("stack", debug.Stack()).Msg("the template panicked")
			err = errPanicked{"template", value}
		}
	}()
	return d.worker.Fallback(t, reason), nil
}
