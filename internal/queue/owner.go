package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"sluice/internal/chat"
)

// ErrTaken says that another person has the session.
var ErrTaken = errors.New("another person has the session")

// errOverruled says that the bot may not speak in a session any more.
var errOverruled = errors.New("a person has the session")

// Handover is the newest change of a session's owner by people. It stands in the record
// before its event is in the talk log, and no other change comes before that event does.
type Handover struct {
	N      uint64     `json:"n"` // counts the changes of the session
	Owner  chat.Owner `json:"owner"`
	Ticket string     `json:"ticket"` // whose handoff it was
	At     time.Time  `json:"at"`
	Told   bool       `json:"told,omitempty"` // its event is in the talk log
}

func (c Handover) untold() bool { return c.N > 0 && !c.Told }

func (c Handover) slot() string { return "owner-" + strconv.FormatUint(c.N, 10) }

// overrules reports whether a person keeps the bot from speaking for a ticket: one has the
// session now, or took it over after the ticket was accepted.
func (s *Session) overrules(t *chat.Ticket) bool {
	return s.Owner == string(chat.OwnerHuman) || s.Epoch > max(1, t.Epoch)
}

// Overruled reports whether a person keeps the bot from answering a ticket. The answer holds
// for this moment alone; what the ticket's end says is judged again when it is told.
func (q *Queue) Overruled(ctx context.Context, t *chat.Ticket) (bool, error) {
	rec, err := q.Session(ctx, t.Tenant, t.Session)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil && rec.overrules(t), err
}

// epoch returns the epoch of a session, also of one that has no record yet.
func (q *Queue) epoch(ctx context.Context, tenant, session string) (uint64, error) {
	rec, err := q.Session(ctx, tenant, session)
	if errors.Is(err, ErrNotFound) {
		return 1, nil
	}
	return rec.Epoch, err
}

// speaks reports whether an event is one that must not follow a takeover: a message of the
// bot, and what says that people are still to come.
func speaks(e *chat.Event, slot string) bool {
	return e.Who == chat.ByBot || slot == slotHandoff || slot == slotOwner
}

// verdict is what a writer of a bot's event has to do.
type verdict int

const (
	goOn      verdict = iota
	lookAgain         // the talk log may have moved
)

// late judges an event of the bot before it is published under a head that was read before.
//
// A takeover writes the record first and its event second. So who sees that event in the head
// sees the record as well, and who does not see it publishes under a head that the event has
// moved, in vain: in the log no word of the bot follows the event. errOverruled is returned
// only once the event is in the log and ours is not: from then on ours can come from nobody.
func (q *Queue) late(ctx context.Context, t *chat.Ticket, subject string) (verdict, error) {
	rec, err := q.Session(ctx, t.Tenant, t.Session)
	if errors.Is(err, ErrNotFound) {
		return goOn, nil
	}
	if err != nil || !rec.overrules(t) {
		return goOn, err
	}
	if rec.Changed.untold() {
		return lookAgain, q.tellChange(ctx, t.Tenant, t.Session, rec.Changed)
	}
	own, _, err := q.last(ctx, subject)
	if err != nil || own != nil {
		return lookAgain, err
	}
	return goOn, errOverruled
}

// tellChange lets the session know of a change of its owner, once.
func (q *Queue) tellChange(ctx context.Context, tenant, session string, c Handover) error {
	t := &chat.Ticket{ID: c.Ticket, Tenant: tenant, Session: session}
	if _, err := q.appendAs(ctx, OwnerEvent, t, c.slot(), chat.OwnerEventOf(c.Ticket, c.Owner, c.At)); err != nil {
		return err
	}
	_, err := q.ChangeSession(ctx, tenant, session, func(s *Session) bool {
		if s.Changed.N != c.N || s.Changed.Told {
			return false
		}
		s.Changed.Told = true
		return true
	})
	return err
}

// changeOwner gives a session another owner and lets it know. give says to whom it goes,
// empty: to nobody else, and may be called several times. A change that somebody left
// untold is told first, so that each is.
func (q *Queue) changeOwner(ctx context.Context, h *Handoff, now time.Time, give func(*Session) (chat.Owner, error)) (Session, error) {
	for range appendTries {
		if err := q.before(OwnerRecord, h.Ticket); err != nil {
			return Session{}, err
		}
		var before Handover
		var refused error
		rec, err := q.ChangeSession(ctx, h.Tenant, h.Session, func(s *Session) bool {
			before, refused = s.Changed, nil
			if before.untold() {
				return false
			}
			var owner chat.Owner
			if owner, refused = give(s); refused != nil || owner == "" {
				return false
			}
			s.Owner = string(owner)
			s.Changed = Handover{N: before.N + 1, Owner: owner, Ticket: h.Ticket, At: now}
			return true
		})
		if err := errors.Join(err, refused); err != nil {
			return rec, err
		}
		if before.untold() {
			if err := q.tellChange(ctx, h.Tenant, h.Session, before); err != nil {
				return rec, err
			}
			continue
		}
		if rec.Changed.untold() {
			err = q.tellChange(ctx, h.Tenant, h.Session, rec.Changed)
		}
		return rec, err
	}
	return Session{}, fmt.Errorf("change the owner of %s: met another writer %d times", h.Session, appendTries)
}

// overrule rewrites an ended ticket whose answer came after a person took its session over,
// before its final event says so. However often and by whomever it is repeated, the ticket
// and that event agree.
func (q *Queue) overrule(ctx context.Context, s Stored) (Stored, error) {
	for range appendTries {
		if s.Status == chat.Cancelled {
			return s, nil
		}
		s.Ticket.Overrule(time.Now().UTC())
		done, err := q.write(ctx, EndHuman, s)
		if !errors.Is(err, ErrLost) {
			return done, err
		}
		found, err := q.Ticket(ctx, s.ID)
		if errors.Is(err, ErrNotFound) {
			return s, nil // its bucket knows it no more: the event tells
		}
		if err != nil {
			return s, err
		}
		s = found
	}
	return s, fmt.Errorf("end ticket %s after a takeover: met another writer %d times", s.ID, appendTries)
}
