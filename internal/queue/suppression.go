package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// suppression is what is known of a number whose customer has had something to say about
// text messages. It is kept for good, under a hash of the number.
type suppression struct {
	Stopped bool      `json:"stopped"`
	Why     string    `json:"why"` // the word that came in, or the carrier's code
	At      time.Time `json:"at"`
}

// Suppress notes at now that a number is to get no text messages any more, and why.
func (q *Queue) Suppress(ctx context.Context, phone, why string, now time.Time) error {
	return q.noteNumber(ctx, phone, suppression{true, why, now})
}

// Unsuppress notes that a number may get text messages again.
func (q *Queue) Unsuppress(ctx context.Context, phone, why string, now time.Time) error {
	return q.noteNumber(ctx, phone, suppression{false, why, now})
}

// Suppress does as the queue's.
func (o *Outbox) Suppress(ctx context.Context, phone, why string, now time.Time) error {
	return o.queue.Suppress(ctx, phone, why, now)
}

func (q *Queue) noteNumber(ctx context.Context, phone string, s suppression) error {
	body, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode a suppression: %w", err)
	}
	if _, err := q.suppressions.Put(ctx, numberKey(phone), body); err != nil {
		return refusal("note a suppression", err)
	}
	return nil
}

// wanted reports whether nobody has stopped text messages to a number.
func (q *Queue) wanted(ctx context.Context, phone string) (bool, error) {
	entry, err := q.suppressions.Get(ctx, numberKey(phone))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read a suppression: %w", err)
	}
	var s suppression
	if err := json.Unmarshal(entry.Value(), &s); err != nil {
		return false, fmt.Errorf("decode a suppression: %w", err)
	}
	return !s.Stopped, nil
}
