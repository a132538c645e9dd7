package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

const vendorsKey = "vendors"

// Vendors returns what was stored last about how the vendors stand; nil: nothing.
func (q *Queue) Vendors(ctx context.Context) ([]byte, error) {
	entry, err := q.control.Get(ctx, vendorsKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read how the vendors stand: %w", err)
	}
	return entry.Value(), nil
}

// SetVendors stores how the vendors stand, for good. One process at a time calls it: the
// controller.
func (q *Queue) SetVendors(ctx context.Context, body []byte) error {
	_, err := q.control.Put(ctx, vendorsKey, body)
	return refusal("store how the vendors stand", err)
}
