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

// readerLeft is how long the consumer of a reader that died is left.
const readerLeft = 30 * time.Second

// movedTries is how often a list is read that entries leave for its end meanwhile.
const movedTries = 3

// newest reads up to limit entries of a log, the newest first, of those before a place; 0:
// from its end. What was removed is left out. put tells an entry its place. An entry that is
// written again while it is read may be missing if before is not 0.
func newest[T any](ctx context.Context, log jetstream.Stream, before uint64, limit int, put func(*T, uint64)) ([]T, error) {
	for try := 1; ; try++ {
		all, moved, err := read(ctx, log, before, limit, put)
		if err != nil || !moved || before > 0 || try == movedTries {
			return all, err
		}
	}
}

// read is newest, once; moved: an entry has left its place meanwhile.
func read[T any](ctx context.Context, log jetstream.Stream, before uint64, limit int, put func(*T, uint64)) (all []T, moved bool, _ error) {
	info, err := log.Info(ctx, jetstream.WithDeletedDetails(true))
	if err != nil {
		return nil, false, err
	}
	next, gone := info.State.LastSeq, info.State.Deleted
	if before > 0 {
		next = min(next, before-1)
	}
	slices.Sort(gone)
	for ; next >= max(1, info.State.FirstSeq) && len(all) < limit; next-- {
		if _, removed := slices.BinarySearch(gone, next); removed {
			continue
		}
		raw, err := log.GetMsg(ctx, next)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			moved = true // or removed
			continue
		}
		if err != nil {
			return nil, false, err
		}
		var entry T
		if err := json.Unmarshal(raw.Data, &entry); err != nil {
			return nil, false, fmt.Errorf("decode entry %d: %w", next, err)
		}
		put(&entry, next)
		all = append(all, entry)
	}
	return all, moved, nil
}

// eachEntry gives the entries of a log from a place on to visit, as they were when it was
// called.
func eachEntry(ctx context.Context, log jetstream.Stream, from uint64, visit func(body []byte, seq uint64)) error {
	cons, err := log.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(1, from), InactiveThreshold: readerLeft,
	})
	if err != nil {
		return err
	}
	info, err := cons.Info(ctx)
	if err != nil {
		return err
	}
	// Who reads often would leave many behind otherwise.
	defer func() { _ = log.DeleteConsumer(ctx, info.Name) }()
	if info.NumPending == 0 {
		return nil
	}
	entries, err := cons.Messages()
	if err != nil {
		return err
	}
	defer entries.Stop()
	for {
		msg, err := entries.Next(jetstream.NextMaxWait(newestLimit))
		if err != nil {
			return err
		}
		meta, err := msg.Metadata()
		if err != nil {
			return err
		}
		visit(msg.Data(), meta.Sequence.Stream)
		if meta.NumPending == 0 {
			return nil
		}
	}
}

// eachKey gives the entries of a bucket under a pattern to visit, as they were when it was
// called.
func eachKey(ctx context.Context, bucket jetstream.KeyValue, pattern string, visit func(jetstream.KeyValueEntry)) error {
	watch, err := bucket.Watch(ctx, pattern, jetstream.IgnoreDeletes())
	if err != nil {
		return err
	}
	defer func() { _ = watch.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case entry, more := <-watch.Updates():
			if !more {
				return errEndedEarly
			}
			if entry == nil {
				return nil
			}
			visit(entry)
		}
	}
}

var errEndedEarly = errors.New("the watch ended early")

// keepOnce publishes an entry under a subject of its own, once: one that is there already
// stays.
func (q *Queue) keepOnce(ctx context.Context, subject, what string, entry any) error {
	body, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("%s: encode: %w", what, err)
	}
	err = decided(ctx, func() error {
		_, err := q.js.Publish(ctx, subject, body, jetstream.WithExpectLastSequencePerSubject(0))
		return err
	})
	if err != nil && !outpaced(err) {
		return refusal(what, err)
	}
	return nil
}
