package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"sluice/internal/chat"
)

// The most tickets, and the most marks, of one answer.
const (
	mostTickets = 1000
	mostMarks   = 10_000
)

// Search returns the tickets that the filter takes, whole and newest first, of those after a mark (zero: from the newest
// on), at most limit of them and never more than 1000. It knows those that have ended and were recorded.
func (l *Ledger) Search(ctx context.Context, f chat.TicketFilter, after chat.TicketMark, limit int) ([]json.RawMessage, error) {
	where, args := conditions(f, after)
	rows, _ := l.pool.Query(ctx, "select body from tickets"+where+newestFirst(&args, min(max(limit, 0), mostTickets)), args...)
	found, err := pgx.CollectRows(rows, pgx.RowTo[json.RawMessage])
	if err != nil {
		return nil, fmt.Errorf("search tickets: %w", err)
	}
	return found, nil
}

// Marks is Search for the places of the tickets alone, at most 10,000 of them.
func (l *Ledger) Marks(ctx context.Context, f chat.TicketFilter, after chat.TicketMark, limit int) ([]chat.TicketMark, error) {
	where, args := conditions(f, after)
	rows, _ := l.pool.Query(ctx, "select accepted_at, id from tickets"+where+newestFirst(&args, min(max(limit, 0), mostMarks)), args...)
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m chat.TicketMark, err error) {
		err = row.Scan(&m.At, &m.ID)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("search marks of tickets: %w", err)
	}
	return found, nil
}

// TicketOf returns the ticket with an id, whosever it is, or ErrNotFound.
func (l *Ledger) TicketOf(ctx context.Context, id string) (TicketRow, error) {
	rows, _ := l.pool.Query(ctx, "select "+ticketColumns+" from tickets where id = $1 limit 1", cleanText(id))
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[TicketRow])
	if errors.Is(err, pgx.ErrNoRows) {
		return TicketRow{}, ErrNotFound
	}
	if err != nil {
		return TicketRow{}, fmt.Errorf("read ticket: %w", err)
	}
	return row, nil
}

func newestFirst(args *[]any, limit int) string {
	*args = append(*args, limit)
	return fmt.Sprintf(" order by accepted_at desc, id desc limit $%d", len(*args))
}

// conditions says which rows a filter takes. A status and whether there is a reason are said in the words of the
// indexes that hold only such rows.
func conditions(f chat.TicketFilter, after chat.TicketMark) (string, []any) {
	var all []string
	var args []any
	add := func(condition string, values ...any) {
		places := make([]any, len(values))
		for i, v := range values {
			args = append(args, v)
			places[i] = len(args)
		}
		all = append(all, fmt.Sprintf(condition, places...))
	}
	for _, c := range []struct{ column, value string }{
		{"tenant", f.Tenant}, {"session", f.Session}, {"route", string(f.Route)}, {"lane", string(f.Lane)}, {"reason", string(f.Reason)},
	} {
		if c.value != "" {
			add(c.column+" = $%d", cleanText(c.value))
		}
	}
	if f.Reason != "" {
		add("reason <> ''")
	}
	switch {
	case !f.Ended():
		add("false")
	case f.Status == chat.Answered:
		add("status = 'answered'")
	case f.Status != "":
		add("status = $%d and status <> 'answered'", string(f.Status))
	}
	if !f.From.IsZero() {
		add("accepted_at >= $%d", f.From.Truncate(time.Microsecond))
	}
	if !f.To.IsZero() {
		add("accepted_at < $%d", f.To.Truncate(time.Microsecond))
	}
	if !after.IsZero() {
		add("(accepted_at, id) < ($%d, $%d)", after.At, after.ID)
	}
	if len(all) == 0 {
		return "", nil
	}
	return " where " + strings.Join(all, " and "), args
}
