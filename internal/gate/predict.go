package gate

import (
	"slices"
	"time"

	"sluice/internal/chat"
)

// callRate learns how many calls a ticket makes: its further steps take permits before
// all new work.
type callRate struct{ firsts, steps float64 }

// rateMemory is after how many tickets the past counts half.
const rateMemory = 200

func (c *callRate) count(step bool) {
	if step {
		c.steps++
		return
	}
	if c.firsts++; c.firsts >= rateMemory {
		c.firsts, c.steps = c.firsts/2, c.steps/2
	}
}

func (c *callRate) perTicket() float64 {
	if c.firsts == 0 {
		return 1
	}
	return 1 + c.steps/c.firsts
}

// busyShare is the weight of the newest grant in the shares of the bands.
const busyShare = 0.02

// shares learns which part of all grants each band gets of late.
type shares []float64

func (s shares) count(rank int) {
	for r := range s {
		s[r] *= 1 - busyShare
	}
	s[rank] += busyShare
}

// mostAbove is the most that lanes above are taken to claim of the permits to come.
const mostAbove = 0.95

// above returns the part that new work of better ranks takes: whoever waits below it
// meets not only those ahead but all who come meanwhile (M/M/c with priorities: Cobham 1954).
func (s shares) above(rank int) float64 {
	sum := 0.0
	for r := rank + 1; r < stepRank; r++ {
		sum += s[r]
	}
	return min(sum, mostAbove)
}

// predict says whether w, which has just joined, would wait in vain: by the waiters
// ahead of it, the time that permits are held of late, and the permits that it may use.
// Steps are never predicted away, nor is anybody while too little is known; urgent tickets
// are only told that no vendor takes a call in time.
func (t *Table) predict(w *waiter, now time.Time) *Refusal {
	if t.side(w) {
		return t.closed(w, now)
	}
	if !t.cfg.Predict || w.Step || w.Deadline.IsZero() {
		return nil
	}
	wait, reason := t.wait(w, now)
	if wait <= w.Deadline.Sub(now) || w.Urgent && reason != ReasonUnavailable {
		return nil
	}
	return &Refusal{Reason: reason, Wait: wait}
}

// side reports whether a waiter wants a call of a tool.
func (t *Table) side(w *waiter) bool {
	a := t.accounts[w.Vendors[0]]
	return a != nil && a.cfg.Tool
}

// closed refuses a call of a tool that takes none before the waiter's deadline: the answer
// goes on without it at once.
func (t *Table) closed(w *waiter, now time.Time) *Refusal {
	at := t.accounts[w.Vendors[0]].availableAt(now)
	if w.Deadline.IsZero() || !at.After(w.Deadline) {
		return nil
	}
	return &Refusal{Reason: ReasonUnavailable, Wait: at.Sub(now)}
}

// wait predicts how long w will wait; 0 also where nothing is known.
func (t *Table) wait(w *waiter, now time.Time) (time.Duration, Reason) {
	usable, hold, soonest := t.prospect(&w.Ask, now)
	switch {
	case usable > 0:
	case soonest.IsZero():
		return 0, ReasonWait
	default:
		return soonest.Sub(now), ReasonUnavailable
	}
	front, behind := t.behind(w)
	ticket := float64(hold) * t.calls.perTicket()
	wait := float64(behind) * ticket
	if front == nil {
		return time.Duration(wait), ReasonWait
	}
	if ahead := t.ahead(front); ahead > 0 || !t.hasRoom(front, now) {
		wait += float64(ahead+1) * ticket / float64(usable) / (1 - t.shares.above(w.rank))
	}
	return time.Duration(wait), ReasonWait
}

// behind returns the waiter that stands for w's session (nil: one of the session runs),
// and how many of the session come before w.
func (t *Table) behind(w *waiter) (front *waiter, before int) {
	if w.band != nil {
		return w, 0
	}
	s := t.sessions[w.sessionKey()]
	if s.turn != "" {
		before = 1
	}
	for _, other := range s.waits {
		if other != w && other.before(&w.Ask) {
			before++
		}
	}
	return s.front, before
}

func (t *Table) hasRoom(w *waiter, now time.Time) bool {
	for _, name := range w.Vendors {
		if a := t.accounts[name]; a != nil {
			if _, ok := a.room(&w.Ask, t.cfg.Lanes[w.Lane], now); ok {
				return true
			}
		}
	}
	return false
}

// Measure notes for how long the permits in use have been held: calls that have become
// slow are known before the first of them ends. It costs a look at each permit.
func (t *Table) Measure(now time.Time) {
	held := map[string][]time.Duration{}
	for _, p := range t.permits {
		held[p.Vendor] = append(held[p.Vendor], now.Sub(p.GrantedAt))
	}
	for name, a := range t.accounts {
		a.elapsed = 0
		if all := held[name]; len(all) >= holdsNeeded {
			slices.Sort(all)
			a.elapsed = all[len(all)*3/4]
		}
	}
}

// Hopeless returns, by the id of the waiter, who waits in vain since a vendor went away:
// none of its vendors is back before its deadline. They wait no more.
func (t *Table) Hopeless(now time.Time) map[uint64]*Refusal {
	if !t.cfg.Predict || !t.anyAway(now) {
		return nil
	}
	all := map[uint64]*Refusal{}
	for id, w := range t.waiters {
		if w.Step || w.Deadline.IsZero() {
			continue
		}
		usable, _, soonest := t.prospect(&w.Ask, now)
		if usable == 0 && soonest.After(w.Deadline) {
			all[id] = &Refusal{Reason: ReasonUnavailable, Wait: soonest.Sub(now)}
		}
	}
	for id := range all {
		t.Leave(id)
	}
	return all
}

func (t *Table) anyAway(now time.Time) bool {
	for _, a := range t.accounts {
		if !a.cfg.Tool && a.availableAt(now).After(now) {
			return true
		}
	}
	return false
}

// prospect returns how many permits an ask may ever use of the vendors that take calls
// now, and for how long those are held; with none, when the first vendor is back.
func (t *Table) prospect(a *Ask, now time.Time) (usable int, hold time.Duration, soonest time.Time) {
	var known, sum float64
	for _, name := range a.Vendors {
		acc := t.accounts[name]
		if acc == nil || acc.removed {
			continue
		}
		if at := acc.availableAt(now); at.After(now) {
			if soonest.IsZero() || at.Before(soonest) {
				soonest = at
			}
			continue
		}
		n := acc.usable(a.Lane, t.cfg.Lanes[a.Lane], now)
		usable += n
		if upper := max(acc.holds.upper(holdsNeeded), acc.elapsed); upper > 0 {
			known += float64(n)
			sum += float64(n) * float64(upper)
		}
	}
	if known > 0 {
		hold = time.Duration(sum / known)
	}
	return usable, hold, soonest
}

// usable returns how many permits a lane may hold here at once.
func (a *account) usable(name chat.Lane, lane Lane, now time.Time) int {
	limit := a.limit(now) + a.over
	if limit <= 0 {
		return 0
	}
	base := a.base(limit)
	if lane.Share > 0 {
		base = shareOf(base, lane.Share)
	}
	if lane.Elastic {
		base += a.elastic(limit)
	}
	return base
}

// Expect predicts when the one at a place may be granted, by the permits of all vendors.
func (t *Table) Expect(place int, now time.Time) time.Duration {
	var limit, free int
	var sum, known float64
	for _, a := range t.accounts {
		if a.cfg.Tool {
			continue
		}
		n := a.limit(now)
		limit += n
		free += max(0, n-a.inUse)
		if upper := a.holds.upper(1); upper > 0 {
			sum, known = sum+float64(n)*float64(upper), known+float64(n)
		}
	}
	hold := float64(time.Second) // before any was measured
	if known > 0 {
		hold = sum / known
	}
	if limit == 0 || place <= free {
		return 0
	}
	return time.Duration(float64(place-free) * hold * t.calls.perTicket() / float64(limit))
}
