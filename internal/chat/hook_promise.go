package chat

import "time"

// BrokenPromise is what a webhook says of a promise that was not kept: neither the question
// nor the number, which its tenant knows by the ticket.
type BrokenPromise struct {
	Ticket   string    `json:"ticket_id"` // the follow-up
	Parent   string    `json:"parent"`    // the ticket whose reply made the promise
	Session  string    `json:"session_id"`
	Code     string    `json:"code"` // what the customer was told to name it by
	Channel  string    `json:"channel"`
	Reason   Reason    `json:"reason"`
	Locale   string    `json:"locale"`
	MadeAt   time.Time `json:"made_at"`
	DueAt    time.Time `json:"due_at"`
	BrokenAt time.Time `json:"broken_at"`
}

// BrokenHook returns the message that a promise was broken, for the endpoint of its tenant.
func BrokenHook(p BrokenPromise, tenant string) (Hook, []byte, error) {
	return NewHook(tenant, HookBroken, p.Ticket, "", p.BrokenAt, p)
}
