package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// How many batches may be open at once, in all and of one tenant.
const (
	maxOpenBatches   = 1000
	maxTenantBatches = 100
)

// ErrBatches says that too many batches are open.
var ErrBatches = errors.New("too many batches are open")

type openMark struct {
	Tenant string `json:"tenant"`
}

// AcceptBatch makes a batch durable whose lines are spooled. dup: the claim's batch had
// been accepted before, and is returned as it stands now; the spool is not needed then.
// Errors: ErrReused, ErrBatches, ErrStorage; nothing is kept.
func (q *Queue) AcceptBatch(ctx context.Context, b Batch, c Claim) (_ Batch, dup bool, err error) {
	if c.Key != "" {
		if b.ID, err = q.claimBatch(ctx, b, c); err != nil {
			return b, false, err
		}
		found, err := q.Batch(ctx, b.ID)
		if err == nil || !errors.Is(err, ErrNotFound) {
			return found, err == nil, err
		}
	}
	if _, err := q.PartAfter(ctx, b); err != nil {
		return b, false, err // swept, because its upload took too long
	}
	if err := q.listBatch(ctx, b); err != nil {
		return b, false, err
	}
	// Whoever acted on the key at the same time has made the same record.
	made, err := q.writeBatch(ctx, BatchRecord, b)
	if errors.Is(err, ErrLost) {
		made, err = q.Batch(ctx, b.ID)
		return made, err == nil, err
	}
	return made, false, err
}

// claimBatch returns the id that the key's batch has, or b's own if the key is new.
func (q *Queue) claimBatch(ctx context.Context, b Batch, c Claim) (string, error) {
	sum := sha256.Sum256([]byte(c.Key))
	key := b.Tenant + "." + hex.EncodeToString(sum[:])
	body, err := json.Marshal(claimRecord{Ticket: b.ID, Body: c.Body})
	if err != nil {
		return "", fmt.Errorf("encode claim: %w", err)
	}
	if err := q.before(BatchKey, b.ID); err != nil {
		return "", err
	}
	err = decided(ctx, func() error {
		_, err := q.keys.Create(ctx, key, body)
		return err
	})
	if !outpaced(err) {
		return b.ID, refusal("claim key", err)
	}
	entry, err := q.keys.Get(ctx, key)
	if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	var rec claimRecord
	if err := json.Unmarshal(entry.Value(), &rec); err != nil {
		return "", fmt.Errorf("decode key: %w", err)
	}
	if rec.Body != c.Body {
		return "", ErrReused
	}
	return rec.Ticket, nil
}

// listBatch lists a batch as open before its record is there, so that no record is ever
// overlooked.
func (q *Queue) listBatch(ctx context.Context, b Batch) error {
	open, own := 0, 0
	err := q.eachBatchKey(ctx, batchOpen+"*", func(entry jetstream.KeyValueEntry) {
		var m openMark
		_ = json.Unmarshal(entry.Value(), &m) // one that cannot be read counts in all
		open++
		if m.Tenant == b.Tenant {
			own++
		}
	})
	if err != nil {
		return err
	}
	if open >= maxOpenBatches || own >= maxTenantBatches {
		return fmt.Errorf("%d open, %d of the tenant: %w", open, own, ErrBatches)
	}
	if err := q.before(BatchOpen, b.ID); err != nil {
		return err
	}
	body, err := json.Marshal(openMark{Tenant: b.Tenant})
	if err != nil {
		return fmt.Errorf("encode batch %s: %w", b.ID, err)
	}
	_, err = q.batches.Put(ctx, batchOpen+b.ID, body)
	return refusal("list batch "+b.ID, err)
}

// closeBatch takes a batch off the list of open ones.
func (q *Queue) closeBatch(ctx context.Context, id string) error {
	if err := q.before(BatchClosed, id); err != nil {
		return err
	}
	if err := q.batches.Purge(ctx, batchOpen+id, jetstream.PurgeTTL(time.Minute)); err != nil {
		return fmt.Errorf("close batch %s: %w", id, err)
	}
	return nil
}

// OpenBatches returns the batches that whoever asked for them was not told of yet, the
// oldest first. A listed one whose record never came is forgotten once it is old.
func (q *Queue) OpenBatches(ctx context.Context) ([]Batch, error) {
	var listed []jetstream.KeyValueEntry
	err := q.eachBatchKey(ctx, batchOpen+"*", func(entry jetstream.KeyValueEntry) { listed = append(listed, entry) })
	if err != nil {
		return nil, err
	}
	var open []Batch
	for _, entry := range listed {
		id := entry.Key()[len(batchOpen):]
		b, err := q.Batch(ctx, id)
		switch {
		case err == nil:
			open = append(open, b)
		case !errors.Is(err, ErrNotFound):
			return nil, err
		case time.Since(entry.Created()) > StaleSpool:
			if err := q.closeBatch(ctx, id); err != nil {
				return nil, err
			}
		}
	}
	sortBatches(open)
	return open, nil
}

// eachBatchKey gives the keys under a pattern to visit, as they were when it was called.
func (q *Queue) eachBatchKey(ctx context.Context, pattern string, visit func(jetstream.KeyValueEntry)) error {
	if err := eachKey(ctx, q.batches, pattern, visit); err != nil {
		return fmt.Errorf("read the batches: %w", err)
	}
	return nil
}

// DropBatch removes what is spooled of a batch that was not accepted.
func (q *Queue) DropBatch(ctx context.Context, spool string) error {
	if !chat.IsBatchID(spool) {
		return fmt.Errorf("spool %q: %w", spool, ErrNotFound)
	}
	if err := q.spool.Purge(ctx, jetstream.WithPurgeSubject(spoolSubject(spool, "*"))); err != nil {
		return fmt.Errorf("remove spool %s: %w", spool, err)
	}
	return nil
}
