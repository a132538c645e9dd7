package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// keepBatch is how long the record of a batch is kept after its last write.
const keepBatch = 90 * 24 * time.Hour

// The keys of a batch in its bucket.
const (
	batchRecord = "record." // + id: the record
	batchOpen   = "open."   // + id: it is not told of yet
	batchMark   = "mark."   // + id and number of the chunk: how each line stands
)

// Batch is the record of a batch, which only compare-and-set writes change. Its creation
// is the acceptance.
type Batch struct {
	ID     string `json:"id"`
	Tenant string `json:"tenant"`
	Total  int    `json:"total"`
	Spool  string `json:"spool"`  // where the lines are that have no ticket yet
	Cursor int    `json:"cursor"` // so many lines have their tickets

	CreatedAt time.Time `json:"created_at"`
	Deadline  time.Time `json:"deadline"` // what has not ended then is cancelled

	Stop      chat.Reason `json:"stop,omitempty"` // why what had not ended is cancelled; empty: it is not
	StoppedAt *time.Time  `json:"stopped_at,omitempty"`

	// The first chunks whose lines have all ended, and what they came to: nobody need
	// count them again.
	Settled int        `json:"settled,omitempty"`
	Before  LineCounts `json:"before,omitzero"`

	EndedAt *time.Time `json:"ended_at,omitempty"` // of the last line
	Told    bool       `json:"told,omitempty"`     // whoever asked for it knows of the end

	Rev uint64 `json:"-"`
}

// LineCounts is how many lines of a batch stand how. Queued are also those without a
// ticket.
type LineCounts struct {
	Queued    int `json:"queued,omitempty"`
	Running   int `json:"running,omitempty"`
	Answered  int `json:"answered,omitempty"`
	Failed    int `json:"failed,omitempty"`
	Cancelled int `json:"cancelled,omitempty"`
}

// Ended returns how many lines have ended.
func (c LineCounts) Ended() int { return c.Answered + c.Failed + c.Cancelled }

// Status returns where the batch stands.
func (b *Batch) Status() chat.BatchStatus {
	switch {
	case b.Stop == chat.ReasonOverdue:
		return chat.BatchExpired
	case b.Stop != "":
		return chat.BatchCancelled
	case b.EndedAt != nil:
		return chat.BatchCompleted
	}
	return chat.BatchInProgress
}

// Batch reads the record of a batch. ErrNotFound: there is none, or it ended long ago.
func (q *Queue) Batch(ctx context.Context, id string) (Batch, error) {
	entry, err := q.batches.Get(ctx, batchRecord+id)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Batch{}, fmt.Errorf("batch %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return Batch{}, fmt.Errorf("read batch %s: %w", id, err)
	}
	return decodeBatch(entry)
}

func decodeBatch(entry jetstream.KeyValueEntry) (Batch, error) {
	b := Batch{Rev: entry.Revision()}
	if err := json.Unmarshal(entry.Value(), &b); err != nil {
		return Batch{}, fmt.Errorf("decode batch %s: %w", entry.Key(), err)
	}
	return b, nil
}

// writeBatch replaces the record if it still has the revision b.Rev. ErrLost: it does not.
func (q *Queue) writeBatch(ctx context.Context, p Point, b Batch) (Batch, error) {
	if err := q.before(p, b.ID); err != nil {
		return b, err
	}
	body, err := json.Marshal(b)
	if err != nil {
		return b, fmt.Errorf("encode batch %s: %w", b.ID, err)
	}
	rev, err := q.putBatchKey(ctx, batchRecord+b.ID, body, b.Rev)
	if outpaced(err) {
		return b, fmt.Errorf("write batch %s: %w", b.ID, ErrLost)
	}
	if err != nil {
		return b, refusal("write batch "+b.ID, err)
	}
	b.Rev = rev
	return b, nil
}

// putBatchKey writes a key of the bucket at the revision that the caller saw, 0: none; by
// a raw publish, because KeyValue.Update cannot set a time to live.
func (q *Queue) putBatchKey(ctx context.Context, key string, body []byte, rev uint64) (uint64, error) {
	var ack *jetstream.PubAck
	err := decided(ctx, func() (err error) {
		ack, err = q.js.PublishMsg(ctx, &nats.Msg{Subject: bucketSubject(batchBucket, key), Data: body},
			jetstream.WithExpectLastSequencePerSubject(rev), jetstream.WithMsgTTL(keepBatch))
		return err
	})
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// changeBatch reads a record, lets change alter it and writes it back, again and again
// until nobody came between. Change returns false where there is nothing to write.
func (q *Queue) changeBatch(ctx context.Context, p Point, id string, change func(*Batch) bool) (Batch, error) {
	for range appendTries {
		b, err := q.Batch(ctx, id)
		if err != nil || !change(&b) {
			return b, err
		}
		b, err = q.writeBatch(ctx, p, b)
		if !errors.Is(err, ErrLost) {
			return b, err
		}
	}
	return Batch{}, fmt.Errorf("change batch %s: met another writer %d times", id, appendTries)
}

// StopBatch decides that what has not ended of a batch is cancelled for a reason. The
// lines are cancelled afterwards, whoever comes first. ErrEnded: it had ended, or had been
// stopped.
func (q *Queue) StopBatch(ctx context.Context, id string, reason chat.Reason, now time.Time) (Batch, error) {
	stopped := false
	b, err := q.changeBatch(ctx, BatchStop, id, func(b *Batch) bool {
		stopped = b.EndedAt == nil && b.Stop == ""
		b.Stop, b.StoppedAt = reason, &now
		return stopped
	})
	if err == nil && !stopped {
		b, err = q.Batch(ctx, id)
		return b, errors.Join(err, fmt.Errorf("stop batch %s: %w", id, ErrEnded))
	}
	return b, err
}

// MoveCursor notes that the lines up to cursor have their tickets, and how many of the
// first chunks need not be counted again. ErrLost: somebody else has changed the record.
func (q *Queue) MoveCursor(ctx context.Context, b Batch, cursor int) (Batch, error) {
	b.Cursor = cursor
	return q.writeBatch(ctx, BatchCursor, b)
}
