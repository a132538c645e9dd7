package pgvector

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	pgv "github.com/pgvector/pgvector-go"
)

// MaxDimensions is the longest vector that an index can hold.
const MaxDimensions = 4000

// Shelf names the vectors of one version of a knowledge in one space.
type Shelf struct {
	Tenant     string // empty: the knowledge that all tenants share
	Version    string // of the knowledge
	Space      string // what the vectors are of: the model and what else they depend on
	Dimensions int    // of each vector
	Passages   int    // how many vectors there are, numbered from 0
}

// Read returns the vectors from one number to before another, in their order. One of zeros,
// or nil, has no direction: it is near to nothing and is left out.
type Read func(ctx context.Context, from, to int) ([][]float32, error)

// Index is a shelf that is complete and can be searched.
type Index struct {
	store      *Store
	id         int64
	dimensions int
}

// entry is a line of the list of shelves.
type entry struct {
	id      int64
	written int
	ready   bool
}

// Fill writes what a shelf lacks, a batch in each transaction, builds its index and returns
// it. What is written stays when it ends early, and the next call goes on from there, in
// whichever process. Of several that fill the same shelf at once one writes, and the others
// get an error for which Busy is true.
func (s *Store) Fill(ctx context.Context, shelf Shelf, read Read) (*Index, error) {
	if shelf.Dimensions < 1 || shelf.Dimensions > MaxDimensions {
		return nil, fmt.Errorf("vectors of %d dimensions: an index holds 1 to %d", shelf.Dimensions, MaxDimensions)
	}
	for {
		at, err := s.enter(ctx, shelf)
		if err != nil {
			return nil, err
		}
		if at.ready {
			x := &Index{s, at.id, shelf.Dimensions}
			if there, err := x.Use(ctx); err != nil || there {
				return x, err
			}
			continue // it was swept this very moment
		}
		if at.written >= shelf.Passages {
			if err := s.build(ctx, at.id); err != nil {
				return nil, err
			}
			continue
		}
		to := min(at.written+s.cfg.Batch, shelf.Passages)
		vectors, err := read(ctx, at.written, to)
		if err == nil && len(vectors) != to-at.written {
			err = fmt.Errorf("%d vectors, want %d", len(vectors), to-at.written)
		}
		if err != nil {
			return nil, fmt.Errorf("read vectors %d to %d: %w", at.written, to, err)
		}
		if err := s.write(ctx, at, shelf, vectors); err != nil {
			return nil, err
		}
	}
}

// Busy reports whether another process is at what was asked for: later it will be done.
func Busy(err error) bool { return errors.Is(err, errElsewhere) }

// enter returns the line of a shelf, and begins one where there is none.
func (s *Store) enter(ctx context.Context, shelf Shelf) (at entry, err error) {
	const find = `select id, written, ready from sluice_vectors.shelves
		where tenant = $1 and version = $2 and space = $3 and dimensions = $4`
	key := []any{shelf.Tenant, shelf.Version, shelf.Space, shelf.Dimensions}
	err = s.pool.QueryRow(ctx, find, key...).Scan(&at.id, &at.written, &at.ready)
	if errors.Is(err, pgx.ErrNoRows) {
		_, err = s.pool.Exec(ctx, `insert into sluice_vectors.shelves (tenant, version, space, dimensions, passages)
			values ($1, $2, $3, $4, $5) on conflict do nothing`, append(key, shelf.Passages)...)
		if err == nil {
			err = s.pool.QueryRow(ctx, find, key...).Scan(&at.id, &at.written, &at.ready)
		}
	}
	if err != nil {
		return at, fmt.Errorf("find the shelf: %w", err)
	}
	return at, nil
}

// write adds vectors to a shelf, unless somebody else is at it or was before.
func (s *Store) write(ctx context.Context, at entry, shelf Shelf, vectors [][]float32) error {
	err := s.alone(ctx, at.id, func(tx pgx.Tx, written int) error {
		if written != at.written {
			return nil // the next look begins where the others are
		}
		if _, err := tx.Exec(ctx, fmt.Sprintf("create table if not exists %s (number integer primary key, vector halfvec(%d) not null)",
			table(at.id), shelf.Dimensions)); err != nil {
			return err
		}
		insert := fmt.Sprintf("insert into %s (number, vector) values ($1, $2) on conflict do nothing", table(at.id))
		var batch pgx.Batch
		for i, v := range vectors {
			if directed(v) {
				batch.Queue(insert, at.written+i, pgv.NewHalfVector(v))
			}
		}
		batch.Queue("update sluice_vectors.shelves set written = $2, used_at = now() where id = $1", at.id, at.written+len(vectors))
		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return fmt.Errorf("write vectors %d to %d: %w", at.written, at.written+len(vectors), err)
	}
	return nil
}

// build makes the index of a shelf whose vectors are all there. That is quicker than to keep
// it while they come in, and nobody searches before.
func (s *Store) build(ctx context.Context, id int64) error {
	err := s.alone(ctx, id, func(tx pgx.Tx, _ int) error {
		_, err := tx.Exec(ctx, fmt.Sprintf("create index if not exists shelf_%d_nearest on %s using hnsw (vector halfvec_cosine_ops)", id, table(id)))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "update sluice_vectors.shelves set ready = true, used_at = now() where id = $1", id)
		return err
	})
	if err != nil {
		return fmt.Errorf("build the index of the vectors: %w", err)
	}
	return nil
}

// alone runs do in a transaction that holds the line of a shelf: the database gives it to one
// at a time, and takes it back from a process that dies.
func (s *Store) alone(ctx context.Context, id int64, do func(tx pgx.Tx, written int) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var written int
		err := tx.QueryRow(ctx, "select written from sluice_vectors.shelves where id = $1 for update skip locked", id).Scan(&written)
		if errors.Is(err, pgx.ErrNoRows) {
			return errElsewhere
		}
		if err != nil {
			return err
		}
		return do(tx, written)
	})
}

func table(id int64) string { return fmt.Sprintf("sluice_vectors.shelf_%d", id) }

// directed reports whether a vector points anywhere.
func directed(v []float32) bool {
	for _, x := range v {
		if x != 0 {
			return true
		}
	}
	return false
}
