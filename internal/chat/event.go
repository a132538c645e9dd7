package chat

import "time"

// EventKind is the kind of a durable event of a session.
type EventKind string

// The kinds of event.
const (
	KindMessage EventKind = "message"
	KindStatus  EventKind = "status"
	KindPromise EventKind = "promise"
	KindOwner   EventKind = "owner"
	KindRating  EventKind = "rating"
)

// Who wrote a message.
type Who string

// The writers of messages.
const (
	ByCustomer Who = "customer"
	ByBot      Who = "bot"
	ByHuman    Who = "human" // a person of the tenant's
	BySystem   Who = "system"
)

// Event is one durable event of a session. Seq grows by one per session without a
// gap. The same object is stored in the talk log, sent on sockets and returned by
// the poll endpoint.
type Event struct {
	Seq    uint64    `json:"seq"`
	Kind   EventKind `json:"kind"`
	At     time.Time `json:"at"`
	Ticket string    `json:"ticket,omitempty"`
	Who    Who       `json:"who,omitempty"`
	CMID   string    `json:"cmid,omitempty"`
	Lane   Lane      `json:"lane,omitempty"` // of the customer's message
	Text   string    `json:"text,omitempty"`
	HTML   string    `json:"html,omitempty"`
	Locale string    `json:"locale,omitempty"` // in which the customer is answered
	Turn   int       `json:"turn,omitempty"`   // counts the customer's messages of the session
	Status Status    `json:"status,omitempty"` // of the ticket, on its final event
	Route  Route     `json:"route,omitempty"`
	Reason Reason    `json:"reason,omitempty"`
	Owner  Owner     `json:"owner,omitempty"` // who has the session since then
	Asks   *Deed     `json:"asks,omitempty"`  // what a bot's message asks the customer to confirm

	Choices []Choice `json:"choices,omitempty"` // of a bot's message: questions to choose from, for buttons
	// Promise is how the promise of the follow-up Ticket stands; Parent is the ticket that it
	// follows up.
	Promise *Promise `json:"promise,omitempty"`
	Parent  string   `json:"parent,omitempty"`
	Rating  *Rating  `json:"rating,omitempty"` // of the answer to Ticket
}

// InEvent returns the event of the customer's own message.
func (t *Ticket) InEvent() Event {
	return Event{Kind: KindMessage, At: t.AcceptedAt, Ticket: t.ID, Who: ByCustomer, CMID: t.CMID, Lane: t.Lane, Text: t.Message, Locale: t.Language, Turn: t.Turn}
}

// FinalEvent returns the one event that ends the ticket: the bot's message when it
// was answered, else a status.
func (t *Ticket) FinalEvent() Event {
	e := Event{Kind: KindStatus, Ticket: t.ID, Status: t.Status, Route: t.Route, Reason: t.Reason}
	if t.EndedAt != nil {
		e.At = *t.EndedAt
	}
	if t.Reply != nil {
		e.Kind, e.Who = KindMessage, ByBot
		e.Text, e.HTML, e.Locale = t.Reply.Text, t.Reply.HTML, t.Reply.Locale
		e.Asks, e.Choices = t.Asks, t.Reply.Choices
	}
	return e
}

// Delta is a disposable piece of an answer in the making. I counts from 0 within an
// attempt; a higher attempt clears what a lower one sent.
type Delta struct {
	Ticket  string `json:"ticket"`
	Attempt int    `json:"attempt"`
	I       int    `json:"i"`
	Text    string `json:"text"`
}
