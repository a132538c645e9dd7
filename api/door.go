package api

import (
	"context"
	"errors"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/trace"
)

// drainRetry is when a message for a lane that is being drained may be worth another
// try: drains take minutes, and an operator ends them.
const drainRetry = 30 * time.Second

// enter takes a ticket through the door of its lane; leave is called once it is accepted
// or refused. An urgent one goes into high unless there are too many of them, and stays in the lane that was asked for
// while high drains. open is false if the lane drains.
func (in *Intake) enter(t *chat.Ticket) (leave func(), open bool) {
	// Nobody waits for a line of a batch, however urgent it sounds.
	if t.Pressing() && t.Lane != chat.Batch {
		if leave, open = in.door(chat.High); open {
			t.Lane = chat.High
			return leave, true
		}
	}
	return in.door(t.Lane)
}

func (in *Intake) door(lane chat.Lane) (leave func(), open bool) {
	if in.lanes == nil {
		return func() {}, true
	}
	return in.lanes.Enter(lane)
}

// again answers a message for a lane that drains: what was accepted before is met again,
// and everything else is refused.
func (in *Intake) again(ctx context.Context, m Message, t chat.Ticket) (chat.Ticket, bool, error) {
	if m.Claim.Key != "" {
		before, err := in.queue.Claimed(ctx, t.Tenant, m.Claim)
		if err == nil {
			return before, true, nil
		}
		if !errors.Is(err, queue.ErrNotFound) {
			return chat.Ticket{}, false, in.refusal(err, t.Lane)
		}
	}
	if m.Session != "" && t.Lane != chat.Batch {
		if open, found, err := in.sameQuestion(ctx, t); err != nil {
			return chat.Ticket{}, false, in.refusal(err, t.Lane)
		} else if found {
			return open, true, nil
		}
	}
	return chat.Ticket{}, false, errLaneDraining(t.Lane)
}

func errLaneDraining(lane chat.Lane) *chat.Error {
	return &chat.Error{
		Kind: chat.Overloaded, Code: codeDraining, RetryAfter: drainRetry,
		Detail: "lane " + string(lane) + " is being emptied and takes nothing more in",
	}
}

// requeue asks the question of a dead letter again, in the letter's lane if that is open.
func (in *Intake) requeue(ctx context.Context, id string) (chat.Ticket, bool, error) {
	if in.draining.Load() {
		return chat.Ticket{}, false, errDraining()
	}
	lane := chat.Normal
	letter, err := in.queue.DeadLetter(ctx, id)
	switch {
	case err == nil:
		lane = letter.Lane
	case !errors.Is(err, queue.ErrNotFound): // one that is gone may have been requeued before
		return chat.Ticket{}, false, unavailable(err)
	}
	leave, open := in.door(lane)
	if !open {
		return chat.Ticket{}, false, errLaneDraining(lane)
	}
	defer leave()
	t, dup, err := in.queue.RequeueDead(ctx, id, time.Now().UTC())
	switch {
	case err == nil && !dup:
		trace.Accepted(ctx, &t)
	case err != nil && !errors.Is(err, queue.ErrNotFound):
		err = in.refusal(err, lane)
	}
	return t, dup, err
}

// requeueEnded asks the question of an ended ticket again, in its lane if that is open.
func (in *Intake) requeueEnded(ctx context.Context, ended chat.Ticket) (chat.Ticket, bool, error) {
	if in.draining.Load() {
		return chat.Ticket{}, false, errDraining()
	}
	leave, open := in.door(ended.Lane)
	if !open {
		return chat.Ticket{}, false, errLaneDraining(ended.Lane)
	}
	defer leave()
	t, dup, err := in.queue.Requeue(ctx, ended, time.Now().UTC())
	if err != nil {
		return t, false, in.refusal(err, ended.Lane)
	}
	if !dup {
		trace.Accepted(ctx, &t)
	}
	return t, dup, nil
}
