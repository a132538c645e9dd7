package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// deleteAtOnce bounds the rows of one delete, and so how long it holds locks.
const deleteAtOnce = 10_000

// Dropped counts what retention removed.
type Dropped struct {
	Tickets int64 // rows
	Events  int64 // rows of the month that t falls into
	Months  int   // whole months of events
}

// DropBefore removes the tickets accepted and the events that happened before t. Events go by whole months, which
// costs nothing however many there are; those of the month that t falls into are deleted row by row, as tickets are, in
// many small transactions: what an error or the end of ctx leaves is removed by the next call.
func (l *Ledger) DropBefore(ctx context.Context, t time.Time) (Dropped, error) {
	var gone Dropped
	parts, err := l.partitions(ctx)
	if err != nil {
		return gone, fmt.Errorf("drop before %v: %w", t, err)
	}
	for month, name := range parts {
		switch {
		case !month.AddDate(0, 1, 0).After(t):
			err = l.dropMonth(ctx, name)
			if err == nil {
				gone.Months++
			}
		case month.Before(t):
			gone.Events, err = l.deleteBefore(ctx, name, "at", t)
		}
		if err != nil {
			return gone, fmt.Errorf("drop before %v: %w", t, err)
		}
	}
	if gone.Tickets, err = l.deleteBefore(ctx, "tickets", "accepted_at", t); err != nil {
		return gone, fmt.Errorf("drop before %v: %w", t, err)
	}
	return gone, nil
}

// partitions are the names of the months that are there.
func (l *Ledger) partitions(ctx context.Context) (map[time.Time]string, error) {
	rows, _ := l.pool.Query(ctx, `select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent = $1::text::regclass`, eventTable)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	out := map[time.Time]string{}
	for _, name := range names {
		if month, ok := parsePartition(name); ok {
			out[month] = name
		}
	}
	return out, nil
}

// dropMonth ends with the month known to be away, so that a late event makes it anew.
func (l *Ledger) dropMonth(ctx context.Context, name string) error {
	defer l.months.forget()
	return pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockFor); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "drop table if exists "+name)
		return err
	})
}

// deleteBefore deletes the table's rows whose column is before t. Both names are this package's own.
func (l *Ledger) deleteBefore(ctx context.Context, table, column string, t time.Time) (int64, error) {
	sql := fmt.Sprintf("delete from %[1]s where ctid = any (array(select ctid from %[1]s where %[2]s < $1 limit %[3]d))",
		table, column, deleteAtOnce)
	for total := int64(0); ; {
		tag, err := l.pool.Exec(ctx, sql, t)
		if err != nil {
			return total, err
		}
		if total += tag.RowsAffected(); tag.RowsAffected() < deleteAtOnce {
			return total, nil
		}
	}
}
