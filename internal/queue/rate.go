package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
)

// Why an answer is not rated.
var (
	ErrNotAnswered = errors.New("the ticket has no answer")
	ErrRated       = errors.New("the answer was rated otherwise before")
)

// Rating returns what the customer thinks of a ticket's answer, for as long as events are
// kept. ErrNotFound: nothing, or nothing any more.
func (q *Queue) Rating(ctx context.Context, t *chat.Ticket) (chat.Rated, error) {
	e, _, err := q.last(ctx, talkSubject(t, slotRating))
	if err != nil {
		return chat.Rated{}, err
	}
	if e == nil || e.Rating == nil {
		return chat.Rated{}, fmt.Errorf("rating of ticket %s: %w", t.ID, ErrNotFound)
	}
	return chat.Rated{Rating: *e.Rating, At: e.At}, nil
}

// Rate makes durable what a customer thinks of an answer of a session, and returns the
// event's seq. An answer is rated once: the same rating again is the same event, another one
// is ErrRated. ErrNotFound: the session has no such ticket, or it ended more than KeepTicket
// ago.
func (q *Queue) Rate(ctx context.Context, tenant, session, ticket string, r chat.Rating, now time.Time) (uint64, error) {
	s, err := q.Ticket(ctx, ticket)
	switch {
	case err != nil:
		return 0, err
	case s.Tenant != tenant || s.Session != session:
		return 0, fmt.Errorf("ticket %s of session %s: %w", ticket, session, ErrNotFound)
	case s.Status != chat.Answered:
		return 0, fmt.Errorf("rate ticket %s: %w", ticket, ErrNotAnswered)
	}
	seq, err := q.appendAs(ctx, RateEvent, &s.Ticket, slotRating, s.RatingEvent(r, now))
	if err != nil {
		return 0, err
	}
	there, _, err := q.last(ctx, talkSubject(&s.Ticket, slotRating))
	if err != nil {
		return 0, err
	}
	if there != nil && (there.Rating == nil || *there.Rating != r) {
		return there.Seq, fmt.Errorf("rate ticket %s: %w", ticket, ErrRated)
	}
	return seq, nil
}
