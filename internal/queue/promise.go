package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// Owed is a promise as stored: in its bucket while it is open, in its stream from the time
// that its notice is in the outbox or that it has ended. Whoever looks after the open ones
// reads no others. Only compare-and-set writes change an open one.
type Owed struct {
	ID       string `json:"id"` // of the follow-up
	Parent   string `json:"parent"`
	Tenant   string `json:"tenant"`
	Session  string `json:"session"`
	Language string `json:"language"`
	Epoch    uint64 `json:"epoch,omitempty"` // of its session when it was made; 0: not known
	// Phone is where the notice goes, E.164. It is not kept: the outbox has it where one goes.
	Phone string `json:"phone,omitempty"`
	chat.Promise
	MadeAt time.Time   `json:"made_at"`
	Answer *FullAnswer `json:"answer,omitempty"` // of the follow-up; nil: none yet
	At     time.Time   `json:"at"`               // since when the status is what it is
	Why    chat.Reason `json:"why,omitempty"`    // it was broken or cancelled

	rev uint64
}

// FullAnswer says where and when the answer of a follow-up entered the talk log.
type FullAnswer struct {
	Seq uint64    `json:"seq"`
	At  time.Time `json:"at"`
}

// session is a ticket that names where the events of the promise belong.
func (o *Owed) session() *chat.Ticket {
	return &chat.Ticket{ID: o.ID, Tenant: o.Tenant, Session: o.Session}
}

// Owed returns how the promise of a follow-up stands. ErrNotFound: it was never made, or
// ended so long ago that it is not kept any more.
func (q *Queue) Owed(ctx context.Context, id string) (Owed, error) {
	o, err := q.openOwed(ctx, id)
	if !errors.Is(err, ErrNotFound) {
		return o, err
	}
	return q.keptOwed(ctx, id)
}

// openOwed returns an open promise, or ErrNotFound.
func (q *Queue) openOwed(ctx context.Context, id string) (Owed, error) {
	entry, err := q.promises.Get(ctx, id)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Owed{}, fmt.Errorf("promise %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return Owed{}, fmt.Errorf("read promise %s: %w", id, err)
	}
	return decodeOwed(entry)
}

func decodeOwed(entry jetstream.KeyValueEntry) (Owed, error) {
	o := Owed{rev: entry.Revision()}
	if err := json.Unmarshal(entry.Value(), &o); err != nil {
		return o, fmt.Errorf("decode promise %s: %w", entry.Key(), err)
	}
	return o, nil
}

// writeOwed writes an open promise over the revision that the writer saw, 0: there is
// none. ErrLost: it has another one.
func (q *Queue) writeOwed(ctx context.Context, p Point, o Owed) (Owed, error) {
	if err := q.before(p, o.ID); err != nil {
		return o, err
	}
	body, err := json.Marshal(o)
	if err != nil {
		return o, fmt.Errorf("encode promise %s: %w", o.ID, err)
	}
	var rev uint64
	err = decided(ctx, func() (err error) {
		if o.rev == 0 {
			rev, err = q.promises.Create(ctx, o.ID, body)
		} else {
			rev, err = q.promises.Update(ctx, o.ID, body, o.rev)
		}
		return err
	})
	if outpaced(err) {
		return o, fmt.Errorf("write promise %s: %w", o.ID, ErrLost)
	}
	if err != nil {
		return o, refusal("write promise "+o.ID, err)
	}
	o.rev = rev
	return o, nil
}

// changeOwed applies change to an open promise, again after meeting another writer.
// change says whether it changed anything. ErrNotFound: it is open no more.
func (q *Queue) changeOwed(ctx context.Context, p Point, id string, change func(*Owed) bool) (Owed, error) {
	for range appendTries {
		o, err := q.openOwed(ctx, id)
		if err != nil {
			return o, err
		}
		if !change(&o) {
			return o, nil
		}
		o, err = q.writeOwed(ctx, p, o)
		if !errors.Is(err, ErrLost) {
			return o, err
		}
	}
	return Owed{}, fmt.Errorf("write promise %s: met another writer %d times", id, appendTries)
}

// closeOwed takes a promise from the open ones, if it is still what the caller saw. One
// whose text does not go out gives its places back before.
func (q *Queue) closeOwed(ctx context.Context, o Owed) error {
	if o.Status != chat.PromiseSent {
		if err := q.freeTexts(ctx, o.hold()); err != nil {
			return err
		}
	}
	if err := q.before(PromiseClosed, o.ID); err != nil {
		return err
	}
	err := q.promises.Purge(ctx, o.ID, jetstream.LastRevision(o.rev), jetstream.PurgeTTL(time.Minute))
	if err != nil && !outpaced(err) {
		return fmt.Errorf("close promise %s: %w", o.ID, err)
	}
	return nil
}

// eachOpen gives the open promises to visit, as they were when it was called.
func (q *Queue) eachOpen(ctx context.Context, visit func(Owed)) error {
	err := eachKey(ctx, q.promises, ">", func(entry jetstream.KeyValueEntry) {
		o, err := decodeOwed(entry)
		if err != nil {
			q.log.Error().Err(err).Msg("promise cannot be read")
			return
		}
		visit(o)
	})
	if err != nil {
		return fmt.Errorf("read the open promises: %w", err)
	}
	return nil
}
