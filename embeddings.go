package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/cache"
	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/rules"
	"sluice/internal/vector"
)

// How often is looked for texts without a vector; how long after a failure, doubling up to
// the longest; and how often vectors that nobody uses are looked for.
const (
	embedEvery   = time.Second
	embedLongest = time.Minute
	embedSweep   = time.Hour
)

// crowded is the load level from which on nothing is embedded.
const crowded = 2

// embeddings keeps the vectors of the knowledge and of the FAQ, in the space of the rules
// in force, and gets those of questions. What there is in a former space serves until the
// new one is complete, and is then replaced whole: vectors of two spaces never meet. It is
// safe for concurrent use; keep is called by one goroutine.
type embeddings struct {
	embedder
	queue *queue.Queue
	live  *live
	level func(lane chat.Lane) (int, <-chan struct{})
	log   zerolog.Logger

	changed chan struct{} // holds one token when the rules have changed
	asked   *cache.Cache[[]float32]
	known   atomic.Int64 // questions whose vector was at hand
	rest    atomic.Int64 // until when no question is embedded, in Unix nanoseconds
	failing atomic.Bool  // the last import came to nothing

	// For keep's goroutine.
	refused  map[string]string   // what is too large for a table: it is told once
	failures int                 // in a row
	used     map[string][]string // keys of vectors
	part     largeWork
	turn     time.Time // until when the duty to embed is ours
	most     int       // numbers that are compared in memory
}

func newEmbeddings(q *queue.Queue, in *live, model *gate.Model, granter granter, log zerolog.Logger) (*embeddings, error) {
	e := &embeddings{
		embedder: embedder{granter, model}, queue: q, live: in, level: granter.Level,
		log: log.With().Str("stage", "embeddings").Logger(), changed: make(chan struct{}, 1), refused: map[string]string{}, used: map[string][]string{}, most: vector.MaxNumbers,
	}
	var err error
	if e.asked, err = newAsked(e.log); err != nil {
		return nil, err
	}
	in.onChange(func(*rules.Rules) { ring(e.changed) })
	return e, nil
}

// run keeps the vectors until ctx ends.
func (e *embeddings) run(ctx context.Context) error {
	defer e.asked.Close()
	swept := time.Now()
	for {
		pause := embedEvery
		err := e.keep(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case later(err):
			e.failures = 0
		case err != nil:
			if e.failures++; e.failures == 1 {
				e.log.Warn().Err(err).Msg("vectors cannot be had, what there is serves")
			}
			pause = min(embedEvery<<min(e.failures, 10), embedLongest)
		default:
			e.failures = 0
		}
		e.failing.Store(e.failures > 0)
		if err == nil && time.Since(swept) > embedSweep { // all that is used is known
			swept = time.Now()
			e.sweep(ctx)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-e.changed:
		case <-time.After(pause):
		}
	}
}

// later reports whether an import goes on by itself: somebody else is at it, or there is no
// room for it now.
func later(err error) bool {
	var refused *gate.Refusal
	return errors.Is(err, errElsewhere) || errors.Is(err, errCrowded) || errors.Is(err, errMore) ||
		errors.As(err, &refused) || errors.Is(err, context.DeadlineExceeded)
}

// keep brings the vectors to what the rules, the knowledge and the FAQ say.
func (e *embeddings) keep(ctx context.Context) error {
	want, on := spaceOf(e.live.rules())
	if !on {
		e.drop()
		return nil
	}
	return errors.Join(e.keepBooks(ctx, want), e.keepFAQ(ctx, want))
}

// drop ends the use of vectors. Those that were paid for are kept for a week.
func (e *embeddings) drop() {
	if l := e.live.library; l != nil {
		l.complete.Store(nil)
		l.near.Store(nil)
	}
	if f := e.live.faqs; f != nil && f.near.Swap(nil) != nil {
		e.live.learnAgain()
	}
}

// sweep has vectors removed that nobody uses. Of all processes one does it.
func (e *embeddings) sweep(ctx context.Context) {
	if _, on := spaceOf(e.live.rules()); !on {
		return // the week begins when somebody looks again
	}
	used := map[string]bool{}
	for _, keys := range e.used {
		for _, key := range keys {
			used[key] = true
		}
	}
	mine, err := e.queue.Duty(ctx, "vectors.sweep", embedSweep)
	swept := 0
	if err == nil && mine {
		swept, err = e.queue.SweepVectors(ctx, time.Now(), func(key string) bool { return used[key] })
	}
	switch {
	case err != nil && ctx.Err() == nil:
		e.log.Warn().Err(err).Msg("sweep of the vectors, trying again later")
	case swept > 0:
		e.log.Info().Int("vectors", swept).Msg("vectors swept")
	}
}

// check tells /readyz what is found by meaning too.
func (e *embeddings) check(context.Context) (string, error) {
	want, on := spaceOf(e.live.rules())
	if !on {
		return "off", nil
	}
	state := "no vectors yet"
	if near := e.live.knowledge().Near; near != nil {
		state = "in force: " + near.Space
	}
	if e.failing.Load() {
		state += ", none to be had of " + want.id()
	}
	counts := e.asked.Counts()
	return fmt.Sprintf("%s; questions: %d asked, %d known, %d without", state, counts.Miss, e.known.Load(), counts.Failed), nil
}
