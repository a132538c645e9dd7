package chat

import "context"

// Question is what a chain answers: a ticket, and the durable events of its session
// before it, oldest first. Every earlier answer that its prompt may hold is in History.
type Question struct {
	Ticket  Ticket
	History []Event
	// Commit must have come back without an error before anything is done that cannot be
	// undone: from then on the ticket sees it to its end, whoever holds it. Nil: nothing
	// of that kind may be done.
	Commit func(context.Context, Deed) error
}
