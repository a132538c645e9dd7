package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
)

// RequeueDead asks the question of a dead letter again: a new ticket with RetryOf, taken
// in like any other message, and then the letter goes. However often it is called, and
// wherever one call was cut short, there is one new ticket: dup says that it had been
// accepted before. Errors: ErrNotFound, and those of Accept, after which the letter stays.
func (q *Queue) RequeueDead(ctx context.Context, id string, now time.Time) (_ chat.Ticket, dup bool, err error) {
	again := requeuedID(id)
	letter, err := q.DeadLetter(ctx, id)
	if errors.Is(err, ErrNotFound) {
		s, again := q.Ticket(ctx, again)
		if again == nil {
			return s.Ticket, true, nil // requeued before; its answer may have been lost
		}
		if !errors.Is(again, ErrNotFound) {
			err = again
		}
	}
	if err != nil {
		return chat.Ticket{}, false, err
	}
	t, dup, err := q.askAgain(ctx, letter.Ticket.Again(again, now))
	if err != nil {
		return t, false, err
	}
	q.letterGoes(ctx, t.ID, id)
	return t, dup, nil
}

// Requeue asks the question of an ended ticket again: a new ticket with RetryOf. It is the
// one that RequeueDead makes of the ticket's dead letter, which goes as well: of one ticket
// comes one new one, however often it is called. Errors are those of Accept.
func (q *Queue) Requeue(ctx context.Context, ended chat.Ticket, now time.Time) (_ chat.Ticket, dup bool, err error) {
	t, dup, err := q.askAgain(ctx, ended.Again(requeuedID(ended.ID), now))
	if err == nil && ended.Dead {
		q.letterGoes(ctx, t.ID, ended.ID)
	}
	return t, dup, err
}

// Requeued returns the ticket that a ticket was requeued as, or ErrNotFound.
func (q *Queue) Requeued(ctx context.Context, id string) (chat.Ticket, error) {
	return q.TicketOrStory(ctx, requeuedID(id))
}

// letterGoes removes the dead letter of a ticket that was accepted anew: a caller who leaves
// must not keep it.
func (q *Queue) letterGoes(ctx context.Context, accepted, letter string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	err := q.before(RequeueLetter, accepted)
	if err == nil {
		err = q.DeleteDead(ctx, letter)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		q.log.Warn().Err(err).Str("ticket", letter).Msg("requeued, its dead letter stays until it is requeued again or deleted")
	}
}

// askAgain accepts the ticket, unless it was accepted and has ended so long ago that
// its bucket knows it no more.
func (q *Queue) askAgain(ctx context.Context, t chat.Ticket) (chat.Ticket, bool, error) {
	ended, err := q.told(ctx, t.Tenant, t.ID)
	if err != nil {
		return t, false, err
	}
	if ended != nil {
		return *ended, true, nil
	}
	t, dup, err := q.Accept(ctx, t, Claim{})
	if err != nil {
		return t, false, fmt.Errorf("requeue %s: %w", t.RetryOf, err)
	}
	return t, dup, nil
}

// requeuedID is the id of the ticket that a dead letter is requeued as: no two can come
// of one letter.
func requeuedID(id string) string { return chat.DerivedTicketID("requeue", id) }
