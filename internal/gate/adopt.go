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
	a := t.accounts[p.Vendor]
	if a == nil { // of a vendor that was removed
		a = newAccount()
		a.removed = true
		t.accounts[p.Vendor] = a
	}
	a.count(p, 1)
}

// AdoptTurn enters a turn that another table gave. False: another ticket has it.
func (t *Table) AdoptTurn(tenant, session, ticket string) bool {
	key := tenant + "." + session
	if s := t.sessions[key]; s != nil && s.turn != "" && s.turn != ticket {
		return false
	}
	t.setTurn(key, ticket)
	return true
}

// Stretch lets the permits of a vendor exceed its limit by over, or makes them stay
// below it where over is negative.
func (t *Table) Stretch(vendor string, over int) {
	if a := t.accounts[vendor]; a != nil {
		a.over = over
	}
}
