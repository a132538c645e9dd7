package chat

import "time"

// Owner says who looks after a session.
type Owner string

// The owners.
const (
	OwnerBot   Owner = "bot"
	OwnerQueue Owner = "queue" // people are to take it over
	OwnerHuman Owner = "human"
)

// HandoffCause says why people are to take a session over.
type HandoffCause string

// The causes.
const (
	HandoffUrgent HandoffCause = "urgent" // it is urgent, and no vendor took it
	HandoffTool   HandoffCause = "tool"   // the model called a person
	HandoffClaim  HandoffCause = "claim"  // the reply says so, and what a customer was told holds
	HandoffRule   HandoffCause = "rule"   // its intent always goes to people
)

// Handoff is a ticket's way to people. An urgent one still waits for a while after its
// customer was told, because a vendor may come back first; of the others the reply tells.
type Handoff struct {
	At    time.Time    `json:"at"`
	Cause HandoffCause `json:"cause,omitempty"`
	Text  string       `json:"text"` // of the message that says so; empty: the reply does
	HTML  string       `json:"html"`
}

// Hand notes at now that the ticket goes to people, and lets it wait until an instant.
// The caller stores it.
func (t *Ticket) Hand(said Reply, now, until time.Time) {
	t.Handoff = &Handoff{At: now, Cause: HandoffUrgent, Text: said.Text, HTML: said.HTML}
	t.Status, t.Deadline = Queued, until
	t.DecidedAt, t.StartedAt = nil, nil
}

// HandoffEvent returns the message that tells the customer.
func (t *Ticket) HandoffEvent() Event {
	return Event{
		Kind: KindMessage, At: t.Handoff.At, Ticket: t.ID, Who: BySystem,
		Text: t.Handoff.Text, HTML: t.Handoff.HTML, Locale: t.Language,
	}
}

// OwnerEvent returns the event that says who has the session since the handoff.
func (t *Ticket) OwnerEvent() Event {
	return OwnerEventOf(t.ID, OwnerQueue, t.Handoff.At)
}

// Overrule ends at now a ticket whose answer came too late: a person has the session, and
// the bot says nothing more in it. What was done and cannot be undone becomes a dead letter,
// because that person has to know. The caller stores it.
func (t *Ticket) Overrule(now time.Time) {
	if t.Deed != nil {
		t.Dead = true
		t.Fail("a person took the session over before its customer was told what came of "+t.Deed.Tool, now)
	}
	if t.Handoff != nil && t.Handoff.Text == "" {
		t.Handoff = nil // only the reply told of it
	}
	t.Reply, t.Route, t.Asks, t.Foreign = nil, "", nil, false
	t.FollowUp, t.Promise = "", nil
	t.Cancel(ReasonHuman, now)
}

// OwnerEventOf returns the event that says who has a session since at.
func OwnerEventOf(ticket string, owner Owner, at time.Time) Event {
	return Event{Kind: KindOwner, At: at, Ticket: ticket, Who: BySystem, Owner: owner}
}

// Pressing reports whether the ticket is treated as urgent: too many urgent ones of a
// tenant or a session are treated as any other.
func (t *Ticket) Pressing() bool { return t.Urgent && !t.Crowd }
