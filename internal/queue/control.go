package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// SeizeLease takes the controller's lease for good and returns its epoch, which is
// greater than every earlier one. It asks nobody, and removes what former processes
// registered: the caller knows that they are dead and that no other one can come.
func (q *Queue) SeizeLease(ctx context.Context, owner string) (epoch uint64, err error) {
	if err := q.clearNodes(ctx); err != nil {
		return 0, err
	}
	epoch, err = q.control.PutString(ctx, leaseKey, owner)
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
