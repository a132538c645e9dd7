package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// openingKey holds the name of the process that opens streams and buckets, and
// openingStale is how long it may take before another one takes it for dead.
const (
	openingKey   = "opening"
	openingStale = 20 * time.Second
)

// Opening lets one process of a cluster open streams and buckets at a time: of two that
// create the same stream at once, both may be left without an answer. It is used by one
// goroutine.
type Opening struct {
	kv    jetstream.KeyValue
	id    string
	rev   uint64    // of the other process's claim
	since time.Time // when that was first seen
}

// Opening returns this process's way to be the one that opens.
func (r *RuleStore) Opening() *Opening { return &Opening{kv: r.kv, id: rand.Text()} }

// errOpening says that it is another process's turn.
var errOpening = errors.New("another process opens them")

// Do calls open, unless another process is at it: then it fails, and may be tried again
// soon.
func (o *Opening) Do(ctx context.Context, open func() error) error {
	rev, err := o.claim(ctx)
	if outpaced(err) {
		err = errOpening
	}
	if err != nil {
		return fmt.Errorf("claim the opening of the streams: %w", err)
	}
	err = open()
	// A claim that stays is taken for a dead process's after a while.
	_ = o.kv.Delete(context.WithoutCancel(ctx), openingKey, jetstream.LastRevision(rev))
	return err
}

func (o *Opening) claim(ctx context.Context) (uint64, error) {
	entry, err := o.kv.Get(ctx, openingKey)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return o.kv.Create(ctx, openingKey, []byte(o.id))
	case err != nil:
		return 0, err
	case string(entry.Value()) == o.id:
		return entry.Revision(), nil // ours: the answer to the claim was lost
	}
	if entry.Revision() != o.rev {
		o.rev, o.since = entry.Revision(), time.Now()
	}
	if time.Since(o.since) < openingStale {
		return 0, errOpening
	}
	return o.kv.Update(ctx, openingKey, []byte(o.id), o.rev)
}
