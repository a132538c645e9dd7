package pgvector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	pgv "github.com/pgvector/pgvector-go"

	"sluice/internal/gate"
	"sluice/internal/vector"
)

// MaxNearest is the most that one search finds: of more the index may miss too many.
const MaxNearest = reach / 2

// undefinedTable is the database's code for a table that is not there.
const undefinedTable = "42P01"

// Nearest returns the n vectors that are most like v by the cosine of their angle, the best
// first: nearly always the nearest ones, but an index may miss some. It answers within
// Config.Wait, or with ErrAway: at once where searches have failed of late, or where as many
// run already as there are connections beside the one that writes.
func (x *Index) Nearest(ctx context.Context, v []float32, n int) ([]vector.Near, error) {
	if len(v) != x.dimensions || !directed(v) {
		return nil, nil
	}
	guard := x.store.guard
	id, in := guard.enter(time.Now())
	if !in {
		return nil, ErrAway
	}
	searching, cancel := context.WithTimeout(ctx, x.store.cfg.Wait)
	defer cancel()
	near, err := x.search(searching, v, min(n, MaxNearest))
	guard.leave(id, outcome(ctx, err), time.Now())
	if err != nil {
		return nil, fmt.Errorf("find the nearest vectors: %w: %w", ErrAway, err)
	}
	return near, nil
}

// outcome says what an end tells of the database: nothing if the caller has left, or if the
// shelf was taken away.
func outcome(ctx context.Context, err error) gate.Outcome {
	var fault *pgconn.PgError
	switch {
	case err == nil:
		return gate.Good
	case ctx.Err() != nil, errors.As(err, &fault) && fault.Code == undefinedTable:
		return gate.Ignored
	}
	return gate.Failed
}

func (x *Index) search(ctx context.Context, v []float32, n int) ([]vector.Near, error) {
	rows, err := x.store.pool.Query(ctx, fmt.Sprintf("select number, 1 - (vector <=> $1) from %s order by vector <=> $1 limit $2", table(x.id)),
		pgv.NewHalfVector(v), n)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[vector.Near])
}

// Probe asks for something if searches are kept away just now and one more may be tried, so
// that a database which has come back is noticed without a question.
func (x *Index) Probe(ctx context.Context) {
	if x.Open() {
		return
	}
	v := make([]float32, x.dimensions)
	v[0] = 1
	_, _ = x.Nearest(ctx, v, 1) // its end is noted
}

// Open reports whether searches are let through, as far as is known now.
func (x *Index) Open() bool { return x.store.guard.closed(time.Now()) }

// Use says that the shelf is in use, so that no sweep takes it. False: it is not there any
// more, and has to be filled again.
func (x *Index) Use(ctx context.Context) (bool, error) {
	done, err := x.store.pool.Exec(ctx, "update sluice_vectors.shelves set used_at = now() where id = $1 and ready", x.id)
	if err != nil {
		return false, fmt.Errorf("say that the shelf is in use: %w", err)
	}
	return done.RowsAffected() > 0, nil
}
