package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
)

// Promise makes ready what a ticket's end is to promise: its follow-up is accepted at now
// into the lane deferred, with so much time, and the promise is noted. It is made only once
// the end names it (FollowUp): until then the follow-up does not run, and where the end
// comes without naming it, it is dropped. Its text message counts for the caps from now on,
// so that no cap breaks it. A repeat finds the same follow-up. Errors, after which the end
// must not name one: ErrFull, ErrStorage, ErrCapped, and ErrEnded for a follow-up that has
// ended already or is out of time.
func (q *Queue) Promise(ctx context.Context, parent *chat.Ticket, now time.Time, wait time.Duration, caps chat.TextCaps) (id string, _ chat.Promise, _ error) {
	t, _, err := q.Accept(ctx, parent.FollowUpTo(now, wait), Claim{})
	if err != nil {
		return "", chat.Promise{}, fmt.Errorf("promise a follow-up to %s: %w", parent.ID, err)
	}
	if t.Status.Ended() || !now.Before(t.Deadline) {
		return "", chat.Promise{}, errors.Join(fmt.Errorf("promise a follow-up to %s: %w", parent.ID, ErrEnded), q.freeTexts(ctx, holdOf(&t)))
	}
	places := holdOf(&t)
	places.from = now
	in, err := q.holdTexts(ctx, places, caps)
	if err == nil && !in {
		// Whoever takes the follow-up drops it where this does not.
		_, _ = q.Cancel(ctx, t.ID, chat.ReasonUnpromised, now)
		err = ErrCapped
	}
	if err != nil {
		return "", chat.Promise{}, fmt.Errorf("promise a follow-up to %s: %w", parent.ID, err)
	}
	o, err := q.writeOwed(ctx, PromiseOpen, Owed{
		ID: t.ID, Parent: parent.ID, Tenant: t.Tenant, Session: t.Session, Language: t.Language, Epoch: t.Epoch, Phone: t.Phone,
		Promise: chat.Promise{Channel: chat.ChannelSMS, Status: chat.Promised, DueAt: t.Deadline},
		MadeAt:  now, At: now,
	})
	if errors.Is(err, ErrLost) {
		o, err = q.openOwed(ctx, t.ID)
	}
	if err == nil && o.Status != chat.Promised {
		err = fmt.Errorf("promise a follow-up to %s: %w", parent.ID, ErrEnded)
	}
	return t.ID, o.Promise, err
}

// tellPromised lets the session of an ended ticket know of the promise that its end made.
func (q *Queue) tellPromised(ctx context.Context, t *chat.Ticket) error {
	at := t.AcceptedAt
	if t.EndedAt != nil {
		at = *t.EndedAt
	}
	made := chat.Promise{Channel: chat.ChannelSMS, Status: chat.Promised, DueAt: at}
	if t.Promise != nil {
		made = *t.Promise
	}
	followUp := &chat.Ticket{ID: t.FollowUp, Tenant: t.Tenant, Session: t.Session}
	_, err := q.appendAs(ctx, PromiseMade, followUp, string(chat.Promised), chat.PromiseEvent(t.FollowUp, t.ID, made, at))
	return err
}

// followedUp notes on the promise how its follow-up ended: a full answer has 30 s to be
// read, any other end settles the promise.
func (q *Queue) followedUp(ctx context.Context, t *chat.Ticket, seq uint64) error {
	if t.Status == chat.Answered && t.Route != chat.RouteTemplate {
		_, err := q.changeOwed(ctx, PromiseAnswer, t.ID, func(o *Owed) bool {
			if o.Status != chat.Promised || o.Answer != nil {
				return false
			}
			o.Answer = &FullAnswer{Seq: seq, At: *t.EndedAt}
			return true
		})
		return unlessClosed(err)
	}
	status := chat.PromiseBroken
	if t.Status == chat.Cancelled {
		status = chat.PromiseCancelled
	}
	_, err := q.SettlePromise(ctx, t.ID, status, t.Reason, *t.EndedAt)
	return unlessClosed(err)
}

// unlessClosed forgets that a promise is open no more.
func unlessClosed(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// MayFollow is what a follow-up has to do now.
type MayFollow int

// The verdicts about a follow-up.
const (
	FollowLater MayFollow = iota // its parent has not ended, or its session waits for another answer
	FollowNow
	FollowNever // nobody was promised it
)

// MayFollow says what a follow-up has to do now, and gives the newest events of its session,
// at most keep of them. It waits for every interactive ticket of the session.
func (q *Queue) MayFollow(ctx context.Context, t *chat.Ticket, keep int) (MayFollow, []chat.Event, error) {
	named, ended, err := q.named(ctx, t.Tenant, t.Parent, t.ID)
	switch {
	case err != nil:
		return FollowLater, nil, err
	case ended && !named:
		return FollowNever, nil, nil
	case !ended:
		return FollowLater, nil, nil
	}
	past, err := q.Past(ctx, t.Tenant, t.Session, keep)
	if err != nil || len(past.Open) > 0 {
		return FollowLater, nil, err
	}
	return FollowNow, past.Events, nil
}

// named reports whether a ticket has ended, and whether its end names the follow-up. One
// that the bucket does not know any more ended: its story tells.
func (q *Queue) named(ctx context.Context, tenant, parent, id string) (named, ended bool, err error) {
	s, err := q.Ticket(ctx, parent)
	if errors.Is(err, ErrNotFound) {
		told, err := q.told(ctx, tenant, parent)
		return told != nil && told.FollowUp == id, true, err
	}
	return s.FollowUp == id, s.Status.Ended(), err
}
