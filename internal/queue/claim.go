package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// ErrInEffect says that a ticket has set out to do what cannot be undone.
var ErrInEffect = errors.New("the ticket has claimed an effect")

// claimKey does not depend on how an order is written.
func claimKey(tenant, tool, order string) string {
	sum := sha256.Sum256([]byte(strings.ToUpper(strings.TrimSpace(order))))
	return tenant + "." + tool + "." + hex.EncodeToString(sum[:16])
}

// Claim reads the claim of a deed. One that nobody has made is free.
func (q *Queue) Claim(ctx context.Context, tenant, tool, order string) (chat.Claim, error) {
	c := chat.Claim{Tenant: tenant, Deed: chat.Deed{Tool: tool, Order: order}}
	entry, err := q.claims.Get(ctx, claimKey(tenant, tool, order))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read a claim of %s: %w", tool, err)
	}
	if err := json.Unmarshal(entry.Value(), &c); err != nil {
		return c, fmt.Errorf("decode a claim of %s: %w", tool, err)
	}
	c.Rev = entry.Revision()
	return c, nil
}

// SetClaim writes a claim over the revision that the writer saw. ErrLost: it has another one.
func (q *Queue) SetClaim(ctx context.Context, c chat.Claim) (chat.Claim, error) {
	if err := q.before(ClaimPoint(c.State), c.Ticket); err != nil {
		return c, err
	}
	body, err := json.Marshal(c)
	if err != nil {
		return c, fmt.Errorf("encode a claim of %s: %w", c.Tool, err)
	}
	key, rev := claimKey(c.Tenant, c.Tool, c.Order), uint64(0)
	err = decided(ctx, func() (err error) {
		if c.Rev == 0 {
			rev, err = q.claims.Create(ctx, key, body)
		} else {
			rev, err = q.claims.Update(ctx, key, body, c.Rev)
		}
		return err
	})
	if outpaced(err) {
		return c, fmt.Errorf("write a claim of %s: %w", c.Tool, ErrLost)
	}
	if err != nil {
		return c, refusal("write a claim of "+c.Tool, err)
	}
	c.Rev = rev
	return c, nil
}

// Commit notes on a running ticket what it sets out to do. From here on it cannot be
// cancelled, and whoever takes it next sees the deed to its end. ErrLost: it was cancelled
// or taken by somebody else.
func (q *Queue) Commit(ctx context.Context, s Stored, deed chat.Deed) (Stored, error) {
	s.Deed = &deed
	return q.write(ctx, CommitTicket, s)
}
