package gate

import (
	"container/heap"
	"time"

	"sluice/internal/chat"
)

// stepRank is above every lane's: further calls of running tickets go first.
var stepRank = chat.High.Rank() + 1

// waiter is an ask in the table.
type waiter struct {
	Ask
	rank   int       // the lane's, risen with age
	riseAt time.Time // when it rises by one; zero: never
	rise   int       // its place among those that will rise
	band   *band     // nil: behind another one of its session
	class  *class
	place  int // in its tenant's line
}

func (w *waiter) precedes(other *waiter) bool { return w.sooner(&other.Ask) }
func (w *waiter) put(at int)                  { w.place = at }

// riser is a waiter among those that will rise.
type riser struct{ *waiter }

func (r riser) precedes(other riser) bool { return r.riseAt.Before(other.riseAt) }
func (r riser) put(at int)                { r.rise = at }

// session is one conversation's waiters, and the ticket whose turn it is.
type session struct {
	turn  string // ticket; empty: nobody's
	waits []*waiter
	front *waiter // who stands in a band for all of them; nil while somebody has the turn
}

// stand puts a waiter where it may be granted from.
func (t *Table) stand(w *waiter) {
	if !w.needsTurn() {
		t.bands[w.rank].add(w)
		return
	}
	key := w.sessionKey()
	s := t.sessions[key]
	if s == nil {
		s = &session{}
		t.sessions[key] = s
	}
	s.waits = append(s.waits, w)
	t.arrange(key, s)
}

// unstand takes a waiter out of the order.
func (t *Table) unstand(w *waiter) {
	if !w.riseAt.IsZero() {
		heap.Remove(&t.risers, w.rise)
		w.riseAt = time.Time{}
	}
	if w.band != nil {
		w.band.remove(w)
	}
	if !w.needsTurn() {
		return
	}
	key := w.sessionKey()
	s := t.sessions[key]
	for i, other := range s.waits {
		if other == w {
			s.waits = append(s.waits[:i], s.waits[i+1:]...)
			break
		}
	}
	if s.front == w {
		s.front = nil
	}
	t.arrange(key, s)
}

// arrange lets the session's first waiter stand for it, with the rank of the best
// behind it: an urgent message is not held up by the plain one that its own session
// must answer first.
func (t *Table) arrange(key string, s *session) {
	if s.turn == "" && len(s.waits) == 0 {
		delete(t.sessions, key)
		return
	}
	var front *waiter
	rank := 0
	if s.turn == "" {
		front = s.waits[0]
		for _, w := range s.waits {
			if w.before(&front.Ask) {
				front = w
			}
			rank = max(rank, w.rank)
		}
	}
	if s.front != nil && (s.front != front || s.front.band != t.bands[rank]) {
		s.front.band.remove(s.front)
		s.front = nil
	}
	if front != nil && s.front == nil {
		t.bands[rank].add(front)
		s.front = front
	}
}

// setTurn gives a session's turn to a ticket, or takes it back with an empty name.
func (t *Table) setTurn(key, ticket string) {
	s := t.sessions[key]
	if s == nil {
		s = &session{}
		t.sessions[key] = s
	}
	s.turn = ticket
	t.arrange(key, s)
}

// age lets everyone rise whose time has come.
func (t *Table) age(now time.Time) {
	for len(t.risers) > 0 && !t.risers[0].riseAt.After(now) {
		w := t.risers[0].waiter
		w.rank++
		if age := t.cfg.Lanes[w.Lane].Age; age > 0 && w.rank < chat.High.Rank() {
			w.riseAt = w.riseAt.Add(age)
			heap.Fix(&t.risers, 0)
		} else {
			heap.Pop(&t.risers)
			w.riseAt = time.Time{}
		}
		switch {
		case w.needsTurn():
			key := w.sessionKey()
			t.arrange(key, t.sessions[key])
		case w.band != nil:
			w.band.remove(w)
			t.bands[w.rank].add(w)
		}
	}
}

// ageing notes when a new waiter will rise.
func (t *Table) ageing(w *waiter) {
	if age := t.cfg.Lanes[w.Lane].Age; age > 0 && w.rank < chat.High.Rank() {
		w.riseAt = w.AcceptedAt.Add(age)
		heap.Push(&t.risers, riser{w})
	}
}
