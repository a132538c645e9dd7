package load

import (
	"time"

	"sluice/internal/chat"
)

// Outcome is what became of one message, by the instance's clock.
type Outcome struct {
	Ticket string // empty: refused, or never sent
	Tenant int    // by its place among the target's keys
	Lane   chat.Lane
	Code   string        // why it was refused
	Due    time.Duration // after the start, when it was to be sent

	Status     chat.Status // as last read
	Route      chat.Route
	Reason     chat.Reason
	Vendor     string
	Intent     string
	Urgent     bool
	Level      int    // that it was answered at
	Reply      string // as the customer read it
	AcceptedAt time.Time
	EndedAt    time.Time     // zero: not ended
	Wait       time.Duration // until the route decision
	Total      time.Duration // until the end
}

// Answered reports whether a vendor answered.
func (o Outcome) Answered() bool { return o.Status == chat.Answered && o.Vendor != "" }

func (r *run) outcomes() []Outcome {
	all := make([]Outcome, len(r.jobs))
	for i, j := range r.jobs {
		t := &j.ticket
		o := Outcome{
			Ticket: t.TicketID, Tenant: j.tenant, Lane: j.lane, Code: j.code, Due: j.due, Status: t.Status,
			Route: t.Route, Reason: t.Reason, Vendor: t.Vendor, Intent: t.Intent, Urgent: t.Urgent, Level: t.Level, Reply: t.Reply.Text, AcceptedAt: t.AcceptedAt,
		}
		if t.Lane != "" {
			o.Lane = t.Lane
		}
		if t.QueuedMS != nil {
			o.Wait = time.Duration(*t.QueuedMS) * time.Millisecond
		}
		if t.EndedAt != nil {
			o.EndedAt, o.Total = *t.EndedAt, t.EndedAt.Sub(t.AcceptedAt)
		}
		all[i] = o
	}
	return all
}
