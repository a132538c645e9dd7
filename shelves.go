package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/knowledge"
	"sluice/internal/metrics"
	"sluice/internal/pgvector"
	"sluice/internal/queue"
	"sluice/internal/vector"
	"sluice/worker"
)

// Times of the shelves: how often is looked for vectors to be written, and after failures at
// the longest; how often a process says that it uses a shelf, and looks for some that nobody
// uses; and how long those are kept, so that a rollback finds them.
const (
	shelveEvery   = time.Second
	shelveLongest = 30 * time.Second
	shelfUse      = 5 * time.Minute
	shelfKeep     = time.Hour
)

// Who found the nearest passages, for the metrics.
const (
	byDatabase = "pgvector"
	byMemory   = "memory"
	byNobody   = "nobody" // words alone have to do
)

// completeVectors is the vectors of one version of the knowledge, all of which the engine
// keeps.
type completeVectors struct {
	version    string
	space      space
	dimensions int
	keys       []string    // of the passages' vectors in the engine, by number
	memory     *nearShelf  // compares them in memory; nil: they are too many
	talk       [][]float32 // of the small talk, where the floor is still to be measured
}

func (c *completeVectors) shelf() pgvector.Shelf {
	// No tenant: the knowledge is one for all of them.
	return pgvector.Shelf{Version: c.version, Space: c.space.id(), Dimensions: c.dimensions, Passages: len(c.keys)}
}

// shelves has the vectors of the knowledge written into a database with pgvector, and found
// there as soon as they are complete. While the database is away or slow, passages are found
// as if there were none: in memory, or by words where they are too many for that.
type shelves struct {
	url     string
	queue   *queue.Queue
	library *library
	metrics *metrics.Metrics
	log     zerolog.Logger
	state   atomic.Value // string, for /readyz
	fault   atomic.Pointer[error]

	// For run's goroutine.
	store    *pgvector.Store
	prepared bool
	of       *completeVectors // that index is of
	index    *pgvector.Index
	usedAt   time.Time
}

func newShelves(url string, q *queue.Queue, l *library, m *metrics.Metrics, log zerolog.Logger) *shelves {
	s := &shelves{url: url, queue: q, library: l, metrics: m, log: log.With().Str("stage", "pgvector").Logger()}
	s.state.Store("starting")
	return s
}

// run keeps the shelves until ctx ends. It fails only on settings that can never work.
func (s *shelves) run(ctx context.Context) (err error) {
	if s.store, err = pgvector.Open(ctx, pgvector.Config{URL: s.url, Log: s.log}); err != nil {
		return fmt.Errorf("SLUICE_PGVECTOR_URL: %w", err)
	}
	defer s.store.Close()
	for failures := 0; ; {
		pause := shelveEvery
		err := s.keep(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case pgvector.Busy(err):
			s.fault.Store(nil)
			failures = 0
		case err != nil:
			if failures++; failures == 1 {
				s.log.Warn().Err(err).Msg("vectors cannot be put into pgvector, passages are found without it")
			}
			pause = min(shelveEvery<<min(failures, 10), shelveLongest)
			s.fault.Store(&err)
			s.prepared = false // whatever was taken away is made again
		default:
			failures = 0
			s.fault.Store(nil)
		}
		if sleep(ctx, pause) != nil {
			return nil
		}
	}
}

// keep brings the database to what is in force.
func (s *shelves) keep(ctx context.Context) error {
	if !s.prepared {
		if err := s.store.Prepare(ctx); err != nil {
			return err
		}
		s.prepared = true
	}
	all := s.library.complete.Load()
	if all == nil {
		s.of, s.index = nil, nil
		s.state.Store("no vectors yet")
		return s.sweep(ctx)
	}
	if s.of == all && s.index != nil && time.Since(s.usedAt) < shelfUse {
		s.index.Probe(ctx)
		return nil
	}
	if s.of == all && s.index != nil {
		there, err := s.index.Use(ctx)
		if err != nil {
			return err
		}
		if there {
			return s.sweep(ctx)
		}
	}
	s.state.Store(fmt.Sprintf("writing %d vectors", len(all.keys)))
	index, err := s.store.Fill(ctx, all.shelf(), func(ctx context.Context, from, to int) ([][]float32, error) { return s.read(ctx, all.keys[from:to]) })
	if err != nil {
		return err
	}
	floor, err := floorOf(ctx, all, index)
	if err != nil {
		return err
	}
	s.of, s.index = all, index
	s.publish(all, index, floor)
	return s.sweep(ctx)
}

// read returns vectors that the engine keeps; nil for one without a direction.
func (s *shelves) read(ctx context.Context, keys []string) ([][]float32, error) {
	vectors := make([][]float32, len(keys))
	for i, key := range keys {
		raw, err := s.queue.Vector(ctx, key)
		if err != nil {
			return nil, err
		}
		if v, err := vector.Decode(raw); err == nil {
			vectors[i] = v
		}
	}
	return vectors, nil
}

// floorOf returns the likeness that strangers have to the passages, asked of the database
// where memory could not tell.
func floorOf(ctx context.Context, all *completeVectors, index *pgvector.Index) (float64, error) {
	if all.memory != nil {
		return all.memory.near.Floor, nil
	}
	var best []float64
	for _, v := range all.talk {
		near, err := index.Nearest(ctx, v, 1)
		if err != nil {
			return 0, fmt.Errorf("measure the floor: %w", err)
		}
		for _, one := range near {
			best = append(best, one.Likeness)
		}
	}
	return knowledge.Floor(best), nil
}

// publish has passages found in the database, unless other vectors have come meanwhile: those
// are noted in complete before they are found anywhere.
func (s *shelves) publish(all *completeVectors, index *pgvector.Index, floor float64) {
	before := s.library.near.Load()
	if s.library.complete.Load() != all {
		return
	}
	near := worker.Near{Space: all.space.id(), Floor: floor, Nearest: s.nearest(all, index)}
	if s.library.near.CompareAndSwap(before, &nearShelf{all.version, all.space, near, index.Open}) {
		s.state.Store("in force: " + all.space.id())
		s.log.Info().Str("version", all.version).Str("space", all.space.id()).Int("passages", len(all.keys)).
			Float64("floor", floor).Msg("the knowledge is found in pgvector")
	}
}

// nearest asks the database, and then the memory.
func (s *shelves) nearest(all *completeVectors, index *pgvector.Index) func(context.Context, []float32, int) ([]vector.Near, error) {
	return func(ctx context.Context, v []float32, n int) ([]vector.Near, error) {
		near, err := index.Nearest(ctx, v, n)
		switch {
		case err == nil:
			s.metrics.Neared(byDatabase)
			return near, nil
		case all.memory != nil:
			s.metrics.Neared(byMemory)
			return all.memory.near.Nearest(ctx, v, n)
		}
		s.metrics.Neared(byNobody)
		return nil, err
	}
}

// sweep has shelves removed that no process uses, as often as this one says what it uses.
func (s *shelves) sweep(ctx context.Context) error {
	if time.Since(s.usedAt) < shelfUse {
		return nil
	}
	s.usedAt = time.Now()
	swept, err := s.store.Sweep(ctx, shelfKeep)
	if swept > 0 {
		s.log.Info().Int("shelves", swept).Msg("vectors that nobody uses are removed from pgvector")
	}
	return err
}

// check tells /readyz whether passages are found in the database.
func (s *shelves) check(context.Context) (string, error) {
	state := s.state.Load().(string)
	if fault := s.fault.Load(); fault != nil {
		return state + "; it fails", *fault
	}
	if near := s.library.near.Load(); near != nil && near.open != nil && !near.open() {
		return state + "; away or slow", pgvector.ErrAway
	}
	return state, nil
}

// openShelves readies the database of vectors, where the settings name one and messages are
// answered here.
func (n *node) openShelves() {
	if url := n.settings.PGVectorURL; url != "" && n.roles.dispatcher {
		n.live.shelves = newShelves(url, n.engine.queue, n.live.library, n.metrics, n.log)
	}
}
