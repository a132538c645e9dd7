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

// ErrNotTaken says that no person has the session.
var ErrNotTaken = errors.New("no person has the session")

// Handoff returns the entry of a ticket in the list of handoffs, or ErrNotFound.
func (q *Queue) Handoff(ctx context.Context, ticket string) (h Handoff, err error) {
	raw, err := q.handoffs.GetLastMsgForSubject(ctx, handoffSubject(ticket))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return h, fmt.Errorf("handoff of %s: %w", ticket, ErrNotFound)
	}
	if err != nil {
		return h, fmt.Errorf("read the handoff of %s: %w", ticket, err)
	}
	if err := json.Unmarshal(raw.Data, &h); err != nil {
		return h, fmt.Errorf("decode the handoff of %s: %w", ticket, err)
	}
	h.Seq = raw.Sequence
	return h, nil
}

// TakeOver gives the session of a handoff to a person at now. From the event of the change on the
// bot says nothing in it for what was accepted before: the session's epoch rises, its open
// tickets are cancelled, its promises called off, and so are its notices that have not left. The same person again completes what was
// left. Errors: ErrNotFound, ErrTaken. After any other one the session is the person's or not,
// and tickets or promises may be left, which end by themselves.
func (q *Queue) TakeOver(ctx context.Context, ticket, person string, now time.Time) (Session, error) {
	h, err := q.Handoff(ctx, ticket)
	if err != nil {
		return Session{}, err
	}
	rec, err := q.changeOwner(ctx, &h, now, func(s *Session) (chat.Owner, error) {
		switch {
		case s.Owner != string(chat.OwnerHuman):
			s.Epoch++
			s.Human = person
			return chat.OwnerHuman, nil
		case s.Human != person:
			return "", fmt.Errorf("session %s: %w", h.Session, ErrTaken)
		}
		return "", nil
	})
	if err != nil {
		return rec, err
	}
	return rec, errors.Join(q.silence(ctx, &h, now), q.callOffSession(ctx, &h, now), q.callOffNotices(ctx, &h, now))
}

// GiveBack gives the session of a handoff back to the bot at now, from the queue or from
// whichever person has it. The epoch stays: what came before the takeover is never answered.
// Errors: ErrNotFound.
func (q *Queue) GiveBack(ctx context.Context, ticket string, now time.Time) (Session, error) {
	h, err := q.Handoff(ctx, ticket)
	if err != nil {
		return Session{}, err
	}
	return q.changeOwner(ctx, &h, now, func(s *Session) (chat.Owner, error) {
		if s.Owner == string(chat.OwnerBot) {
			return "", nil
		}
		s.Human = ""
		return chat.OwnerBot, nil
	})
}

// Say adds what a person says to a session that they have, at now, once for an id, and
// returns its seq. ErrNotTaken: nobody has it; ErrTaken: another one has it; ErrReused: the id
// was used with another text.
func (q *Queue) Say(ctx context.Context, tenant, session, human, id string, said chat.Reply, now time.Time) (uint64, error) {
	rec, err := q.Session(ctx, tenant, session)
	if err != nil {
		return 0, err
	}
	if rec.Owner != string(chat.OwnerHuman) {
		return 0, fmt.Errorf("session %s: %w", session, ErrNotTaken)
	}
	if rec.Human != human {
		return 0, fmt.Errorf("session %s: %w", session, ErrTaken)
	}
	t := &chat.Ticket{ID: rec.Changed.Ticket, Tenant: tenant, Session: session}
	seq, err := q.appendAs(ctx, OwnerSay, t, "said-"+id, chat.Event{
		Kind: chat.KindMessage, At: now, Ticket: t.ID, Who: chat.ByHuman, Text: said.Text, HTML: said.HTML, Locale: said.Locale,
	})
	if err != nil {
		return 0, err
	}
	kept, _, _, err := q.Events(ctx, tenant, session, seq-1, 1)
	if err != nil {
		return 0, err
	}
	if len(kept) == 1 && kept[0].Seq == seq && kept[0].Text != said.Text {
		return 0, fmt.Errorf("say in session %s: %w", session, ErrReused)
	}
	return seq, nil
}

// silence cancels what is open of a session that a person took over. What has set out to do
// something that cannot be undone goes on, and is overruled when it ends.
func (q *Queue) silence(ctx context.Context, h *Handoff, now time.Time) error {
	past, err := q.Past(ctx, h.Tenant, h.Session, 1)
	if err != nil {
		return err
	}
	for id := range past.Open {
		_, err := q.Cancel(ctx, id, chat.ReasonHuman, now)
		switch {
		case err == nil, errors.Is(err, ErrEnded), errors.Is(err, ErrInEffect), errors.Is(err, ErrNotFound):
		default:
			return err
		}
	}
	return nil
}

// callOffSession calls off what is owed to a session that a person took over.
func (q *Queue) callOffSession(ctx context.Context, h *Handoff, now time.Time) error {
	var owed []Owed
	err := q.eachOpen(ctx, func(o Owed) {
		if o.Tenant == h.Tenant && o.Session == h.Session {
			owed = append(owed, o)
		}
	})
	for _, o := range owed {
		if err != nil {
			return err
		}
		if _, err = q.Cancel(ctx, o.ID, chat.ReasonHuman, now); errors.Is(err, ErrEnded) || errors.Is(err, ErrNotFound) {
			_, err = q.SettlePromise(ctx, o.ID, chat.PromiseCancelled, chat.ReasonHuman, now)
			err = unlessClosed(err)
		}
		if errors.Is(err, ErrInEffect) {
			err = nil
		}
	}
	return err
}
