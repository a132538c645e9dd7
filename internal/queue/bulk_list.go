package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const bulkList = "list"

// bulkIndex names the bulk actions that there are.
type bulkIndex struct {
	Running []string `json:"running"`
	Ended   []string `json:"ended"` // the newest last
}

// ListBulkEnd moves a bulk action to those that have ended, and forgets the oldest of them.
func (q *Queue) ListBulkEnd(ctx context.Context, id string) error {
	var forgotten []string
	err := q.changeBulkIndex(ctx, func(all *bulkIndex) error {
		all.Running = slices.DeleteFunc(all.Running, func(other string) bool { return other == id })
		if !slices.Contains(all.Ended, id) {
			all.Ended = append(all.Ended, id)
		}
		over := max(0, len(all.Ended)-keepBulks)
		forgotten, all.Ended = all.Ended[:over], all.Ended[over:]
		return nil
	})
	for _, old := range forgotten {
		if err == nil {
			err = q.bulks.Purge(ctx, bulkKey(old), jetstream.PurgeTTL(time.Minute))
		}
	}
	return refusal("list the end of a bulk action", err)
}

func (q *Queue) bulkIndex(ctx context.Context) (all bulkIndex, rev uint64, err error) {
	entry, err := q.bulks.Get(ctx, bulkList)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return all, 0, nil
	}
	if err != nil {
		return all, 0, fmt.Errorf("read the list of bulk actions: %w", err)
	}
	if err := json.Unmarshal(entry.Value(), &all); err != nil {
		return all, 0, fmt.Errorf("decode the list of bulk actions: %w", err)
	}
	return all, entry.Revision(), nil
}

func (q *Queue) changeBulkIndex(ctx context.Context, change func(*bulkIndex) error) error {
	for range appendTries {
		all, rev, err := q.bulkIndex(ctx)
		if err != nil {
			return err
		}
		if err := change(&all); err != nil {
			return err
		}
		body, err := json.Marshal(all)
		if err != nil {
			return fmt.Errorf("encode the list of bulk actions: %w", err)
		}
		err = decided(ctx, func() (err error) {
			if rev == 0 {
				_, err = q.bulks.Create(ctx, bulkList, body)
			} else {
				_, err = q.bulks.Update(ctx, bulkList, body, rev)
			}
			return err
		})
		if !outpaced(err) {
			return refusal("write the list of bulk actions", err)
		}
	}
	return fmt.Errorf("write the list of bulk actions: met another writer %d times", appendTries)
}
