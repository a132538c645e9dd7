package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
)

// SettlePromise turns an open promise into met, sent, broken or cancelled at now, says why,
// and lets its session know. A promise that has turned before stays as it is. ErrNotFound:
// it is open no more, or was never made.
func (q *Queue) SettlePromise(ctx context.Context, id string, status chat.PromiseStatus, why chat.Reason, now time.Time) (Owed, error) {
	o, err := q.changeOwed(ctx, PromiseTurn, id, func(o *Owed) bool {
		if !o.Status.Becomes(status) || o.Status != chat.Promised {
			return false
		}
		o.Status, o.At, o.Why = status, now, why
		return true
	})
	if err != nil {
		return o, err
	}
	return o, q.closePromise(ctx, o)
}

// closePromise repeats what follows the turn of a promise; each step is done at most once.
// While its parent is open nobody knows of the promise yet, so nothing is done: the next
// look comes by again.
func (q *Queue) closePromise(ctx context.Context, o Owed) error {
	named, ended, err := q.named(ctx, o.Tenant, o.Parent, o.ID)
	switch {
	case err != nil:
		return err
	case !ended:
		return nil
	case !named:
		return q.closeOwed(ctx, o)
	}
	if o.Status == chat.PromiseSent {
		if err := q.enterOutbox(ctx, &o); err != nil {
			return err
		}
	}
	made := o.Promise
	made.Status = chat.Promised
	if _, err := q.appendAs(ctx, PromiseMade, o.session(), string(chat.Promised), chat.PromiseEvent(o.ID, o.Parent, made, o.MadeAt)); err != nil {
		return err
	}
	if _, err := q.appendAs(ctx, PromiseTold, o.session(), string(o.Status), chat.PromiseEvent(o.ID, o.Parent, o.Promise, o.At)); err != nil {
		return err
	}
	if err := q.announceBroken(ctx, &o); err != nil {
		return err
	}
	if err := q.keepOwed(ctx, o); err != nil {
		return err
	}
	return q.closeOwed(ctx, o)
}

// forgetPromise removes what was made ready for a follow-up of which nobody was told.
func (q *Queue) forgetPromise(ctx context.Context, followUp *chat.Ticket) error {
	o, err := q.openOwed(ctx, followUp.ID)
	if errors.Is(err, ErrNotFound) {
		return q.freeTexts(ctx, holdOf(followUp))
	}
	if err != nil {
		return err
	}
	return q.closeOwed(ctx, o)
}

// CallOff cancels a ticket, and what a ticket that has ended owes: its follow-up, or where
// that has ended too, the notice. It returns the ticket as it stands then. Errors as of
// Cancel; ErrEnded: there was nothing to call off.
func (q *Queue) CallOff(ctx context.Context, t *chat.Ticket, reason chat.Reason, now time.Time) (chat.Ticket, error) {
	if !t.Status.Ended() {
		done, err := q.Cancel(ctx, t.ID, reason, now)
		if !errors.Is(err, ErrEnded) {
			return done, err
		}
		*t = done
	}
	ended := fmt.Errorf("cancel ticket %s: %w", t.ID, ErrEnded)
	id := t.ID
	if t.Parent == "" {
		if id = t.FollowUp; id == "" {
			return *t, ended
		}
		_, err := q.Cancel(ctx, id, reason, now)
		if !errors.Is(err, ErrEnded) && !errors.Is(err, ErrNotFound) {
			return *t, err
		}
	}
	o, err := q.SettlePromise(ctx, id, chat.PromiseCancelled, reason, now)
	if errors.Is(err, ErrNotFound) || err == nil && o.Status != chat.PromiseCancelled {
		return *t, ended
	}
	return *t, err
}
