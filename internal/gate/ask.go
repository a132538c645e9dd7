package gate

import (
	"time"

	"sluice/internal/chat"
)

// Ask is one wish for a permit.
type Ask struct {
	ID         uint64 // of the waiter, unique; the controller sets it
	Tenant     string
	Session    string
	Ticket     string
	Lane       chat.Lane
	Urgent     bool
	Seq        uint64    // the ticket's place in its session
	AcceptedAt time.Time // waiters of one rank go by it
	Vendors    []string  // that will do, the preferred one first
	// Step is a further call of a ticket that is running: it goes before all new work,
	// and needs no turn because its ticket has it.
	Step bool
}

// needsTurn reports whether the ask must wait for its session's turn. In a batch a
// session is only a label.
func (a *Ask) needsTurn() bool { return a.Lane.Interactive() && !a.Step }

func (a *Ask) sessionKey() string { return a.Tenant + "." + a.Session }

// before reports whether a goes before b inside one session: urgent first, then by seq.
func (a *Ask) before(b *Ask) bool {
	if a.Urgent != b.Urgent {
		return a.Urgent
	}
	if a.Seq != b.Seq {
		return a.Seq < b.Seq
	}
	return a.ID < b.ID
}

// Permit is the right to have one call in flight at a vendor. It is held until the
// response's body has ended, and released exactly once by its ID.
type Permit struct {
	ID        uint64
	Epoch     uint64 // of the controller that granted it
	Vendor    string
	Ticket    string
	GrantedAt time.Time
	// Lost is closed when the controller may think the holder dead: the call must end,
	// for the permit may be given to another. Nil: that cannot happen.
	Lost <-chan struct{}
}
