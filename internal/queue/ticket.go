package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// Stored is a ticket as read from the bucket, with the revision that the next
// compare-and-set write must name.
type Stored struct {
	chat.Ticket
	Rev uint64
}

// Ticket reads a ticket. ErrNotFound: there is none, or it ended more than KeepTicket ago.
func (q *Queue) Ticket(ctx context.Context, id string) (Stored, error) {
	entry, err := q.tickets.Get(ctx, id)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Stored{}, fmt.Errorf("ticket %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return Stored{}, fmt.Errorf("read ticket %s: %w", id, err)
	}
	return decodeStored(entry)
}

func decodeStored(entry jetstream.KeyValueEntry) (Stored, error) {
	s := Stored{Rev: entry.Revision()}
	if err := json.Unmarshal(entry.Value(), &s.Ticket); err != nil {
		return Stored{}, fmt.Errorf("decode ticket %s: %w", entry.Key(), err)
	}
	return s, nil
}

// create writes a ticket that must not exist. ErrLost: it does. An ended one is written
// with its time to live.
func (q *Queue) create(ctx context.Context, p Point, t chat.Ticket) (Stored, error) {
	if err := q.before(p, t.ID); err != nil {
		return Stored{}, err
	}
	body, err := json.Marshal(t)
	if err != nil {
		return Stored{}, fmt.Errorf("encode ticket %s: %w", t.ID, err)
	}
	var rev uint64
	var opts []jetstream.KVCreateOpt
	if t.Status.Ended() {
		opts = append(opts, jetstream.KeyTTL(q.cfg.KeepTicket.Round(time.Second)))
	}
	err = decided(ctx, func() (err error) {
		rev, err = q.tickets.Create(ctx, t.ID, body, opts...)
		return err
	})
	if outpaced(err) {
		return Stored{}, fmt.Errorf("create ticket %s: %w", t.ID, ErrLost)
	}
	if err != nil {
		return Stored{}, refusal("create ticket "+t.ID, err)
	}
	return Stored{Ticket: t, Rev: rev}, nil
}

// write replaces the ticket if it still has the revision s.Rev. ErrLost: it does not.
// An ended ticket is written with its time to live.
func (q *Queue) write(ctx context.Context, p Point, s Stored) (Stored, error) {
	if err := q.before(p, s.ID); err != nil {
		return s, err
	}
	body, err := json.Marshal(s.Ticket)
	if err != nil {
		return s, fmt.Errorf("encode ticket %s: %w", s.ID, err)
	}
	// A raw publish, because KeyValue.Update cannot set a time to live.
	opts := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(s.Rev)}
	if s.Status.Ended() {
		opts = append(opts, jetstream.WithMsgTTL(q.cfg.KeepTicket.Round(time.Second)))
	}
	msg := &nats.Msg{Subject: bucketSubject(ticketBucket, s.ID), Data: body}
	var ack *jetstream.PubAck
	err = decided(ctx, func() (err error) {
		ack, err = q.js.PublishMsg(ctx, msg, opts...)
		return err
	})
	if outpaced(err) {
		return s, fmt.Errorf("write ticket %s: %w", s.ID, ErrLost)
	}
	if err != nil {
		return s, refusal("write ticket "+s.ID, err)
	}
	s.Rev = ack.Sequence
	return s, nil
}

// remove deletes a ticket at the revision that the caller saw; it is no error if
// somebody else has written it since.
func (q *Queue) remove(ctx context.Context, s Stored) error {
	err := q.tickets.Purge(ctx, s.ID, jetstream.LastRevision(s.Rev), jetstream.PurgeTTL(time.Minute))
	if err != nil && !outpaced(err) {
		return fmt.Errorf("remove ticket %s: %w", s.ID, err)
	}
	return nil
}
