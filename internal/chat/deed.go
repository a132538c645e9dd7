package chat

import (
	"encoding/json"
	"time"
)

// Deed is something that a tool is to do and that cannot be undone, such as a refund: on
// the question that asks the customer for it, and on the ticket that set out to do it.
type Deed struct {
	Tool      string          `json:"tool"`
	Order     string          `json:"order"` // what it is done to
	Arguments json.RawMessage `json:"arguments"`
}

// ClaimState is how far a deed has come.
type ClaimState string

// The life of a claim: claimed → called → done | refused | handed. A claim that was refused
// may be made again.
const (
	ClaimFree    ClaimState = ""        // there is none
	Claimed      ClaimState = "claimed" // nobody has called yet
	ClaimCalled  ClaimState = "called"  // the tool may have been called
	ClaimDone    ClaimState = "done"
	ClaimRefused ClaimState = "refused" // the tool said no, or was never reached: nothing was done
	ClaimHanded  ClaimState = "handed"  // nobody knows: a person has to look
)

// Claim is the one right to do a deed to an order: of a tenant, whatever the session.
type Claim struct {
	ID     string     `json:"id"` // the tool's idempotency key
	State  ClaimState `json:"state"`
	Tenant string     `json:"tenant"`
	Deed
	Customer string          `json:"customer"`
	Ticket   string          `json:"ticket"` // that claimed it
	Tries    int             `json:"tries"`  // calls that were begun
	Result   json.RawMessage `json:"result,omitempty"`
	At       time.Time       `json:"at"`
	Rev      uint64          `json:"-"` // for the next compare-and-set; 0: there is none yet
}
