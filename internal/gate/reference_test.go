package gate

import (
	"slices"
	"time"

	"sluice/internal/chat"
)

// reference is a table that decides as slowly and plainly as the rules read: at each
// step it lists everyone who may go now, sorts the list and takes the first.
type reference struct {
	ages    map[chat.Lane]time.Duration
	limits  map[string]int
	held    map[uint64]string // permit → vendor
	waiting []Ask
	turns   map[string]string
	last    uint64
}

func newReference(ages map[chat.Lane]time.Duration) *reference {
	return &reference{ages: ages, limits: map[string]int{}, held: map[uint64]string{}, turns: map[string]string{}}
}

func (r *reference) leave(id uint64) {
	r.waiting = slices.DeleteFunc(r.waiting, func(a Ask) bool { return a.ID == id })
}

func (r *reference) used(vendor string) int {
	n := 0
	for _, v := range r.held {
		if v == vendor {
			n++
		}
	}
	return n
}

func (r *reference) vendor(a Ask) string {
	for _, v := range a.Vendors {
		if r.used(v) < r.limits[v] {
			return v
		}
	}
	return ""
}

func (r *reference) own(a Ask, now time.Time) int {
	rank := map[chat.Lane]int{chat.High: 4, chat.Normal: 3, chat.Low: 2, chat.Deferred: 1, chat.Batch: 0}[a.Lane]
	for age := r.ages[a.Lane]; age > 0 && rank < 4 && !now.Before(a.AcceptedAt.Add(age)); rank++ {
		now = now.Add(-age)
	}
	return rank
}

// siblings are the waiters of a's session who need its turn, in their order.
func (r *reference) siblings(a Ask) []Ask {
	var all []Ask
	for _, b := range r.waiting {
		if b.needsTurn() && b.Tenant == a.Tenant && b.Session == a.Session {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b Ask) int {
		return order(a.Urgent && !b.Urgent, b.Urgent && !a.Urgent, a.Seq < b.Seq, b.Seq < a.Seq, a.ID < b.ID)
	})
	return all
}

// mayGo reports whether a may be granted now, and with which rank.
func (r *reference) mayGo(a Ask, now time.Time) (rank int, ok bool) {
	if r.vendor(a) == "" {
		return 0, false
	}
	if !a.needsTurn() {
		return r.own(a, now), true
	}
	siblings := r.siblings(a)
	if siblings[0].ID != a.ID || r.turns[a.Tenant+"."+a.Session] != "" {
		return 0, false
	}
	for _, b := range siblings {
		rank = max(rank, r.own(b, now))
	}
	return rank, true
}

func (r *reference) next(now time.Time) (Ask, bool) {
	type entry struct {
		Ask
		rank int
	}
	var all []entry
	for _, a := range r.waiting {
		if rank, ok := r.mayGo(a, now); ok {
			all = append(all, entry{a, rank})
		}
	}
	if len(all) == 0 {
		return Ask{}, false
	}
	slices.SortFunc(all, func(a, b entry) int {
		return order(a.Step && !b.Step, b.Step && !a.Step, a.rank > b.rank, b.rank > a.rank,
			a.AcceptedAt.Before(b.AcceptedAt), b.AcceptedAt.Before(a.AcceptedAt), a.ID < b.ID)
	})
	return all[0].Ask, true
}

// order says -1 at the first true condition of an even place, 1 at that of an odd one.
func order(conditions ...bool) int {
	for i, is := range conditions {
		if is {
			return []int{-1, 1}[i%2]
		}
	}
	return 1
}

func (r *reference) grants(now time.Time) []Grant {
	var all []Grant
	for a, ok := r.next(now); ok; a, ok = r.next(now) {
		r.leave(a.ID)
		r.last++
		p := Permit{ID: r.last, Vendor: r.vendor(a), Ticket: a.Ticket, GrantedAt: now}
		r.held[p.ID] = p.Vendor
		if a.needsTurn() {
			r.turns[a.Tenant+"."+a.Session] = a.Ticket
		}
		all = append(all, Grant{Ask: a, Permit: p, Turn: a.needsTurn()})
	}
	return all
}
