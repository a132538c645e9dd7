package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// Handoffs are bounded by count and by age: the oldest go first.
const (
	maxHandoffs  = 10_000
	keepHandoffs = 90 * 24 * time.Hour
)

// Handoff is an entry in the list of sessions that people are to look after.
type Handoff struct {
	Ticket  string            `json:"ticket"`
	Tenant  string            `json:"tenant"`
	Session string            `json:"session"`
	Lane    chat.Lane         `json:"lane"`
	Intent  string            `json:"intent"`
	Cause   chat.HandoffCause `json:"cause,omitempty"`
	At      time.Time         `json:"at"`
	Seq     uint64            `json:"-"` // its place: a later one has a greater one
}

func (q *Queue) openHandoffs(ctx context.Context) (err error) {
	q.handoffs, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: handoffStream, Subjects: []string{"handoff.>"}, Storage: jetstream.FileStorage,
		MaxMsgs: maxHandoffs, Discard: jetstream.DiscardOld, MaxAge: keepHandoffs,
		Replicas: q.cfg.Replicas, AllowDirect: false,
	})
	if err != nil {
		return fmt.Errorf("open stream %s: %w", handoffStream, err)
	}
	return nil
}

// Hand gives a ticket to people at now: its customer is told with said, its session's
// owner becomes the queue, it is listed, and it waits until an instant. ErrLost: somebody
// changed the ticket meanwhile. Any other error leaves a ticket that was handed or not;
// whoever takes the job completes what was begun.
func (q *Queue) Hand(ctx context.Context, s Stored, said chat.Reply, now, until time.Time) (Stored, error) {
	s.Ticket.Hand(said, now, until)
	done, err := q.write(ctx, HandTicket, s)
	if err != nil {
		return s, err
	}
	return done, q.handed(ctx, done)
}

// handed repeats what follows a handoff; each step is done at most once. Where people have
// been asked for the session already, nothing but its customer is told; where a person has
// taken it over, nobody is.
func (q *Queue) handed(ctx context.Context, s Stored) error {
	rec, err := q.Session(ctx, s.Tenant, s.Session)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err == nil && rec.overrules(&s.Ticket) {
		return nil
	}
	fresh := err != nil || rec.Asked != s.ID && rec.Owner == string(chat.OwnerBot)
	if fresh {
		if err := q.enlist(ctx, &s.Ticket); err != nil {
			return err
		}
	}
	if s.Handoff.Text != "" {
		if _, err := q.appendEvent(ctx, HandEvent, &s.Ticket, slotHandoff); err != nil {
			return unlessOverruled(err)
		}
	}
	if !fresh {
		return nil
	}
	if _, err := q.appendEvent(ctx, HandOwner, &s.Ticket, slotOwner); err != nil {
		return unlessOverruled(err)
	}
	if err := q.announceHandoff(ctx, &s.Ticket); err != nil {
		return err
	}
	// Last: it shows that all of this was done.
	_, err = q.ChangeSession(ctx, s.Tenant, s.Session, func(rec *Session) bool {
		if rec.Owner != string(chat.OwnerBot) || rec.Asked == s.ID {
			return false // people have it already, or gave it back
		}
		rec.Owner, rec.Asked = string(chat.OwnerQueue), s.ID
		return true
	})
	return err
}

func unlessOverruled(err error) error {
	if errors.Is(err, errOverruled) {
		return nil
	}
	return err
}

// enlist puts the ticket into the list of handoffs, once.
func (q *Queue) enlist(ctx context.Context, t *chat.Ticket) error {
	if err := q.before(HandList, t.ID); err != nil {
		return err
	}
	return q.keepOnce(ctx, handoffSubject(t.ID), "list the handoff of "+t.ID, Handoff{
		Ticket: t.ID, Tenant: t.Tenant, Session: t.Session, Lane: t.Lane, Intent: t.Intent, Cause: t.Handoff.Cause, At: t.Handoff.At,
	})
}

// Handoffs returns up to limit handoffs, the newest first, of those with a Seq less than
// before; 0 begins with the newest of all.
func (q *Queue) Handoffs(ctx context.Context, before uint64, limit int) ([]Handoff, error) {
	all, err := newest(ctx, q.handoffs, before, limit, func(h *Handoff, seq uint64) { h.Seq = seq })
	if err != nil {
		return nil, fmt.Errorf("list handoffs: %w", err)
	}
	return all, nil
}
