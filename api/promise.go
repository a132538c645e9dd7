package api

import (
	"context"
	"errors"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// owing puts the present state of its promise on a ticket that made one, or that follows
// one up. What is not kept any more stays as the ticket has it.
func (a *API) owing(ctx context.Context, t *chat.Ticket) error {
	id := t.FollowUp
	if t.Parent != "" {
		id = t.ID
	}
	if id == "" || t.Reason == chat.ReasonUnpromised {
		return nil
	}
	o, err := a.deps.Queue.Owed(ctx, id)
	if errors.Is(err, queue.ErrNotFound) {
		return nil
	}
	if err != nil {
		return unavailable(err)
	}
	t.Promise = &o.Promise
	return nil
}

// shownTicket is the answer about a ticket.
func (a *API) shownTicket(ctx context.Context, t *chat.Ticket) (*ticketOutput, error) {
	if err := a.owing(ctx, t); err != nil {
		return nil, err
	}
	rated, err := a.rated(ctx, t)
	if err != nil {
		return nil, err
	}
	v := view(t, a.deps.Line)
	v.Rating = rated
	return &ticketOutput{v}, nil
}

// callOff cancels a ticket for its caller, or what a ticket that has ended still owes.
func callOff(ctx context.Context, q *queue.Queue, t chat.Ticket) (chat.Ticket, error) {
	return q.CallOff(ctx, &t, chat.ReasonCustomer, time.Now().UTC())
}
