package gate

import (
	"cmp"
	"maps"
	"slices"

	"sluice/internal/chat"
)

// maxCrowd is how many of those who hold permits of a vendor are told.
const maxCrowd = 20

// Demand is who holds the permits of a vendor, and who waits for one.
type Demand struct {
	Crowd   []Occupant        `json:"crowd,omitempty"`   // with the most permits, most first; at most 20
	Waiters map[chat.Lane]int `json:"waiters,omitempty"` // that wish for this vendor first
}

// Occupant is the permits that tickets of a tenant in a lane hold of a vendor.
type Occupant struct {
	Tenant string    `json:"tenant"` // empty: taken over from a process that did not tell
	Lane   chat.Lane `json:"lane"`
	InUse  int       `json:"in_use"`
}

// Demands returns who holds and waits for each vendor's permits.
func (t *Table) Demands() map[string]Demand {
	held := map[string]map[Occupant]int{}
	for _, p := range t.permits {
		if held[p.Vendor] == nil {
			held[p.Vendor] = map[Occupant]int{}
		}
		held[p.Vendor][Occupant{Tenant: p.Tenant, Lane: p.Lane}]++
	}
	all := map[string]Demand{}
	for vendor, by := range held {
		all[vendor] = Demand{Crowd: occupants(by)}
	}
	for _, w := range t.waiters {
		d := all[w.Vendors[0]]
		if d.Waiters == nil {
			d.Waiters = map[chat.Lane]int{}
			all[w.Vendors[0]] = d
		}
		d.Waiters[w.Lane]++
	}
	return all
}

// occupants returns those with the most permits, in an order that depends on nothing else.
func occupants(by map[Occupant]int) []Occupant {
	all := make([]Occupant, 0, len(by))
	for o, n := range maps.All(by) {
		o.InUse = n
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b Occupant) int {
		return cmp.Or(cmp.Compare(b.InUse, a.InUse), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Lane, b.Lane))
	})
	return all[:min(len(all), maxCrowd)]
}
