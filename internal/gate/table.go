package gate

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"sluice/internal/chat"
)

// MaxWaiters bounds the waiters of one table.
const MaxWaiters = 50_000

// ErrCrowded says that MaxWaiters wait already. Whoever is turned away waits for its
// own deadline and is answered without a vendor.
var ErrCrowded = errors.New("too many wait for a permit")

// Table holds the permits of all vendors, everyone who waits for one, and the turns of
// the sessions. It does no I/O and starts nothing; it is not safe for concurrent use.
type Table struct {
	ages    map[chat.Lane]time.Duration
	limits  map[string]int
	over    map[string]int // see Stretch
	inUse   map[string]int
	permits map[uint64]Permit
	waiters map[uint64]*Ask
	turns   map[string]string // session key → the ticket whose turn it is
	last    uint64
}

// NewTable returns a table without vendors. ages says after how long a waiter's rank
// rises by one, per lane; a lane without an age never rises.
func NewTable(ages map[chat.Lane]time.Duration) *Table {
	return &Table{
		ages: ages, limits: map[string]int{}, over: map[string]int{}, inUse: map[string]int{},
		permits: map[uint64]Permit{}, waiters: map[uint64]*Ask{}, turns: map[string]string{},
	}
}

// SetLimits replaces the limits of all vendors. A vendor that is left out grants
// nothing more; what is in use above a lower limit ends in its own time.
func (t *Table) SetLimits(limits map[string]int) {
	t.limits = map[string]int{}
	maps.Copy(t.limits, limits)
}

// Join makes a wait until it is granted or leaves. ErrCrowded: the table is full.
func (t *Table) Join(a Ask) error {
	if len(t.waiters) >= MaxWaiters {
		return ErrCrowded
	}
	if _, taken := t.waiters[a.ID]; taken {
		return fmt.Errorf("waiter %d joins twice", a.ID)
	}
	t.waiters[a.ID] = &a
	return nil
}

// Leave ends the wait of a waiter; it is no error if there is none.
func (t *Table) Leave(id uint64) { delete(t.waiters, id) }

// Grant is a permit and the ask that it answers.
type Grant struct {
	Ask    Ask
	Permit Permit
	Turn   bool // the session's turn came with it
}

// Grants gives out every permit that can be given at now, best waiter first.
func (t *Table) Grants(now time.Time) []Grant {
	var all []Grant
	for len(t.waiters) > 0 && t.room() {
		a, vendor := t.best(now)
		if a == nil {
			break
		}
		delete(t.waiters, a.ID)
		t.last++
		p := Permit{ID: t.last, Vendor: vendor, Ticket: a.Ticket, GrantedAt: now}
		t.permits[p.ID] = p
		t.inUse[vendor]++
		if a.needsTurn() {
			t.turns[a.sessionKey()] = a.Ticket
		}
		all = append(all, Grant{Ask: *a, Permit: p, Turn: a.needsTurn()})
	}
	return all
}

// Release gives a permit back and returns it; false: it was back already.
func (t *Table) Release(id uint64) (Permit, bool) {
	p, held := t.permits[id]
	if !held {
		return Permit{}, false
	}
	delete(t.permits, id)
	if t.inUse[p.Vendor]--; t.inUse[p.Vendor] == 0 {
		delete(t.inUse, p.Vendor)
	}
	return p, true
}

// EndTurn lets the next ticket of a session begin; only the ticket whose turn it is
// can end it.
func (t *Table) EndTurn(tenant, session, ticket string) {
	if key := tenant + "." + session; t.turns[key] == ticket {
		delete(t.turns, key)
	}
}

// InUse returns the permits in use at a vendor, and its limit.
func (t *Table) InUse(vendor string) (used, limit int) { return t.inUse[vendor], t.limits[vendor] }

// Waiting returns how many wait.
func (t *Table) Waiting() int { return len(t.waiters) }

// Limit returns the permits of all vendors together.
func (t *Table) Limit() int {
	sum := 0
	for _, limit := range t.limits {
		sum += limit
	}
	return sum
}

func (t *Table) free(vendor string) bool {
	return t.inUse[vendor] < t.limits[vendor]+t.over[vendor]
}

func (t *Table) room() bool {
	for vendor := range t.limits {
		if t.free(vendor) {
			return true
		}
	}
	return false
}

// vendorFor returns the first of a's vendors that has room, or "".
func (t *Table) vendorFor(a *Ask) string {
	for _, vendor := range a.Vendors {
		if t.free(vendor) {
			return vendor
		}
	}
	return ""
}
