package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// CountLines counts how the lines of a batch stand, by the marks of their ends: nothing
// is ever added up, so a crash leaves no count behind. What has no ticket when a batch is
// stopped counts as cancelled.
func (q *Queue) CountLines(ctx context.Context, b Batch) (LineCounts, error) {
	counts, _, _, err := q.countLines(ctx, b)
	return counts, err
}

// countLines returns also how many of the first chunks have ended, and what they came to.
func (q *Queue) countLines(ctx context.Context, b Batch) (counts LineCounts, settled int, before LineCounts, err error) {
	counts, settled, before = b.Before, b.Settled, b.Before
	for chunk := b.Settled; chunk*chunkLines < b.Total && b.EndedAt == nil; chunk++ {
		marks, _, err := q.readMarks(ctx, b.ID, chunk)
		if err != nil {
			return counts, settled, before, err
		}
		first := chunk * chunkLines
		one := countMarks(marks[:min(chunkLines, b.Total-first)], b.Cursor-first, b.Stop != "")
		counts = counts.plus(one)
		if one.Ended() == min(chunkLines, b.Total-first) && settled == chunk && b.Cursor >= min(first+chunkLines, b.Total) {
			settled, before = chunk+1, counts
		}
		if first > b.Cursor+chunkLines {
			// Nothing is marked so far ahead of the cursor.
			rest := b.Total - first - min(chunkLines, b.Total-first)
			if b.Stop != "" {
				counts.Cancelled += rest
			} else {
				counts.Queued += rest
			}
			break
		}
	}
	return counts, settled, before, nil
}

// countMarks counts a chunk; fed is how many of its lines have tickets.
func countMarks(marks []byte, fed int, stopped bool) (c LineCounts) {
	for place, mark := range marks {
		switch {
		case mark == 'a':
			c.Answered++
		case mark == 'f':
			c.Failed++
		case mark == 'c', mark == unmarked && stopped && place >= fed:
			c.Cancelled++
		case mark == 'r':
			c.Running++
		default:
			c.Queued++
		}
	}
	return c
}

func (c LineCounts) plus(d LineCounts) LineCounts {
	return LineCounts{
		Queued: c.Queued + d.Queued, Running: c.Running + d.Running, Answered: c.Answered + d.Answered,
		Failed: c.Failed + d.Failed, Cancelled: c.Cancelled + d.Cancelled,
	}
}

// SettleBatch notes which of the first chunks have ended, and where all lines have, that
// the batch has: once, whoever comes first. The counts are those of the batch that it returns:
// after meeting another writer it counts again.
func (q *Queue) SettleBatch(ctx context.Context, b Batch, now time.Time) (Batch, LineCounts, error) {
	for range appendTries {
		counts, settled, before, err := q.countLines(ctx, b)
		if err != nil || b.EndedAt != nil {
			return b, counts, err
		}
		all := settled*chunkLines >= b.Total
		if settled == b.Settled && !all {
			// The marks of a batch that has ended are removed: was it so while they were read?
			newest, err := q.Batch(ctx, b.ID)
			if err != nil || newest.EndedAt == nil {
				return b, counts, err
			}
			b = newest
			continue
		}
		next, p := b, BatchCursor
		next.Settled, next.Before = settled, before
		if all {
			next.EndedAt, p = &now, BatchEnd
		}
		done, err := q.writeBatch(ctx, p, next)
		if !errors.Is(err, ErrLost) {
			return done, counts, err
		}
		if b, err = q.Batch(ctx, b.ID); err != nil {
			return b, counts, err
		}
	}
	return b, LineCounts{}, fmt.Errorf("settle batch %s: met another writer %d times", b.ID, appendTries)
}

// FinishBatch tells of a batch that has ended and takes it off the list. tell may be
// called again after a crash: what it does must be done at most once by the batch's id.
func (q *Queue) FinishBatch(ctx context.Context, b Batch, tell func(context.Context, Batch) error) error {
	if err := q.DropBatch(ctx, b.Spool); err != nil {
		return err
	}
	if !b.Told {
		if err := tell(ctx, b); err != nil {
			return err
		}
		done, err := q.changeBatch(ctx, BatchTold, b.ID, func(b *Batch) bool {
			changed := !b.Told
			b.Told = true
			return changed
		})
		if err != nil {
			return err
		}
		b = done
	}
	for chunk := 0; chunk*chunkLines < b.Total; chunk++ {
		err := q.batches.Purge(ctx, markKey(b.ID, chunk), jetstream.PurgeTTL(time.Minute))
		if err != nil {
			return refusal("remove marks of batch "+b.ID, err)
		}
	}
	return q.closeBatch(ctx, b.ID)
}

// Batches returns up to limit batches, the newest first, of one status; empty: of all. It
// reads all records that are kept.
func (q *Queue) Batches(ctx context.Context, status chat.BatchStatus, limit int) ([]Batch, error) {
	var all []Batch
	err := q.eachBatchKey(ctx, batchRecord+"*", func(entry jetstream.KeyValueEntry) {
		b, err := decodeBatch(entry)
		if err != nil {
			q.log.Error().Err(err).Msg("batch cannot be read")
			return
		}
		if status == "" || b.Status() == status {
			all = append(all, b)
		}
	})
	sortBatches(all)
	slices.Reverse(all)
	return all[:min(len(all), limit)], err
}

func sortBatches(all []Batch) {
	slices.SortFunc(all, func(a, b Batch) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
}
