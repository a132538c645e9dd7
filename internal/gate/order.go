package gate

import (
	"time"

	"sluice/internal/chat"
)

// front is the waiter that stands for its session, with the rank of the best behind it.
type front struct {
	ask  *Ask
	rank int
}

// best returns the waiter that comes next at now and the vendor that has room for it,
// or nil. Strict order: further steps of running tickets, then rank (the lane's, risen with
// age), then the time of acceptance.
func (t *Table) best(now time.Time) (*Ask, string) {
	var best front
	vendor := ""
	consider := func(f front) {
		if best.ask != nil && !t.precedes(f, best) {
			return
		}
		if v := t.vendorFor(f.ask); v != "" {
			best, vendor = f, v
		}
	}
	for _, f := range t.fronts(now) {
		if _, taken := t.turns[f.ask.sessionKey()]; !taken {
			consider(f)
		}
	}
	for _, a := range t.waiters {
		if !a.needsTurn() {
			consider(front{ask: a, rank: t.rank(a, now)})
		}
	}
	return best.ask, vendor
}

// fronts returns, for each session, the waiter whose turn comes next. It takes the
// rank of the best lane behind it, so that an urgent message is not held up by the
// plain one that its own session must answer first.
func (t *Table) fronts(now time.Time) map[string]front {
	all := make(map[string]front, len(t.waiters))
	for _, a := range t.waiters {
		if !a.needsTurn() {
			continue
		}
		key, rank := a.sessionKey(), t.rank(a, now)
		f, found := all[key]
		if !found || a.before(f.ask) {
			f.ask = a
		}
		f.rank = max(f.rank, rank)
		all[key] = f
	}
	return all
}

func (t *Table) precedes(f, g front) bool {
	a, b := f.ask, g.ask
	if a.Step != b.Step {
		return a.Step
	}
	if f.rank != g.rank {
		return f.rank > g.rank
	}
	if !a.AcceptedAt.Equal(b.AcceptedAt) {
		return a.AcceptedAt.Before(b.AcceptedAt)
	}
	return a.ID < b.ID
}

// rank is the lane's rank, risen by one for each full age waited, up to High's.
func (t *Table) rank(a *Ask, now time.Time) int {
	rank := a.Lane.Rank()
	if age := t.ages[a.Lane]; age > 0 {
		rank += int(now.Sub(a.AcceptedAt) / age)
	}
	return min(rank, chat.High.Rank())
}

// Place returns a ticket's place among all who wait at now, counted from 1; false: it
// does not wait. It is an estimate: whoever joins later with a better rank goes before.
func (t *Table) Place(ticket string, now time.Time) (int, bool) {
	var own *front
	for _, a := range t.waiters {
		if a.Ticket == ticket {
			own = &front{ask: a, rank: t.rank(a, now)}
			break
		}
	}
	if own == nil {
		return 0, false
	}
	place := 1
	for _, a := range t.waiters {
		if t.precedes(front{ask: a, rank: t.rank(a, now)}, *own) {
			place++
		}
	}
	return place, true
}

// Behind returns the place that a new ticket of a lane would have.
func (t *Table) Behind(lane chat.Lane, now time.Time) int {
	place := 1
	for _, a := range t.waiters {
		if a.Step || t.rank(a, now) >= lane.Rank() {
			place++
		}
	}
	return place
}
