package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// appendTries bounds how often an append begins again after meeting another writer.
const appendTries = 20

// appendEvent adds a ticket's event to the talk log under the session's head, once: if
// it is there already, its seq is returned. The order of the steps is what makes seq
// gapless and the event single: head first, then our own subject, then the publish
// that expects that head. errOverruled: it would speak for the bot after a person took the
// session over, and is not there.
func (q *Queue) appendEvent(ctx context.Context, p Point, t *chat.Ticket, slot string) (uint64, error) {
	return q.appendAs(ctx, p, t, slot, eventOf(t, slot))
}

// appendAs adds an event of a ticket in a slot of its own, in the same way.
func (q *Queue) appendAs(ctx context.Context, p Point, t *chat.Ticket, slot string, event chat.Event) (uint64, error) {
	subject, filter := talkSubject(t, slot), talkFilter(t.Tenant, t.Session)
	for range appendTries {
		head, at, err := q.last(ctx, filter)
		if err != nil {
			return 0, err
		}
		own, ownAt, err := q.last(ctx, subject)
		if err != nil {
			return 0, err
		}
		if own != nil {
			return own.Seq, q.noteEvent(ctx, t, markOf(own, ownAt))
		}
		if speaks(&event, slot) {
			late, err := q.late(ctx, t, subject)
			if err != nil {
				return 0, err
			}
			if late == lookAgain {
				continue
			}
		}
		event.Seq, err = q.nextSeq(ctx, t.Tenant, t.Session, head)
		if err != nil {
			return 0, err
		}
		if err := q.before(p, t.ID); err != nil {
			return 0, err
		}
		body, err := json.Marshal(event)
		if err != nil {
			return 0, fmt.Errorf("encode event of %s: %w", t.ID, err)
		}
		var ack *jetstream.PubAck
		err = decided(ctx, func() (err error) {
			ack, err = q.js.Publish(ctx, subject, body, jetstream.WithExpectLastSequenceForSubject(at, filter))
			return err
		})
		if err == nil {
			return event.Seq, q.noteEvent(ctx, t, markOf(&event, ack.Sequence))
		}
		if !outpaced(err) {
			return 0, refusal("append event of "+t.ID, err)
		}
		if err := pause(ctx, time.Duration(1+rand.IntN(4))*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("append event of %s: met another writer %d times", t.ID, appendTries)
}

// eventOf returns the event of one of a ticket's places in the talk log.
func eventOf(t *chat.Ticket, slot string) chat.Event {
	switch slot {
	case slotFinal:
		return t.FinalEvent()
	case slotHandoff:
		return t.HandoffEvent()
	case slotOwner:
		return t.OwnerEvent()
	}
	return t.InEvent()
}

func markOf(e *chat.Event, at uint64) Mark {
	m := Mark{Seq: e.Seq, At: at, Open: e.Who == chat.ByCustomer && e.Lane.Interactive()}
	if m.Open || e.Status.Ended() {
		m.Ticket = e.Ticket // whose message opens, and whose end closes
	}
	return m
}

// last returns the newest event under a filter and its stream sequence, or nil and 0.
func (q *Queue) last(ctx context.Context, filter string) (*chat.Event, uint64, error) {
	raw, err := q.talk.GetLastMsgForSubject(ctx, filter)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read head of the talk log: %w", err)
	}
	e, at, err := decodeEvent(raw)
	if err != nil {
		return nil, 0, err
	}
	return &e, at, nil
}

// Events returns a session's durable events with seq greater than after, in order, at
// most limit of them (0: none), and the seq of the session's head. ok is false when events
// after that seq have expired already, and when the session never came that far.
func (q *Queue) Events(ctx context.Context, tenant, session string, after uint64, limit int) (events []chat.Event, head uint64, ok bool, err error) {
	// The record first: one that is newer than the look at the log may know of a first event
	// that was not there yet, and would make an empty log look like one that has expired.
	rec, err := q.Session(ctx, tenant, session)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, 0, false, err
	}
	newest, at, err := q.last(ctx, talkFilter(tenant, session))
	if err != nil {
		return nil, 0, false, err
	}
	if newest == nil {
		return nil, rec.Seq, rec.Seq == after, nil
	}
	ok = after <= newest.Seq
	if limit <= 0 {
		return nil, newest.Seq, ok, nil
	}
	first := true
	w := walk{queue: q, tenant: tenant, id: session, marks: rec.Recent, newest: *newest, end: at}
	err = w.from(ctx, rec.from(after), func(e chat.Event) bool {
		if first && e.Seq-1 > after {
			ok = false
		}
		first = false
		if e.Seq > after {
			events = append(events, e)
		}
		return len(events) < limit
	})
	return events, newest.Seq, ok, err
}

// Question returns the newest message of the customer in a session.
func (q *Queue) Question(ctx context.Context, tenant, session string) (chat.Event, error) {
	e, _, err := q.last(ctx, questionFilter(tenant, session))
	if err != nil {
		return chat.Event{}, err
	}
	if e == nil {
		return chat.Event{}, fmt.Errorf("question of session %s: %w", session, ErrNotFound)
	}
	return *e, nil
}

// scan reads the events under a filter between two stream sequences, both included,
// oldest first, while visit returns true.
func (q *Queue) scan(ctx context.Context, filter string, begin, end uint64, visit func(chat.Event) bool) error {
	for seq := begin; seq <= end; seq++ {
		raw, err := q.talk.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(filter))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read talk log: %w", err)
		}
		e, at, err := decodeEvent(raw)
		if err != nil {
			return err
		}
		if seq = at; !visit(e) {
			return nil
		}
	}
	return nil
}

// pause waits on a timer or until the context ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
