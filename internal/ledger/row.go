package ledger

import (
	"encoding/json"
	"time"
)

// TicketRow is one ticket in its latest revision. Times are kept to the microsecond and come back in UTC.
type TicketRow struct {
	Tenant  string // with ID the key; neither may be empty
	ID      string
	Rev     uint64 // grows with every change; the highest wins
	Session string
	Lane    string
	Status  string
	Intent  string
	Urgent  bool
	Route   string // empty until decided, as the fields up to Model
	Level   int
	Reason  string
	Vendor  string
	Model   string

	Attempts         int
	PromptTokens     int64
	CompletionTokens int64
	QueuedMs         int64 // 0 until decided
	HandledMs        int64 // 0 until ended

	AcceptedAt time.Time // never zero
	EndedAt    *time.Time
	// Body is the whole ticket. It comes back as the same JSON value, not the same bytes: keys are reordered.
	Body json.RawMessage
}

// EventRow is one event of a talk, written once. Times are kept to the microsecond and come back in UTC.
type EventRow struct {
	Tenant  string // with Session, Seq and At the key; neither may be empty
	Session string
	Seq     uint64
	Ticket  string
	Kind    string
	Who     string
	// At is the event's own time, never that of recording it: by At a redelivered event is recognised.
	At time.Time
	// Body is the whole event, like TicketRow.Body.
	Body json.RawMessage
}

const (
	ticketColumns = `tenant, id, rev, session, lane, status, intent, urgent, route, level, reason, vendor, model,
		attempts, prompt_tokens, completion_tokens, queued_ms, handled_ms, accepted_at, ended_at, body`
	eventColumns = `tenant, session, seq, at, ticket, kind, who, body`
)
