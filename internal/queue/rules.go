package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// KeepRevisions is how many revisions of the rules are kept, the one in force included.
const KeepRevisions = 64

const currentKey = "current"

// RuleStore keeps the rules document and its last KeepRevisions revisions. It is opened before
// the Queue, because the rules say how large the lanes are. It is safe for concurrent use.
type RuleStore struct {
	nc *nats.Conn
	js jetstream.JetStream
	kv jetstream.KeyValue
}

// OpenRules opens the store of the rules document, and makes it where there is none.
func OpenRules(ctx context.Context, nc *nats.Conn, replicas int) (*RuleStore, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("open jetstream: %w", err)
	}
	kv, err := openBucket(ctx, js, jetstream.KeyValueConfig{
		Bucket: ruleBucket, History: KeepRevisions, Replicas: orDefault(replicas, 1),
	})
	if err != nil {
		return nil, err
	}
	return &RuleStore{nc: nc, js: js, kv: kv}, nil
}

// FindRules opens the store of the rules document, or returns ErrNotFound where nobody
// has made it yet.
func FindRules(ctx context.Context, nc *nats.Conn) (*RuleStore, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("open jetstream: %w", err)
	}
	kv, err := js.KeyValue(ctx, ruleBucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, fmt.Errorf("bucket %s: %w", ruleBucket, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", ruleBucket, err)
	}
	return &RuleStore{nc: nc, js: js, kv: kv}, nil
}

// Load returns the stored document and its revision, or ErrNotFound before the first
// one was stored.
func (r *RuleStore) Load(ctx context.Context) ([]byte, uint64, error) {
	entry, err := r.kv.Get(ctx, currentKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, fmt.Errorf("rules: %w", ErrNotFound)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read rules: %w", err)
	}
	return entry.Value(), entry.Revision(), nil
}

// Store writes a document over the revision that its author saw (0: none yet).
// ErrLost: somebody else stored another one.
func (r *RuleStore) Store(ctx context.Context, doc []byte, rev uint64) (uint64, error) {
	return r.Change(ctx, doc, rev, Authorship{Actor: "sluice", Reason: "first rules"})
}
