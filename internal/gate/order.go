package gate

import (
	"time"

	"sluice/internal/chat"
)

// next returns the waiter that comes next at now, with the vendor and the pool that
// have room for it, or nil. Strict order: further steps of running tickets, then a lane
// below its floor, then rank; inside a rank tenants take turns, and a tenant's waiters
// go by the time of acceptance.
func (t *Table) next(now time.Time) (*waiter, string, Pool) {
	if w, vendor, pool := t.bestOf(t.bands[stepRank], now, nil); w != nil {
		return w, vendor, pool
	}
	if w, vendor, pool := t.floored(now); w != nil {
		return w, vendor, pool
	}
	for rank := chat.High.Rank(); rank >= 0; rank-- {
		if w, vendor, pool := t.bestOf(t.bands[rank], now, nil); w != nil {
			return w, vendor, pool
		}
	}
	return nil, "", ""
}

// floored returns a waiter of a lane that holds less than its floor at a vendor.
func (t *Table) floored(now time.Time) (*waiter, string, Pool) {
	for _, lane := range chat.Lanes() {
		if t.cfg.Lanes[lane].Floor == 0 {
			continue
		}
		below := func(c *class, a *account) bool {
			return c.lane == lane && a.floor(lane, t.cfg.Lanes[lane], now)
		}
		for rank := chat.High.Rank(); rank >= 0; rank-- {
			if w, vendor, pool := t.bestOf(t.bands[rank], now, below); w != nil {
				return w, vendor, pool
			}
		}
	}
	return nil, "", ""
}

// bestOf returns the first waiter of a band for whom there is room. allow, if not nil,
// says which vendors count for a class.
func (t *Table) bestOf(b *band, now time.Time, allow func(*class, *account) bool) (best *waiter, vendor string, pool Pool) {
	for _, c := range b.classes {
		if t.cfg.Lanes[c.lane].Paused {
			continue
		}
		w := c.first(b)
		if best != nil && !b.precedes(w, best) {
			continue
		}
		for _, name := range c.vendors {
			a := t.accounts[name]
			if a == nil || allow != nil && !allow(c, a) {
				continue
			}
			if p, ok := a.room(&w.Ask, t.cfg.Lanes[c.lane], now); ok {
				best, vendor, pool = w, name, p
				break
			}
		}
	}
	return best, vendor, pool
}

// ahead returns how many waiters will be granted before w, which stands in a band, if
// nobody else joins: those of better bands, and of its own as the tenants' turns have it.
func (t *Table) ahead(w *waiter) int {
	b, rank := w.band, 0
	for r, other := range t.bands {
		if other == b {
			rank = r
		}
	}
	n := 0
	for r := rank + 1; r < len(t.bands); r++ {
		n += t.bands[r].count
	}
	own := 0
	for _, c := range b.classes {
		if l := c.tenants[w.Tenant]; l != nil {
			for _, other := range l.asks {
				if other.sooner(&w.Ask) {
					own++
				}
			}
		}
	}
	n += own
	for tenant, waits := range b.waits {
		if tenant != w.Tenant {
			n += min(waits, own+1)
		}
	}
	return n
}

// Place returns a ticket's place among all who wait, counted from 1; false: it does
// not wait. It is an estimate: whoever joins later with a better rank goes before.
func (t *Table) Place(ticket string, now time.Time) (int, bool) {
	t.age(now)
	w := t.tickets[ticket]
	if w == nil {
		return 0, false
	}
	front, before := t.behind(w)
	if front == nil {
		return before, true
	}
	return t.ahead(front) + before + 1, true
}

// Behind returns the place that a new ticket of a lane would have, at most.
func (t *Table) Behind(lane chat.Lane, now time.Time) int {
	t.age(now)
	place := 1
	for r := lane.Rank(); r < len(t.bands); r++ {
		place += t.bands[r].count
	}
	return place
}
