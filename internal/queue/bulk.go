package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// How many bulk actions run at once, how many that have ended are remembered, how many faults
// of one are named, and when the record of one is forgotten that was never listed.
const (
	MaxBulks     = 5
	keepBulks    = 100
	MaxBulkFault = 100
	unlistedBulk = time.Hour
)

// BulkAction is what is done with each ticket.
type BulkAction string

// The actions.
const (
	BulkRequeue BulkAction = "requeue"
	BulkCancel  BulkAction = "cancel"
)

// BulkState is how a bulk action stands.
type BulkState string

// The states: running → done | stopped | failed.
const (
	BulkRunning BulkState = "running"
	BulkDone    BulkState = "done"
	BulkStopped BulkState = "stopped"
	BulkFailed  BulkState = "failed"
)

// BulkFault is a ticket with which it could not be done.
type BulkFault struct {
	Ticket string `json:"ticket"`
	Code   string `json:"code"`
}

// Bulk is an operator's wish about all tickets that matched a filter when it was made. It is
// durable: some process works it off step by step, and another one goes on after its death.
type Bulk struct {
	ID     string            `json:"id"`
	Action BulkAction        `json:"action"`
	Filter chat.TicketFilter `json:"filter"` // To is when it was made, or earlier
	Actor  string            `json:"actor"`
	Reason string            `json:"reason"`
	At     time.Time         `json:"at"`

	State   BulkState       `json:"state"`
	Holder  string          `json:"holder"`         // the process that works on it
	Stop    bool            `json:"stop,omitempty"` // it is to end after the step in hand
	Matched int             `json:"matched"`
	Cursor  chat.TicketMark `json:"cursor,omitzero"` // the last ticket that was in a step
	Step    []string        `json:"step,omitempty"`  // tickets in hand
	Done    int             `json:"done"`
	Skipped int             `json:"skipped"` // nothing was to be done with them any more
	Failed  int             `json:"failed"`
	Faults  []BulkFault     `json:"faults,omitempty"` // the first MaxBulkFault
	Waits   string          `json:"waits,omitempty"`  // why it does not go on now
	Since   time.Time       `json:"since,omitzero"`   // of the wait
	EndedAt *time.Time      `json:"ended_at,omitempty"`

	Rev uint64 `json:"-"`
}

// End ends a bulk action. The caller stores it.
func (b *Bulk) End(state BulkState, now time.Time) {
	b.State, b.EndedAt, b.Waits, b.Since = state, &now, "", time.Time{}
	if state == BulkDone { // what was no longer there to be found needed nothing
		b.Skipped = max(b.Skipped, b.Matched-b.Done-b.Failed)
	}
}

// Fail notes a ticket with which it could not be done. The caller stores it.
func (b *Bulk) Fail(ticket, code string) {
	b.Failed++
	if len(b.Faults) < MaxBulkFault {
		b.Faults = append(b.Faults, BulkFault{ticket, code})
	}
}

// ErrBulks says that as many bulk actions run as may.
var ErrBulks = errors.New("too many bulk actions run")

func bulkKey(id string) string { return "action." + id }

// AddBulk makes a bulk action durable. ErrBulks: too many run.
func (q *Queue) AddBulk(ctx context.Context, b Bulk) (Bulk, error) {
	body, err := json.Marshal(b)
	if err != nil {
		return b, fmt.Errorf("encode bulk action: %w", err)
	}
	// One that is never listed goes by itself: its caller was not told that it runs.
	if b.Rev, err = q.bulks.Create(ctx, bulkKey(b.ID), body, jetstream.KeyTTL(unlistedBulk)); err != nil {
		return b, refusal("store a bulk action", err)
	}
	err = q.changeBulkIndex(ctx, func(all *bulkIndex) error {
		if len(all.Running) >= MaxBulks {
			return ErrBulks
		}
		all.Running = append(all.Running, b.ID)
		return nil
	})
	if err != nil {
		return b, errors.Join(err, q.bulks.Purge(context.WithoutCancel(ctx), bulkKey(b.ID), jetstream.PurgeTTL(time.Minute)))
	}
	return b, nil
}

// SetBulk writes a bulk action over its revision. ErrLost: somebody else has written it.
func (q *Queue) SetBulk(ctx context.Context, b *Bulk) error {
	body, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode bulk action %s: %w", b.ID, err)
	}
	err = decided(ctx, func() error {
		rev, err := q.bulks.Update(ctx, bulkKey(b.ID), body, b.Rev)
		if err == nil {
			b.Rev = rev
		}
		return err
	})
	if outpaced(err) {
		return fmt.Errorf("write bulk action %s: %w", b.ID, ErrLost)
	}
	if err != nil {
		return refusal("write bulk action "+b.ID, err)
	}
	if b.State == BulkRunning {
		return nil
	}
	return q.ListBulkEnd(ctx, b.ID)
}

// Bulk reads a bulk action, or returns ErrNotFound.
func (q *Queue) Bulk(ctx context.Context, id string) (b Bulk, err error) {
	entry, err := q.bulks.Get(ctx, bulkKey(id))
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return b, fmt.Errorf("bulk action %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return b, fmt.Errorf("read bulk action %s: %w", id, err)
	}
	if err := json.Unmarshal(entry.Value(), &b); err != nil {
		return b, fmt.Errorf("decode bulk action %s: %w", id, err)
	}
	b.Rev = entry.Revision()
	return b, nil
}

// Bulks returns the bulk actions that run, or all that are remembered, the newest first.
func (q *Queue) Bulks(ctx context.Context, running bool) ([]Bulk, error) {
	all, _, err := q.bulkIndex(ctx)
	if err != nil {
		return nil, err
	}
	ids := all.Running
	if !running {
		ids = slices.Concat(all.Ended, all.Running)
	}
	var found []Bulk
	for _, id := range ids {
		b, err := q.Bulk(ctx, id)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, b)
	}
	slices.SortStableFunc(found, func(a, b Bulk) int { return b.At.Compare(a.At) })
	return found, nil
}

// StopBulk asks for a bulk action to end after the step in hand. ErrEnded: it had ended.
func (q *Queue) StopBulk(ctx context.Context, id string) error {
	for range appendTries {
		b, err := q.Bulk(ctx, id)
		if err != nil {
			return err
		}
		if b.State != BulkRunning {
			return fmt.Errorf("bulk action %s: %w", id, ErrEnded)
		}
		b.Stop = true
		if err := q.SetBulk(ctx, &b); !errors.Is(err, ErrLost) {
			return err
		}
	}
	return fmt.Errorf("stop bulk action %s: met another writer %d times", id, appendTries)
}
