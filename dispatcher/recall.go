package dispatcher

import (
	"context"
	"runtime/debug"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
)

// recall answers a ticket with what the same question was answered before, without a
// permit, and reports whether it did. end must be called when the work on the ticket has
// ended: others may wait for its answer.
func (d *Dispatcher) recall(ctx context.Context, j *job, s *queue.Stored) (end func(), answered bool) {
	how := d.look(s, climb{}).Effort
	got := d.recalled(ctx, s, how)
	if got.End == nil {
		got.End = func(bool) {}
	}
	if got.Answer == nil {
		return func() { got.End(stopCause(ctx) != nil) }, false
	}
	if got.Renew {
		select {
		case d.old <- renewal{*s, how, got.End}:
		default: // enough of that for now: the old answer stands
			got.End(true)
		}
	}
	d.alone(ctx, j, *s, func(context.Context, *queue.Stored) (chat.Answer, error) { return *got.Answer, nil })
	return func() {}, true
}

// recalled asks the worker. Where that panics nothing is known, and the chain will tell of
// it, if it panics as well.
func (d *Dispatcher) recalled(ctx context.Context, s *queue.Stored, how chat.Effort) (got chat.Recalled) {
	defer func() {
		if recover() != nil {
			d.log.Error().Str("ticket", s.ID).Bytes("stack", debug.Stack()).Msg("the look for a kept answer panicked")
		}
	}()
	return d.worker.Recall(ctx, &s.Ticket, how, func() ([]chat.Event, bool) { return d.past(ctx, s) })
}

// renewers is how many old answers are made anew at once; renewLimit is how long one may
// take, its wait for a permit included.
const (
	renewers   = 4
	renewLimit = time.Minute
)

// renewal is an old answer that is to be made anew: the question of the ticket that got it.
type renewal struct {
	queue.Stored
	how chat.Effort
	end func(stopped bool)
}

// renew makes old answers anew, one at a time, until ctx ends. Customers do not wait for
// them: they stand in line with the batches.
func (d *Dispatcher) renew(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-d.old:
			if err := d.renewOne(ctx, r); err != nil && ctx.Err() == nil {
				d.log.Warn().Err(err).Str("ticket", r.ID).Msg("an old answer could not be made anew, it stands")
			}
			r.end(ctx.Err() != nil)
		}
	}
}

func (d *Dispatcher) renewOne(ctx context.Context, r renewal) error {
	ctx, cancel := context.WithTimeout(ctx, renewLimit)
	defer cancel()
	a := d.ask(&r.Stored, r.how)
	// Not the ticket's own: that one has ended, and a batch needs no turn.
	a.Ticket, a.Lane, a.AcceptedAt, a.Deadline = chat.NewTicketID(), chat.Batch, time.Now(), time.Time{}
	permit, err := d.control.Ask(ctx, a)
	if err != nil {
		return err
	}
	caller := gate.NewCaller(d.control, a, permit)
	defer caller.Close()
	_, err = d.guarded(&r.Stored, func() (chat.Answer, error) {
		return d.worker.Answer(gate.WithCaller(ctx, caller), chat.Question{Ticket: r.Ticket}, r.how, func(string) {})
	})
	return err
}
