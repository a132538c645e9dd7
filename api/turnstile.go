package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// Turnstile limits how fast messages come in, over all nodes, and knows how fast the lanes
// empty. A Line that is one is asked before each new ticket.
type Turnstile interface {
	// Enter lets a message in, or says with a *chat.Error when it may come again. undo is
	// called at most once, if the message was not accepted after all.
	Enter(ctx context.Context, a chat.Arrival) (undo func(), err error)
	// Room returns when a lane that is full has a place again; ok is false where nobody knows.
	Room(lane chat.Lane) (wait time.Duration, ok bool)
}

// admit passes the turnstile, then makes the ticket durable. A message that turns out to
// be a repeat, or finds no place, costs its tenant no more than the time that it took.
func (in *Intake) admit(ctx context.Context, m Message, t chat.Ticket) (chat.Ticket, bool, error) {
	if in.gate == nil {
		return in.queue.Accept(ctx, t, m.Claim)
	}
	undo, err := in.gate.Enter(ctx, arrival(m, &t))
	if err != nil {
		return in.met(ctx, m, t, err)
	}
	accepted, dup, err := in.queue.Accept(ctx, t, m.Claim)
	// After any other error the message may be in its lane.
	if dup || errors.Is(err, queue.ErrFull) || errors.Is(err, queue.ErrStorage) || errors.Is(err, queue.ErrReused) {
		undo()
	}
	return accepted, dup, err
}

// met returns the ticket that a message which was turned away has already: a repeat meets
// it however fast its tenant sends.
func (in *Intake) met(ctx context.Context, m Message, t chat.Ticket, turned error) (chat.Ticket, bool, error) {
	if m.Claim.Key == "" {
		return t, false, turned
	}
	before, err := in.queue.Claimed(ctx, t.Tenant, m.Claim)
	switch {
	case err == nil:
		return before, true, nil
	case errors.Is(err, queue.ErrReused):
		return t, false, err
	}
	return t, false, turned
}

// arrival is what the turnstile is told of a message: of its customer, or else of its
// session, only a hash. A session that begins with the message tells nobody apart.
func arrival(m Message, t *chat.Ticket) chat.Arrival {
	a := chat.Arrival{Tenant: t.Tenant, Lane: t.Lane, Urgent: t.Pressing(), Bytes: len(t.Message)}
	switch {
	case m.Customer != nil && m.Customer.ID != "":
		a.Customer = shortHash("customer", t.Tenant, m.Customer.ID)
	case m.Session != "":
		a.Customer = shortHash("session", t.Tenant, m.Session)
	}
	return a
}

// shortHash is 128 bits of a hash over parts that hold no zero byte.
func shortHash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}
