package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/api"
	"sluice/internal/chat"
	"sluice/internal/ledger"
	"sluice/internal/queue"
)

// Rating returns what a customer thinks of an answer that the engine may have let go, for
// the api.
func (d *database) Rating(ctx context.Context, tenant, ticket string) (chat.Rated, error) {
	book := d.ledger()
	if book == nil {
		return chat.Rated{}, errAway
	}
	row, err := book.Rating(ctx, tenant, ticket)
	if errors.Is(err, ledger.ErrNotFound) {
		return chat.Rated{}, fmt.Errorf("rating of ticket %s: %w", ticket, queue.ErrNotFound)
	}
	return chat.Rated{Rating: chat.Rating{Score: row.Score, Comment: row.Comment}, At: row.At}, err
}

// Ratings returns ratings, the newest first, for the api.
func (d *database) Ratings(ctx context.Context, tenant string, at time.Time, ticket string, limit int) ([]api.RatedAnswer, error) {
	book := d.ledger()
	if book == nil {
		return nil, errAway
	}
	rows, err := book.Ratings(ctx, tenant, at, ticket, limit)
	if err != nil {
		return nil, err
	}
	all := make([]api.RatedAnswer, 0, len(rows))
	for _, row := range rows {
		all = append(all, api.RatedAnswer{
			TicketID: row.Ticket, Tenant: row.Tenant, SessionID: row.Session, Score: row.Score, Comment: row.Comment, At: row.At,
			Route: chat.Route(row.Route), Intent: row.Intent, Lane: chat.Lane(row.Lane),
		})
	}
	return all, nil
}
