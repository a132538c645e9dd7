package gate

import (
	"errors"
	"fmt"
	"slices"
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
	AcceptedAt time.Time // waiters of one rank and tenant go by it
	// Deadline is when the wait has no use any more. The zero time: never; then nothing
	// is predicted.
	Deadline time.Time
	Vendors  []string // that will do, the preferred one first
	Model    string   // our word for the model; some vendors limit each of theirs
	Tokens   int      // that the call may use, input and output: reserved where tokens are limited
	// Step is a further call of a ticket that is running: it goes before all new work,
	// and needs no turn because its ticket has it.
	Step bool
	// Retry is another try after a call that failed. It never waits: it is granted at
	// once from the retries' own budget, or refused. It is a step as well.
	Retry bool
	// Instead is the permit of the failed call, for a retry at the same vendor: it goes
	// back as the new one is granted. 0: none.
	Instead uint64
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

// sooner reports whether a comes before b of the same tenant in one band.
func (a *Ask) sooner(b *Ask) bool {
	if !a.AcceptedAt.Equal(b.AcceptedAt) {
		return a.AcceptedAt.Before(b.AcceptedAt)
	}
	return a.ID < b.ID
}

// check names what makes an ask one that nobody could grant.
func (a *Ask) check() error {
	if len(a.Vendors) == 0 || slices.Contains(a.Vendors, "") {
		return errors.New("ask names no vendor")
	}
	if !a.Lane.Valid() {
		return fmt.Errorf("ask of the unknown lane %q", a.Lane)
	}
	return nil
}

// Pool is the part of a vendor's permits that one comes from.
type Pool string

// The pools of a vendor.
const (
	Base    Pool = ""        // for all lanes
	Elastic Pool = "elastic" // only for lanes that may borrow
)

// Permit is the right to have one call in flight at a vendor. It is held until the
// response's body has ended, and released exactly once by its ID.
type Permit struct {
	ID        uint64
	Epoch     uint64 // of the controller that granted it
	Vendor    string
	Tenant    string
	Ticket    string
	Lane      chat.Lane
	Model     string
	Pool      Pool
	Retry     bool
	GrantedAt time.Time
	// Lost is closed when the controller may think the holder dead: the call must end,
	// for the permit may be given to another. Nil: that cannot happen.
	Lost <-chan struct{}
}

// End is how a call ended. The zero value tells nothing: it was not made, was
// cancelled, or failed through our own fault.
type End struct {
	Outcome Outcome `json:"outcome,omitempty"`
	// Tokens is what the call used; 0: unknown, then what was reserved counts.
	Tokens int `json:"tokens,omitempty"`
	// FirstToken is the time to it; 0: none came, or the call was not streamed.
	FirstToken time.Duration `json:"first_token,omitempty"`
	// RetryAfter is what a vendor that throttles asked for; 0: it named no time.
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	// Unused says that the vendor did no work: its reserved tokens come back.
	Unused bool `json:"unused,omitempty"`
}

// Why an ask was refused at once.
type Reason string

const (
	ReasonWait        Reason = "wait"        // the predicted wait is past its deadline
	ReasonUnavailable Reason = "unavailable" // no vendor will take a call before its deadline
	ReasonBudget      Reason = "budget"      // a retry for which there is no permit now
)

// Refusal answers an ask with "not here, not now".
type Refusal struct {
	Reason Reason        `json:"reason"`
	Wait   time.Duration `json:"wait,omitempty"` // that was predicted
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("no permit in time (%s): the wait is %s", r.Reason, r.Wait)
}
