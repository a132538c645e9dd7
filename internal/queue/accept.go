package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// settleTime is how long an accepted message's own event and state may take before
// the caller is answered without them.
const settleTime = 2 * time.Second

// Claim ties a ticket to the caller's own key for it (an Idempotency-Key, or session
// and cmid), so that the same request again meets the same ticket.
type Claim struct {
	Key  string // the caller's key; empty: no claim
	Body string // hash of the request's body: the same key with another body is a conflict
}

type claimRecord struct {
	Ticket string `json:"ticket"`
	Body   string `json:"body"`
}

// ErrReused says that a key was used before with another body.
var ErrReused = errors.New("the key was used with another body")

// Accept makes a message durable: the writes of the intake in their order. On return
// without an error the message survives a kill of the process. dup: the claim's
// ticket had been accepted before, and is returned as it stands now. A returned
// ticket whose Seq is 0 is accepted, but its event is not in the talk log yet.
// Errors: ErrFull and ErrStorage (nothing is kept), ErrReused.
func (q *Queue) Accept(ctx context.Context, t chat.Ticket, c Claim) (_ chat.Ticket, dup bool, err error) {
	if err := q.room(ctx); err != nil {
		return t, false, err
	}
	t.Status = chat.Accepting
	var stored Stored
	if c.Key != "" {
		found, err := q.claim(ctx, &t, c)
		if err != nil {
			return t, false, err
		}
		if found.Rev > 0 && found.Status != chat.Accepting {
			return found.Ticket, true, nil
		}
		stored = found
	}
	if stored.Rev == 0 {
		if t.Epoch == 0 && t.Lane != chat.Batch {
			if t.Epoch, err = q.epoch(ctx, t.Tenant, t.Session); err != nil {
				return t, false, err
			}
		}
		if stored, err = q.create(ctx, IntakeTicket, t); errors.Is(err, ErrLost) {
			stored, err = q.Ticket(ctx, t.ID)
		}
		if err != nil {
			return t, false, err
		}
		// Created by somebody else meanwhile: a later state than accepting is not ours to write.
		if stored.Status != chat.Accepting {
			return stored.Ticket, true, nil
		}
	}
	return q.enter(ctx, stored)
}

// claim creates the key's record, or finds the ticket that the key has. A ticket that
// is missing keeps its id: t takes it over.
func (q *Queue) claim(ctx context.Context, t *chat.Ticket, c Claim) (Stored, error) {
	sum := sha256.Sum256([]byte(c.Key))
	key := t.Tenant + "." + hex.EncodeToString(sum[:])
	body, err := json.Marshal(claimRecord{Ticket: t.ID, Body: c.Body})
	if err != nil {
		return Stored{}, fmt.Errorf("encode claim: %w", err)
	}
	if err := q.before(IntakeKey, t.ID); err != nil {
		return Stored{}, err
	}
	err = decided(ctx, func() error {
		_, err := q.keys.Create(ctx, key, body)
		return err
	})
	if err == nil {
		return Stored{}, nil
	}
	if !outpaced(err) {
		return Stored{}, refusal("claim key", err)
	}
	entry, err := q.keys.Get(ctx, key)
	if err != nil {
		return Stored{}, fmt.Errorf("read key: %w", err)
	}
	var rec claimRecord
	if err := json.Unmarshal(entry.Value(), &rec); err != nil {
		return Stored{}, fmt.Errorf("decode key: %w", err)
	}
	if rec.Body != c.Body {
		return Stored{}, ErrReused
	}
	t.ID = rec.Ticket
	found, err := q.Ticket(ctx, rec.Ticket)
	if errors.Is(err, ErrNotFound) {
		return Stored{}, nil
	}
	return found, err
}

// enter puts an accepting ticket into its lane, then completes its event and state.
func (q *Queue) enter(ctx context.Context, s Stored) (chat.Ticket, bool, error) {
	seq, err := q.publish(ctx, &s.Ticket)
	dup := errors.Is(err, errAccepted)
	if errors.Is(err, ErrFull) || errors.Is(err, ErrStorage) {
		return s.Ticket, false, errors.Join(err, q.remove(ctx, s))
	}
	if err != nil && !dup {
		return s.Ticket, false, err
	}
	s.LaneSeq = seq
	if !dup {
		q.flow.enter(&s.Ticket)
	}
	// The message is accepted: from here on the caller gets its ticket, whatever happens.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	settled, err := q.settle(ctx, s)
	if err != nil {
		q.log.Warn().Err(err).Str("ticket", s.ID).Msg("accepted, its event comes later")
		s.Status = chat.Queued
		return s.Ticket, dup, nil
	}
	return settled.Ticket, dup, nil
}

// settle writes what an accepting ticket still lacks: its event and its state. A
// later state that somebody else wrote meanwhile is success.
func (q *Queue) settle(ctx context.Context, s Stored) (Stored, error) {
	if s.Parent == "" && s.Batch == "" {
		seq, err := q.appendEvent(ctx, IntakeEvent, &s.Ticket, slotIn)
		if err != nil {
			return s, err
		}
		s.Seq = seq
	}
	s.Status = chat.Queued
	done, err := q.write(ctx, IntakeQueued, s)
	if !errors.Is(err, ErrLost) {
		return done, err
	}
	found, err := q.Ticket(ctx, s.ID)
	if errors.Is(err, ErrNotFound) {
		return q.create(ctx, IntakeQueued, s.Ticket)
	}
	if err == nil && found.Status == chat.Accepting {
		s.Rev = found.Rev
		return q.write(ctx, IntakeQueued, s)
	}
	return found, err
}

// inLane reports whether a ticket's message is in its lane, and at which sequence.
func (q *Queue) inLane(ctx context.Context, t *chat.Ticket) (uint64, error) {
	raw, err := q.lanes[t.Lane].GetLastMsgForSubject(ctx, laneSubject(t))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for %s in its lane: %w", t.ID, err)
	}
	return raw.Sequence, nil
}
