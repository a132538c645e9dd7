package pgvector

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// MaxShelves is how many shelves a tenant has at the most; further ones go, those that were
// used longest ago first.
const MaxShelves = 8

// sweepLock is how long the removal of a shelf waits for searches that still run.
const sweepLock = "2s"

// Sweep removes the shelves that nobody has used for as long as keep says, and those beyond
// MaxShelves. It returns how many went. Time is the database's. Several at once do no harm,
// and one that is being written stays.
func (s *Store) Sweep(ctx context.Context, keep time.Duration) (int, error) {
	rows, err := s.pool.Query(ctx, `select id from (
			select id, used_at, row_number() over (partition by tenant order by used_at desc, id desc) as place from sluice_vectors.shelves) s
		where used_at < now() - make_interval(secs => $1) or place > $2`, keep.Seconds(), MaxShelves)
	if err != nil {
		return 0, fmt.Errorf("sweep the shelves: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return 0, fmt.Errorf("sweep the shelves: %w", err)
	}
	swept := 0
	for _, id := range ids {
		err := s.alone(ctx, id, func(tx pgx.Tx, _ int) error { return remove(ctx, tx, id) })
		if Busy(err) {
			continue
		}
		if err != nil {
			return swept, fmt.Errorf("sweep the shelves: %w", err)
		}
		swept++
	}
	return swept, nil
}

func remove(ctx context.Context, tx pgx.Tx, id int64) error {
	for _, sql := range []string{
		"set local lock_timeout = '" + sweepLock + "'",
		"drop table if exists " + table(id),
		fmt.Sprintf("delete from sluice_vectors.shelves where id = %d", id),
	} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
