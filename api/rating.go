package api

import (
	"context"
	"errors"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// Ratings is what customers think of answers, from history. Its errors are those of History.
type Ratings interface {
	// Rating returns what the customer thinks of one ticket's answer.
	Rating(ctx context.Context, tenant, ticket string) (chat.Rated, error)
	// Ratings returns ratings that are older than the one of a ticket at an instant, the
	// newest first; an empty tenant is all of them, a zero instant begins with the newest.
	Ratings(ctx context.Context, tenant string, at time.Time, ticket string, limit int) ([]RatedAnswer, error)
}

// rated returns what the customer thinks of a ticket's answer; nil: nothing is known. Of
// tickets that are older than the events which are kept history tells; where that is away,
// the ticket is shown without its rating.
func (a *API) rated(ctx context.Context, t *chat.Ticket) (*chat.Rated, error) {
	if t.Status != chat.Answered || t.Batch != "" {
		return nil, nil
	}
	r, err := a.deps.Queue.Rating(ctx, t)
	if errors.Is(err, queue.ErrNotFound) && a.deps.Ratings != nil && ageOf(t, time.Now()) > a.deps.Rules().Retention.Events {
		if r, err = a.deps.Ratings.Rating(ctx, t.Tenant, t.ID); err != nil && !errors.Is(err, queue.ErrNotFound) {
			a.deps.Log.Warn().Err(err).Str("stage", "api").Str("ticket", t.ID).Msg("whether an answer was rated is not known now")
			return nil, nil
		}
	}
	switch {
	case errors.Is(err, queue.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, unavailable(err)
	}
	return &r, nil
}

func ageOf(t *chat.Ticket, now time.Time) time.Duration {
	if t.EndedAt == nil {
		return 0
	}
	return now.Sub(*t.EndedAt)
}
