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

// Dead letters are bounded by count and by age: the oldest go first.
const (
	maxDead  = 10_000
	keepDead = 90 * 24 * time.Hour
)

// DeadLetter is a ticket that we could not answer as we should have: its customer got
// the template, and an operator may look what happened.
type DeadLetter struct {
	ID       string      `json:"id"` // of the ticket
	Tenant   string      `json:"tenant"`
	Session  string      `json:"session"`
	Lane     chat.Lane   `json:"lane"`
	Attempts int         `json:"attempts"`
	Reason   chat.Reason `json:"reason"`
	At       time.Time   `json:"at"` // of the ticket's end
	Ticket   chat.Ticket `json:"ticket"`
	Story    []chat.Step `json:"story"`
	// Seq is the letter's place in the store: a later letter has a greater one.
	Seq uint64 `json:"-"`
}

func (q *Queue) openDead(ctx context.Context) (err error) {
	q.dead, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: deadStream, Subjects: []string{"dead.>"}, Storage: jetstream.FileStorage,
		MaxMsgs: maxDead, Discard: jetstream.DiscardOld, MaxAge: keepDead,
		Replicas: q.cfg.Replicas, AllowDirect: false,
	})
	if err != nil {
		return fmt.Errorf("open stream %s: %w", deadStream, err)
	}
	return nil
}

// bury keeps an ended ticket as a dead letter, once. Its story is told afterwards: where
// that is there, the letter was there too, and whoever removed it has dealt with it.
func (q *Queue) bury(ctx context.Context, t *chat.Ticket) error {
	told, err := q.told(ctx, t.Tenant, t.ID)
	if err != nil || told != nil {
		return err
	}
	if err := q.before(EndDead, t.ID); err != nil {
		return err
	}
	letter := DeadLetter{
		ID: t.ID, Tenant: t.Tenant, Session: t.Session, Lane: t.Lane, Attempts: t.Attempts, Reason: t.Reason,
		At: t.AcceptedAt, Ticket: *t, Story: t.Story(),
	}
	if t.EndedAt != nil {
		letter.At = *t.EndedAt
	}
	return q.keepOnce(ctx, deadSubject(t.ID), "keep dead letter "+t.ID, letter)
}

// told returns the ended ticket as its story has it, or nil.
func (q *Queue) told(ctx context.Context, tenant, id string) (*chat.Ticket, error) {
	t := chat.Ticket{Tenant: tenant, ID: id}
	raw, err := q.story.GetLastMsgForSubject(ctx, storySubject(&t))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read story of %s: %w", id, err)
	}
	if err := json.Unmarshal(raw.Data, &t); err != nil {
		return nil, fmt.Errorf("decode story of %s: %w", id, err)
	}
	return &t, nil
}

// DeadCount returns how many dead letters there are.
func (q *Queue) DeadCount(ctx context.Context) (int, error) {
	info, err := q.dead.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("count dead letters: %w", err)
	}
	return int(info.State.Msgs), nil
}

// DeadLetters returns up to limit letters, the newest first, of those with a Seq less
// than before; 0 begins with the newest of all.
func (q *Queue) DeadLetters(ctx context.Context, before uint64, limit int) ([]DeadLetter, error) {
	letters, err := newest(ctx, q.dead, before, limit, func(l *DeadLetter, seq uint64) { l.Seq = seq })
	if err != nil {
		return nil, fmt.Errorf("list dead letters: %w", err)
	}
	return letters, nil
}

// DeadLetter returns the letter of a ticket, or ErrNotFound.
func (q *Queue) DeadLetter(ctx context.Context, id string) (DeadLetter, error) {
	raw, err := q.dead.GetLastMsgForSubject(ctx, deadSubject(id))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return DeadLetter{}, fmt.Errorf("dead letter %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return DeadLetter{}, fmt.Errorf("read dead letter %s: %w", id, err)
	}
	return decodeDead(raw)
}

// DeleteDead removes the letter of a ticket, or returns ErrNotFound.
func (q *Queue) DeleteDead(ctx context.Context, id string) error {
	letter, err := q.DeadLetter(ctx, id)
	if err != nil {
		return err
	}
	found, err := erase(ctx, q.dead, letter.Seq)
	if err != nil {
		return fmt.Errorf("delete dead letter %s: %w", id, err)
	}
	if !found {
		return fmt.Errorf("dead letter %s: %w", id, ErrNotFound)
	}
	return nil
}

func decodeDead(raw *jetstream.RawStreamMsg) (DeadLetter, error) {
	letter := DeadLetter{Seq: raw.Sequence}
	if err := json.Unmarshal(raw.Data, &letter); err != nil {
		return DeadLetter{}, fmt.Errorf("decode dead letter %d: %w", raw.Sequence, err)
	}
	return letter, nil
}
