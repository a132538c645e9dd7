package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// Session is the record of a conversation. It outlives the events: Seq is that
// of the newest event ever appended, so that an emptied log never begins again at 1.
type Session struct {
	Owner     string   `json:"owner"`                // bot, queue or human
	Epoch     uint64   `json:"epoch"`                // rises when a human takes over
	Human     string   `json:"human,omitempty"`      // the operator who has it
	Asked     string   `json:"asked,omitempty"`      // the ticket that last asked people for help
	Changed   Handover `json:"changed,omitzero"`     // the newest change of its owner by people
	Seq       uint64   `json:"seq"`                  // of the newest event in the talk log
	TokenHash string   `json:"token_hash,omitempty"` // of the token that reopens the session, hex SHA-256
	Identity  string   `json:"identity,omitempty"`   // the verified customer, when there is one
	Recent    []Mark   `json:"recent,omitempty"`     // where the newest events are, oldest first
	Read      uint64   `json:"read,omitempty"`       // the newest event that the customer has read
}

// Mark says where an event of the session is in the talk log's stream.
type Mark struct {
	Ticket string `json:"ticket"`
	Seq    uint64 `json:"seq"`
	At     uint64 `json:"at"`             // stream sequence
	Open   bool   `json:"open,omitempty"` // an interactive message without a final event
}

// recentMarks is how many marks a record keeps. It keeps more while an open message is
// among the older ones: reading from the first mark on misses no open message.
const recentMarks = 64

// maxMarks bounds a record in any case: more messages of one session than the lanes of
// the shipped rules can hold open. Marks beyond it are dropped, the oldest first.
const maxMarks = 2048

// note adds an event to the record; false: the record knows it. Events may come out of
// order, when a writer died before its note and somebody else went on.
func (s *Session) note(m Mark) bool {
	known := slices.ContainsFunc(s.Recent, func(k Mark) bool { return k.Seq == m.Seq })
	old := len(s.Recent) >= recentMarks && m.Seq < s.Recent[0].Seq && !m.Open
	if known || old {
		return false
	}
	s.Seq = max(s.Seq, m.Seq)
	for i := range s.Recent {
		if s.Recent[i].Ticket == m.Ticket {
			s.Recent[i].Open, m.Open = false, false
		}
	}
	s.Recent = append(s.Recent, m)
	slices.SortFunc(s.Recent, func(a, b Mark) int { return cmp.Compare(a.Seq, b.Seq) })
	for len(s.Recent) > recentMarks && !s.Recent[0].Open || len(s.Recent) > maxMarks {
		s.Recent = s.Recent[1:]
	}
	return true
}

// from returns the stream sequence at which a reader of the events after seq may
// begin: 1 when the record does not reach back that far.
func (s *Session) from(seq uint64) uint64 {
	from := uint64(1)
	for _, m := range s.Recent {
		if m.Seq > seq+1 {
			break
		}
		from = m.At
	}
	return from
}

// Session reads a session's record, or ErrNotFound.
func (q *Queue) Session(ctx context.Context, tenant, session string) (Session, error) {
	s, _, err := q.session(ctx, tenant, session)
	return s, err
}

func (q *Queue) session(ctx context.Context, tenant, session string) (Session, uint64, error) {
	entry, err := q.sessions.Get(ctx, tenant+"."+session)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Session{}, 0, fmt.Errorf("session %s: %w", session, ErrNotFound)
	}
	if err != nil {
		return Session{}, 0, fmt.Errorf("read session %s: %w", session, err)
	}
	var s Session
	if err := json.Unmarshal(entry.Value(), &s); err != nil {
		return Session{}, 0, fmt.Errorf("decode session %s: %w", session, err)
	}
	return s, entry.Revision(), nil
}

// ChangeSession applies change to the record (a new one when there is none yet) by
// compare-and-set, again after meeting another writer. change says whether it
// changed anything, and may be called several times.
func (q *Queue) ChangeSession(ctx context.Context, tenant, session string, change func(*Session) bool) (Session, error) {
	key := tenant + "." + session
	for range appendTries {
		s, rev, err := q.session(ctx, tenant, session)
		if errors.Is(err, ErrNotFound) {
			s, err = Session{Owner: "bot", Epoch: 1}, nil
		}
		if err != nil {
			return Session{}, err
		}
		if !change(&s) {
			return s, nil
		}
		body, err := json.Marshal(s)
		if err != nil {
			return Session{}, fmt.Errorf("encode session %s: %w", session, err)
		}
		err = decided(ctx, func() (err error) {
			if rev == 0 {
				_, err = q.sessions.Create(ctx, key, body)
			} else {
				_, err = q.sessions.Update(ctx, key, body, rev)
			}
			return err
		})
		if err == nil {
			return s, nil
		}
		if !outpaced(err) {
			return Session{}, refusal("write session "+session, err)
		}
	}
	return Session{}, fmt.Errorf("write session %s: met another writer %d times", session, appendTries)
}

// nextSeq returns the seq of the event that follows head. In an empty log the record
// tells where the expired events ended.
func (q *Queue) nextSeq(ctx context.Context, tenant, session string, head *chat.Event) (uint64, error) {
	if head != nil {
		return head.Seq + 1, nil
	}
	rec, err := q.Session(ctx, tenant, session)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return 0, err
	}
	return rec.Seq + 1, nil
}

// noteEvent lets the record know of an event. A process that dies between the event and
// this write leaves a step of its ticket undone, and whoever repeats the step comes
// by here again: so the record has caught up long before the event can expire.
func (q *Queue) noteEvent(ctx context.Context, t *chat.Ticket, m Mark) error {
	_, err := q.ChangeSession(ctx, t.Tenant, t.Session, func(s *Session) bool { return s.note(m) })
	return err
}
