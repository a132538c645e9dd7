package gate

import (
	"cmp"
	"slices"
	"time"

	"sluice/internal/chat"
)

// reference is a table that decides as slowly and plainly as the rules read: at each
// step it lists everyone who may go now, sorts the list and takes the first.
type reference struct {
	cfg     Config
	held    map[uint64]Permit
	waiting []Ask
	turns   map[string]string
	last    uint64
	now     time.Time // of the latest ageing
	tags    map[place]float64
	clock   map[int]float64
}

// place is a tenant in a band.
type place struct {
	rank   int
	tenant string
}

func newReference(cfg Config) *reference {
	return &reference{
		cfg: cfg, held: map[uint64]Permit{}, turns: map[string]string{},
		tags: map[place]float64{}, clock: map[int]float64{},
	}
}

func (r *reference) join(a Ask, now time.Time) {
	r.waiting = append(r.waiting, a)
	r.age(now)
}

func (r *reference) leave(id uint64) {
	r.waiting = slices.DeleteFunc(r.waiting, func(a Ask) bool { return a.ID == id })
}

func (r *reference) setTurn(key, ticket string) {
	if ticket == "" {
		delete(r.turns, key)
	} else {
		r.turns[key] = ticket
	}
}

func (r *reference) age(now time.Time) {
	r.now = now
}

// count counts the permits that fit.
func (r *reference) count(fits func(Permit) bool) int {
	n := 0
	for _, p := range r.held {
		if fits(p) {
			n++
		}
	}
	return n
}

func (r *reference) used(vendor string) int {
	return r.count(func(p Permit) bool { return p.Vendor == vendor })
}

// room returns the pool of a vendor that has room for a.
func (r *reference) room(a Ask, name string) (Pool, bool) {
	v, known := r.cfg.Vendors[name]
	if !known || r.used(name) >= v.Limit {
		return "", false
	}
	if most := v.Models[a.Model]; most > 0 && r.count(func(p Permit) bool { return p.Vendor == name && p.Model == a.Model }) >= most {
		return "", false
	}
	lane := r.cfg.Lanes[a.Lane]
	in := func(pool Pool) int {
		return r.count(func(p Permit) bool { return p.Vendor == name && p.Pool == pool })
	}
	if lane.Elastic && in(Elastic) < v.Elastic {
		return Elastic, true
	}
	base := v.Limit - v.Elastic
	own := r.count(func(p Permit) bool { return p.Vendor == name && p.Pool == Base && p.Lane == a.Lane })
	if in(Base) >= base || lane.Share > 0 && own >= max(1, int(float64(base)*lane.Share)) {
		return "", false
	}
	return Base, true
}

func (r *reference) belowFloor(a Ask, name string) bool {
	v, floor := r.cfg.Vendors[name], r.cfg.Lanes[a.Lane].Floor
	own := r.count(func(p Permit) bool { return p.Vendor == name && p.Pool == Base && p.Lane == a.Lane })
	return floor > 0 && own < max(1, int(float64(v.Limit-v.Elastic)*floor))
}

func (r *reference) own(a Ask) int {
	if a.Step {
		return stepRank
	}
	rank, now := map[chat.Lane]int{chat.High: 4, chat.Normal: 3, chat.Low: 2, chat.Deferred: 1, chat.Batch: 0}[a.Lane], r.now
	for age := r.cfg.Lanes[a.Lane].Age; age > 0 && rank < 4 && !now.Before(a.AcceptedAt.Add(age)); rank++ {
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

// stands reports whether a stands in a band, and in which.
func (r *reference) stands(a Ask) (rank int, ok bool) {
	if !a.needsTurn() {
		return r.own(a), true
	}
	siblings := r.siblings(a)
	if siblings[0].ID != a.ID || r.turns[a.sessionKey()] != "" {
		return 0, false
	}
	for _, b := range siblings {
		rank = max(rank, r.own(b))
	}
	return rank, true
}

// candidate is a waiter who may be granted now.
type candidate struct {
	Ask
	rank   int
	tag    float64
	vendor string
	pool   Pool
	group  int // steps, lanes below their floors, all others
}

// candidates lists who may be granted now, and where.
func (r *reference) candidates() []candidate {
	var all []candidate
	for _, a := range r.waiting {
		rank, ok := r.stands(a)
		if !ok || r.cfg.Lanes[a.Lane].Paused {
			continue
		}
		for _, floored := range []bool{true, false} {
			c := candidate{Ask: a, rank: rank, tag: max(r.tags[place{rank, a.Tenant}], r.clock[rank]), group: 10}
			if floored {
				c.group = 1 + slices.Index(chat.Lanes(), a.Lane)
			}
			if a.Step {
				c.group = 0
			}
			for _, v := range a.Vendors {
				pool, ok := r.room(a, v)
				if ok && (!floored || !a.Step && r.belowFloor(a, v)) {
					c.vendor, c.pool = v, pool
					all = append(all, c)
					break
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		if c := cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(b.rank, a.rank), cmp.Compare(a.tag, b.tag)); c != 0 {
			return c
		}
		return order(a.AcceptedAt.Before(b.AcceptedAt), b.AcceptedAt.Before(a.AcceptedAt), a.ID < b.ID)
	})
	return all
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
	r.age(now)
	var all []Grant
	for {
		list := r.candidates()
		if len(list) == 0 {
			return all
		}
		c := list[0]
		at := place{c.rank, c.Tenant}
		r.clock[c.rank] = c.tag
		r.tags[at] = c.tag + 1/r.cfg.weight(c.Tenant)
		r.leave(c.ID)
		r.last++
		p := Permit{
			ID: r.last, Vendor: c.vendor, Tenant: c.Tenant, Ticket: c.Ticket, Lane: c.Lane, Model: c.Model, Pool: c.pool, GrantedAt: now,
		}
		r.held[p.ID] = p
		if c.needsTurn() {
			r.setTurn(c.sessionKey(), c.Ticket)
		}
		all = append(all, Grant{Ask: c.Ask, Permit: p, Turn: c.needsTurn()})
	}
}
