package chat

import "time"

// Promise is what a template answer owes its customer: the full answer, told by another
// channel. It stands on the ticket that was answered and on its follow-up.
type Promise struct {
	Channel string        `json:"channel"` // ChannelSMS
	Status  PromiseStatus `json:"status"`
	DueAt   time.Time     `json:"due_at"` // the follow-up's deadline
}

// ChannelSMS is the one channel that promises are kept by.
const ChannelSMS = "sms"

// PromiseStatus is how a promise stands.
type PromiseStatus string

// The life of a promise: promised → met | sent | broken | cancelled, and
// sent → delivered | broken | cancelled.
const (
	Promised         PromiseStatus = "promised"
	PromiseSent      PromiseStatus = "sent"      // the notice is in the outbox
	PromiseDelivered PromiseStatus = "delivered" // the carrier says that it arrived
	PromiseBroken    PromiseStatus = "broken"    // it was not kept in time, and is not kept any more
	PromiseMet       PromiseStatus = "met"       // the customer has read the answer
	PromiseCancelled PromiseStatus = "cancelled" // it is not owed any more
)

// PromiseStatuses returns all of them, in the order of the life.
func PromiseStatuses() []PromiseStatus {
	return []PromiseStatus{Promised, PromiseSent, PromiseDelivered, PromiseBroken, PromiseMet, PromiseCancelled}
}

// Becomes reports whether a promise may go from s to next.
func (s PromiseStatus) Becomes(next PromiseStatus) bool {
	switch s {
	case Promised:
		return next == PromiseMet || next == PromiseSent || next == PromiseBroken || next == PromiseCancelled
	case PromiseSent:
		return next == PromiseDelivered || next == PromiseBroken || next == PromiseCancelled
	default:
		return false
	}
}

// FollowUpID returns the id of the follow-up of a ticket: however often it is asked for,
// there is one.
func FollowUpID(parent string) string { return DerivedTicketID("follow-up", parent) }

// FollowUpTo returns the ticket that answers t's question in full, later: accepted at now,
// with so much time. It has no event of its own in the talk log, because the customer asked
// once, and is not urgent: nobody waits for it.
func (t *Ticket) FollowUpTo(now time.Time, wait time.Duration) Ticket {
	f := t.Again(FollowUpID(t.ID), now)
	f.Lane, f.Parent, f.RetryOf, f.Urgent = Deferred, t.ID, "", false
	f.Entities, f.Mood, f.Turn = t.Entities, t.Mood, t.Turn
	f.Seq, f.Deadline, f.Epoch = t.Seq, now.Add(wait), t.Epoch
	return f
}

// ShortCode returns what a customer types or reads out to name a ticket: eight letters
// and digits of its id.
func ShortCode(ticket string) string {
	if !IsTicketID(ticket) {
		return ""
	}
	return ticket[2:6] + "-" + ticket[6:10]
}

// PromiseEvent returns the event that tells how the promise of a follow-up stands since at.
func PromiseEvent(followUp, parent string, p Promise, at time.Time) Event {
	return Event{Kind: KindPromise, At: at, Ticket: followUp, Parent: parent, Promise: &p}
}
