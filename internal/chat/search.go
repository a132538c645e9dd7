package chat

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// Life narrows a search to tickets that are open, or that have ended.
type Life string

// The two halves of a ticket's life.
const (
	LifeOpen  Life = "open"
	LifeEnded Life = "ended"
)

// TicketFilter says which tickets are looked for. An empty field takes any.
type TicketFilter struct {
	Tenant  string    `json:"tenant,omitempty"`
	Session string    `json:"session,omitempty"`
	Status  Status    `json:"status,omitempty"` // Queued takes what is being accepted as well
	Route   Route     `json:"route,omitempty"`
	Lane    Lane      `json:"lane,omitempty"`
	Reason  Reason    `json:"reason,omitempty"`
	From    time.Time `json:"from,omitzero"` // accepted then or later
	To      time.Time `json:"to,omitzero"`   // accepted before
	Life    Life      `json:"life,omitempty"`
}

// Takes reports whether the filter takes a ticket.
func (f *TicketFilter) Takes(t *Ticket) bool {
	status := t.Status
	if status == Accepting {
		status = Queued
	}
	at := MarkOf(t).At
	return fits(f.Tenant, t.Tenant) && fits(f.Session, t.Session) && fits(f.Status, status) && fits(f.Route, t.Route) &&
		fits(f.Lane, t.Lane) && fits(f.Reason, t.Reason) && f.covers(at) &&
		(f.Life == "" || (f.Life == LifeEnded) == status.Ended())
}

func fits[T ~string](want, is T) bool { return want == "" || want == is }

func (f *TicketFilter) covers(at time.Time) bool {
	return (f.From.IsZero() || !at.Before(f.From.Truncate(time.Microsecond))) &&
		(f.To.IsZero() || at.Before(f.To.Truncate(time.Microsecond)))
}

// Open reports whether the filter may take tickets that are open: these have no route and
// no reason yet.
func (f *TicketFilter) Open() bool {
	return f.Life != LifeEnded && !f.Status.Ended() && f.Route == "" && f.Reason == ""
}

// Ended reports whether the filter may take tickets that have ended.
func (f *TicketFilter) Ended() bool {
	return f.Life != LifeOpen && (f.Status == "" || f.Status.Ended())
}

// TicketMark is a ticket's place among all, newest first. It never changes: At is the time
// of the acceptance, to the microsecond, which is how exactly every store keeps it.
type TicketMark struct {
	At time.Time `json:"at"`
	ID string    `json:"id"`
}

// MarkOf returns the place of a ticket.
func MarkOf(t *Ticket) TicketMark {
	return TicketMark{At: t.AcceptedAt.UTC().Truncate(time.Microsecond), ID: t.ID}
}

// Compare is negative where m comes before other: it is newer.
func (m TicketMark) Compare(other TicketMark) int {
	return cmp.Or(other.At.Compare(m.At), cmp.Compare(other.ID, m.ID))
}

// IsZero reports whether m is before every ticket.
func (m TicketMark) IsZero() bool { return m.ID == "" }

// String returns the mark in the form that ParseMark reads.
func (m TicketMark) String() string { return strconv.FormatInt(m.At.UnixMicro(), 10) + "." + m.ID }

// ParseMark reads a mark; ok is false for what is none.
func ParseMark(s string) (m TicketMark, ok bool) {
	micro, id, found := strings.Cut(s, ".")
	at, err := strconv.ParseInt(micro, 10, 64)
	if !found || err != nil || at < 0 || at > 1<<53 || !IsTicketID(id) {
		return m, false
	}
	return TicketMark{At: time.UnixMicro(at).UTC(), ID: id}, true
}
