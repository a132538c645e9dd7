package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Bounds of the bucket of vectors, which are kept because each was paid for. At them no
// more are kept, with ErrStorage, until a sweep has made room.
const (
	maxVectorSize    = 1 << 30 // bytes
	maxVectorEntries = 200_000
)

// keepVector is how long a vector stays that nothing uses: an operator who goes back to the
// former model, or to a former version of a document, pays nothing.
const keepVector = 7 * 24 * time.Hour

// VectorKeep is the write of one vector that a vendor gave.
const VectorKeep Point = "vector.keep"

// VectorKey names the vector of a text in a space: the model, and what else vectors depend
// on. The same text in the same space has the same key in every process.
func VectorKey(space, text string) string {
	sum := sha256.Sum256([]byte(text))
	return spacePrefix(space) + hex.EncodeToString(sum[:16])
}

func spacePrefix(space string) string {
	sum := sha256.Sum256([]byte(space))
	return hex.EncodeToString(sum[:8]) + "."
}

// Vector returns what is kept under a key, or ErrNotFound.
func (q *Queue) Vector(ctx context.Context, key string) ([]byte, error) {
	entry, err := q.vectors.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, fmt.Errorf("vector: %w", ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read a vector: %w", err)
	}
	return entry.Value(), nil
}

// KeepVector stores a vector. Two that store the same do no harm.
func (q *Queue) KeepVector(ctx context.Context, key string, vector []byte) error {
	if err := q.before(VectorKeep, ""); err != nil {
		return err
	}
	_, err := q.vectors.Put(ctx, key, vector)
	return refusal("keep a vector", err)
}

// VectorRoom refuses with ErrStorage where no more vectors may be kept: before they are
// paid for.
func (q *Queue) VectorRoom(ctx context.Context, more int) error {
	if err := q.room(ctx); err != nil {
		return err
	}
	stream, err := q.js.Stream(ctx, "KV_"+vectorBucket)
	if err != nil {
		return fmt.Errorf("measure bucket %s: %w", vectorBucket, err)
	}
	if s := stream.CachedInfo().State; s.Bytes > maxVectorSize || s.Msgs+uint64(more) > maxVectorEntries {
		return fmt.Errorf("%d bytes of %d vectors: %w", s.Bytes, s.Msgs, ErrStorage)
	}
	return nil
}

// SweepVectors removes vectors that are a week old and that nobody uses. It returns how
// many went. Two at once do no harm.
func (q *Queue) SweepVectors(ctx context.Context, now time.Time, used func(key string) bool) (int, error) {
	stream, err := q.js.Stream(ctx, "KV_"+vectorBucket)
	if err != nil {
		return 0, fmt.Errorf("sweep the vectors: %w", err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(bucketSubject(vectorBucket, ">")))
	if err != nil {
		return 0, fmt.Errorf("sweep the vectors: %w", err)
	}
	swept := 0
	for subject := range info.State.Subjects {
		key := strings.TrimPrefix(subject, bucketSubject(vectorBucket, ""))
		if used(key) {
			continue
		}
		entry, err := q.vectors.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) || err == nil && now.Sub(entry.Created()) < keepVector {
			continue
		}
		if err == nil {
			err = q.vectors.Purge(ctx, key, jetstream.LastRevision(entry.Revision()), jetstream.PurgeTTL(time.Minute))
		}
		switch {
		case outpaced(err): // it was stored again
		case err != nil:
			return swept, fmt.Errorf("sweep the vectors: %w", err)
		default:
			swept++
		}
	}
	return swept, nil
}
