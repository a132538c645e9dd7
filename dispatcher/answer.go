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

var errPanicked = errors.New("the chain panicked")

// run takes the ticket and lets the chain answer it. The session's turn ends when the
// final event is in the talk log, so that the next prompt holds this answer.
func (d *Dispatcher) run(ctx context.Context, j *job, t turn) {
	defer d.control.EndTurn(t.Tenant, t.Session, t.ID)
	caller := gate.NewCaller(d.control, d.ask(&t.Stored), t.permit)
	defer caller.Close()
	s, err := d.queue.Take(ctx, t.Stored, time.Now())
	if err != nil {
		d.untaken(ctx, j, &t.Stored, err)
		return
	}
	ans, failed := d.work(gate.WithCaller(ctx, caller), &s, t.history)
	dec := decide(situation{now: time.Now(), deadline: s.Deadline, permit: true, stopped: stopCause(ctx), failed: failed})
	if failed == nil {
		dec = decision{} // an answer that is there is given, whatever happened meanwhile
	}
	switch {
	case failed == nil:
		ans.Vendor, ans.Model = caller.Used()
		s.Ticket.Answer(ans, time.Now())
		d.settle(ctx, j, s)
	case dec.action == handBack:
		d.log.Info().Str("ticket", s.ID).Int("attempt", s.Attempts).Msg("handed back")
		if err := d.queue.HandBack(context.WithoutCancel(ctx), j.Job, s); err != nil {
			d.log.Warn().Err(err).Str("ticket", s.ID).Msg("hand back a running ticket")
		}
	case dec.action == abandon:
		// Neither acknowledged nor handed back, either of which could meet the next holder.
		d.log.Warn().Str("ticket", s.ID).Int("attempt", s.Attempts).Msg("abandoned: the controller did not hear of this process")
	case dec.action == drop:
		d.leave(ctx, j, s, dec)
	default:
		d.log.Warn().Err(failed).Str("ticket", s.ID).Str("reason", string(dec.reason)).Msg("the chain could not answer")
		d.fallback(ctx, j, s, dec.reason)
	}
}

// work runs the chain within the hard limit of an answer and streams its text. A panic
// in it is a failed answer: the same message would end the next process as well.
func (d *Dispatcher) work(ctx context.Context, s *queue.Stored, history []chat.Event) (_ chat.Answer, err error) {
	defer func() {
		if recover() != nil {
			d.log.Error().Str("ticket", s.ID).Bytes("stack", debug.Stack()).Msg("the chain panicked")
			err = errPanicked
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Answer)
	defer cancel()
	out := d.newStream(s)
	defer out.close()
	return d.worker.Answer(ctx, chat.Question{Ticket: s.Ticket, History: history}, out.write)
}

// untaken leaves a ticket that changed between its turn and its taking.
func (d *Dispatcher) untaken(ctx context.Context, j *job, s *queue.Stored, err error) {
	if errors.Is(err, queue.ErrLost) {
		// Cancelled, or taken by another holder: the bucket says which.
		if err = d.queue.Finish(context.WithoutCancel(ctx), j.Job); err == nil || errors.Is(err, queue.ErrLost) {
			return
		}
	}
	d.log.Warn().Err(err).Str("ticket", s.ID).Msg("ticket cannot be taken, handed back")
	j.HandBack(admitPause)
}

// fallback ends the ticket with the template.
func (d *Dispatcher) fallback(ctx context.Context, j *job, s queue.Stored, reason chat.Reason) {
	s.Ticket.Answer(d.worker.Fallback(&s.Ticket, reason), time.Now())
	d.settle(ctx, j, s)
}
