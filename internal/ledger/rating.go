package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const mostRatings = 1000

// RatingRow is what a customer thinks of an answer. Times come back in UTC.
type RatingRow struct {
	Tenant  string
	Ticket  string
	Session string
	Score   int
	Comment string // the customer's own words
	At      time.Time
	Route   string // of the answer, as the fields below; empty while its ticket is not recorded
	Intent  string
	Lane    string
}

const ratingColumns = `tenant, ticket, session, score, comment, at, route, intent, lane`

// Rating returns what was last recorded of a ticket's rating, or ErrNotFound.
func (l *Ledger) Rating(ctx context.Context, tenant, ticket string) (RatingRow, error) {
	rows, _ := l.pool.Query(ctx, "select "+ratingColumns+" from ratings where tenant = $1 and ticket = $2",
		cleanText(tenant), cleanText(ticket))
	row, err := pgx.CollectOneRow(rows, pgx.RowToStructByName[RatingRow])
	if errors.Is(err, pgx.ErrNoRows) {
		return row, ErrNotFound
	}
	if err != nil {
		return row, fmt.Errorf("read rating: %w", err)
	}
	return row, nil
}

// Ratings returns the ratings of a tenant, or of all where tenant is empty, that are older
// than the one of a ticket at an instant, the newest first, at most limit of them and never
// more than 1000. A zero instant begins with the newest of all.
func (l *Ledger) Ratings(ctx context.Context, tenant string, at time.Time, ticket string, limit int) ([]RatingRow, error) {
	var before *time.Time
	if !at.IsZero() {
		before = &at
	}
	rows, _ := l.pool.Query(ctx, "select "+ratingColumns+` from ratings
		where ($1 = '' or tenant = $1) and ($2::timestamptz is null or (at, ticket) < ($2, $3))
		order by at desc, ticket desc limit $4`,
		cleanText(tenant), before, cleanText(ticket), min(max(limit, 0), mostRatings))
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[RatingRow])
	if err != nil {
		return nil, fmt.Errorf("read ratings: %w", err)
	}
	return all, nil
}
