// Package record is the recorder: it projects what the engine tells into the ledger,
// in batches and idempotently.
//
// Comes in: ended tickets (story.<tenant>.<ticket>) and durable events
// (talk.<tenant>.<session>.<ticket>.<slot>). Goes out: rows of the ledger. A message is
// acknowledged after its row is committed; while the database is away nothing is
// taken, and nothing is lost for as long as the engine keeps its logs.
package record

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/ledger"
	"sluice/internal/queue"
)

// Size of a batch, how long one is waited for, and the pauses while the database is away.
const (
	batchSize = 500
	batchWait = time.Second
	awayPause = time.Second
)

// Recorder copies both sources into the ledger.
type Recorder struct {
	queue *queue.Queue
	book  func() *ledger.Ledger
	keep  func() time.Duration
	log   zerolog.Logger
}

// New returns a recorder. book returns the ledger, or nil while there is none; the
// ledger keeps tickets and events for as long as keep says at the time.
func New(q *queue.Queue, book func() *ledger.Ledger, keep func() time.Duration, log zerolog.Logger) *Recorder {
	return &Recorder{queue: q, book: book, keep: keep, log: log.With().Str("stage", "recorder").Logger()}
}

// Run records until ctx ends. It never fails: whatever is away is waited for.
func (r *Recorder) Run(ctx context.Context) error {
	var work sync.WaitGroup
	for _, src := range []queue.Source{queue.Stories, queue.Talks} {
		work.Go(func() { r.follow(ctx, src) })
	}
	work.Go(func() { r.retain(ctx) })
	work.Wait()
	return nil
}

// follow copies one source.
func (r *Recorder) follow(ctx context.Context, src queue.Source) {
	away := false
	for ctx.Err() == nil {
		book := r.book()
		if book == nil || away && book.Ping(ctx) != nil {
			pause(ctx, awayPause)
			continue
		}
		away = false
		batch, err := r.queue.Records(ctx, src, batchSize, batchWait)
		if err != nil {
			if ctx.Err() == nil {
				r.log.Warn().Err(err).Str("source", string(src)).Msg("read what is to be recorded")
			}
			pause(ctx, awayPause)
			continue
		}
		if len(batch) > 0 {
			away = !r.write(ctx, book, batch)
		}
	}
}

// write commits a batch and acknowledges it; false: the database is away and the
// batch comes again. A record that the database refuses for its content is found by halving
// and left out with a line in the log: it must not stop the others.
func (r *Recorder) write(ctx context.Context, book *ledger.Ledger, batch []*queue.Record) bool {
	err := record(ctx, book, batch)
	switch {
	case err == nil:
		r.done(batch)
	case ledger.IsData(err) && len(batch) > 1:
		half := len(batch) / 2
		first := r.write(ctx, book, batch[:half])
		return r.write(ctx, book, batch[half:]) && first
	case ledger.IsData(err):
		r.log.Error().Err(err).Str("tenant", batch[0].Tenant).Uint64("rev", batch[0].Rev).Msg("the ledger refuses a record, left out")
		r.done(batch)
	default:
		if ctx.Err() == nil {
			r.log.Warn().Err(err).Int("records", len(batch)).Msg("the ledger is away, recording later")
		}
		for _, rec := range batch {
			rec.Retry(awayPause)
		}
		return false
	}
	return true
}

func (r *Recorder) done(batch []*queue.Record) {
	for _, rec := range batch {
		// A lost acknowledgement brings the record again, which changes no row.
		if err := rec.Done(); err != nil {
			r.log.Warn().Err(err).Msg("acknowledge a record")
			return
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
