package chat

import (
	"strings"
	"time"
)

// Failure is one taking of a ticket that came to nothing, for operators: a customer
// never reads the cause.
type Failure struct {
	Attempt   int       `json:"attempt"`
	StartedAt time.Time `json:"started_at"`
	At        time.Time `json:"at"` // when it was noticed
	Cause     string    `json:"cause"`
}

// maxCause is the longest cause that is kept, in bytes.
const maxCause = 500

// Fail notes that the present taking came to nothing, at now. The caller stores it.
func (t *Ticket) Fail(cause string, now time.Time) {
	cause = strings.ToValidUTF8(cause[:min(len(cause), maxCause)], "")
	f := Failure{Attempt: t.Attempts, At: now, Cause: cause}
	if t.StartedAt != nil {
		f.StartedAt = *t.StartedAt
	}
	t.Failures = append(t.Failures, f)
}

// Again returns the ticket that asks the same question anew at now, with as much time
// as t had. Nothing of t's life comes with it.
func (t *Ticket) Again(id string, now time.Time) Ticket {
	return Ticket{
		ID: id, Tenant: t.Tenant, Session: t.Session, Lane: t.Lane, RetryOf: t.ID,
		Message: t.Message, Language: t.Language, Phone: t.Phone, CallbackURL: t.CallbackURL,
		Customer: t.Customer, Metadata: t.Metadata, Intent: t.Intent, Urgent: t.Urgent, Crowd: t.Crowd,
		AcceptedAt: now, Deadline: now.Add(t.Deadline.Sub(t.AcceptedAt)),
	}
}
