package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// Claimed returns the ticket that a claim was accepted as before, and changes nothing.
// Errors: ErrNotFound, also for one that was never accepted, and ErrReused.
func (q *Queue) Claimed(ctx context.Context, tenant string, c Claim) (chat.Ticket, error) {
	sum := sha256.Sum256([]byte(c.Key))
	entry, err := q.keys.Get(ctx, tenant+"."+hex.EncodeToString(sum[:]))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return chat.Ticket{}, fmt.Errorf("claim: %w", ErrNotFound)
	}
	if err != nil {
		return chat.Ticket{}, fmt.Errorf("read key: %w", err)
	}
	var rec claimRecord
	if err := json.Unmarshal(entry.Value(), &rec); err != nil {
		return chat.Ticket{}, fmt.Errorf("decode key: %w", err)
	}
	if rec.Body != c.Body {
		return chat.Ticket{}, ErrReused
	}
	s, err := q.Ticket(ctx, rec.Ticket)
	if err == nil && s.Status == chat.Accepting {
		err = fmt.Errorf("claim: %w", ErrNotFound)
	}
	return s.Ticket, err
}
