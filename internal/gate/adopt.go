package gate

// StartAfter makes the table number its permits from id + 1 on.
func (t *Table) StartAfter(id uint64) { t.last = id }

// Adopt enters a permit that another table granted, whether or not there is room for
// it; it is no error if it is there already.
func (t *Table) Adopt(p Permit) {
	if _, there := t.permits[p.ID]; there {
		return
	}
	t.permits[p.ID] = p
	t.inUse[p.Vendor]++
}

// AdoptTurn enters a turn that another table gave. False: another ticket has it.
func (t *Table) AdoptTurn(tenant, session, ticket string) bool {
	key := tenant + "." + session
	if holder, taken := t.turns[key]; taken && holder != ticket {
		return false
	}
	t.turns[key] = ticket
	return true
}

// Stretch lets the permits of a vendor exceed its limit by over, or makes them stay
// below it where over is negative.
func (t *Table) Stretch(vendor string, over int) { t.over[vendor] = over }
