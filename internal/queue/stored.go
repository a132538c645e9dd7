package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Rules returns the stored rules document and its revision, or ErrNotFound before the
// first one was stored.
func (q *Queue) Rules(ctx context.Context) ([]byte, uint64, error) {
	entry, err := q.rules.Get(ctx, "current")
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, fmt.Errorf("rules: %w", ErrNotFound)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read rules: %w", err)
	}
	return entry.Value(), entry.Revision(), nil
}

// StoreRules writes a document over the revision that its author saw (0: none yet).
// ErrLost: somebody else stored another one.
func (q *Queue) StoreRules(ctx context.Context, doc []byte, rev uint64) (uint64, error) {
	next, err := q.rules.Update(ctx, "current", doc, rev)
	if outpaced(err) {
		return 0, fmt.Errorf("store rules: %w", ErrLost)
	}
	return next, refusal("store rules", err)
}

// NewEpoch takes the controller's lease for owner and returns its epoch, which is
// greater than every earlier one. It asks nobody: the caller knows that no other
// controller lives, because it holds the lock of the data directory.
func (q *Queue) NewEpoch(ctx context.Context, owner string) (uint64, error) {
	epoch, err := q.control.PutString(ctx, "lease", owner)
	return epoch, refusal("take the controller's lease", err)
}

// Admin returns the stored hash of an operator's password, or ErrNotFound.
func (q *Queue) Admin(ctx context.Context, user string) (string, error) {
	entry, err := q.control.Get(ctx, "admin."+user)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", fmt.Errorf("operator %s: %w", user, ErrNotFound)
	}
	if err != nil {
		return "", fmt.Errorf("read operator %s: %w", user, err)
	}
	return string(entry.Value()), nil
}

// SetAdmin stores the hash of an operator's password.
func (q *Queue) SetAdmin(ctx context.Context, user, hash string) error {
	_, err := q.control.PutString(ctx, "admin."+user, hash)
	return refusal("store operator "+user, err)
}
