package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// Controller returns the node that holds the controller's lease, or empty.
func (q *Queue) Controller(ctx context.Context) (string, error) {
	entry, err := q.control.Get(ctx, leaseKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the controller's lease: %w", err)
	}
	node, _, _ := strings.Cut(string(entry.Value()), " ")
	return node, nil
}
