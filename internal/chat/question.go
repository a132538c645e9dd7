package chat

// Question is what a chain answers: a ticket, and the durable events of its session
// before it, oldest first. Every earlier answer that its prompt may hold is in History.
type Question struct {
	Ticket  Ticket
	History []Event
}
