package dispatcher

import (
	"context"
	"runtime/debug"
	"time"

	"sluice/internal/chat"
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
		d.renew(*s, how, got.End)
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

// renewals is how many old answers are made anew at once; renewLimit is how long one may
// take, its wait for a permit included.
const (
	renewals   = 4
	renewLimit = time.Minute
)

// renew makes an old answer anew, with the question of a ticket that got it. Nobody waits
// for that: its call waits behind everybody, as one of a batch does. Where enough of that
// is under way the old answer stands, and a later ticket is asked to.
func (d *Dispatcher) renew(s queue.Stored, how chat.Effort, end func(stopped bool)) {
	select {
	case d.renewing <- struct{}{}:
	default:
		end(true)
		return
	}
	d.jobs.Go(func() {
		defer func() { <-d.renewing }()
		ctx, cancel := context.WithTimeout(d.calm, renewLimit)
		defer cancel()
		err := d.unseen(ctx, s, how)
		end(d.calm.Err() != nil)
		if err != nil && d.calm.Err() == nil {
			d.log.Warn().Err(err).Str("ticket", s.ID).Msg("an old answer could not be made anew, it stands")
		}
	})
}
