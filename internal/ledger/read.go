package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
)

const mostEvents = 1000

// Ticket returns one ticket of the tenant as it was last recorded, or ErrNotFound.
func (l *Ledger) Ticket(ctx context.Context, tenant, id string) (TicketRow, error) {
	// The error, if any, comes with the rows.
	rows, _ := l.pool.Query(ctx, "select "+ticketColumns+" from tickets where tenant = $1 and id = $2",
		cleanText(tenant), cleanText(id))
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[TicketRow])
	if errors.Is(err, pgx.ErrNoRows) {
		return TicketRow{}, ErrNotFound
	}
	if err != nil {
		return TicketRow{}, fmt.Errorf("read ticket: %w", err)
	}
	return row, nil
}

// Promise returns how the promise of a follow-up was last recorded, as JSON, or ErrNotFound.
func (l *Ledger) Promise(ctx context.Context, tenant, followUp string) (json.RawMessage, error) {
	rows, _ := l.pool.Query(ctx, "select promise from promises where tenant = $1 and id = $2", cleanText(tenant), cleanText(followUp))
	promise, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[json.RawMessage])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read promise: %w", err)
	}
	return promise, nil
}

// Events returns the session's events with a seq above after, in order, at most limit of them and never more than
// 1000. A session without events, or unknown, has none.
func (l *Ledger) Events(ctx context.Context, tenant, session string, after uint64, limit int) ([]EventRow, error) {
	rows, _ := l.pool.Query(ctx, "select "+eventColumns+` from talk_events
		where tenant = $1 and session = $2 and seq > $3 order by seq limit $4`,
		cleanText(tenant), cleanText(session), int64(min(after, math.MaxInt64)), min(max(limit, 0), mostEvents))
	out, err := pgx.CollectRows(rows, pgx.RowToStructByName[EventRow])
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return out, nil
}
