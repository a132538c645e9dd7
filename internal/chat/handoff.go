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

// Handoff is an urgent ticket's way to people: its customer was told, and the ticket
// still waits for a while, because a vendor may come back first.
type Handoff struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"` // of the message that says so
	HTML string    `json:"html"`
}

// Hand notes at now that the ticket goes to people, and lets it wait until an instant.
// The caller stores it.
func (t *Ticket) Hand(said Reply, now, until time.Time) {
	t.Handoff = &Handoff{At: now, Text: said.Text, HTML: said.HTML}
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
	return Event{Kind: KindOwner, At: t.Handoff.At, Ticket: t.ID, Who: BySystem, Owner: OwnerQueue}
}

// Pressing reports whether the ticket is treated as urgent: too many urgent ones of a
// tenant or a session are treated as any other.
func (t *Ticket) Pressing() bool { return t.Urgent && !t.Crowd }
