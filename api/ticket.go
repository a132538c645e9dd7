package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

type ticketInput struct {
	ID string `path:"id" example:"t_ABCDEFGHIJKLMNOPQRSTUVWXYZ"`
}

type ticketWaitInput struct {
	ID   string `path:"id" example:"t_ABCDEFGHIJKLMNOPQRSTUVWXYZ"`
	Wait string `query:"wait" example:"20s" doc:"waits until the ticket ends, at most so long; up to 60s"`
}

type ticketOutput struct{ Body Ticket }

func (a *API) registerTicket(api huma.API) {
	op := huma.Operation{
		Path: "/v1/tickets/{id}", Tags: []string{"tickets"},
		Security: []map[string][]string{{byTenantKey: {}}}, Middlewares: huma.Middlewares{a.keyed},
	}
	read, cancel := op, op
	read.OperationID, read.Method, read.Summary = "get-ticket", http.MethodGet, "Read a ticket, or wait for its end"
	operate(api, read, []int{400, 401, 404, 429, 503}, a.getTicket)
	cancel.OperationID, cancel.Method, cancel.Summary = "cancel-ticket", http.MethodDelete, "Cancel a ticket"
	cancel.Description = "A queued ticket leaves the queue at once; the vendor call of a running one is cancelled. 409 `ended` after its end, " +
		"unless it still owes a text message: then that is called off."
	operate(api, cancel, []int{401, 404, 409, 503}, a.cancelTicket)
}

func (a *API) getTicket(ctx context.Context, in *ticketWaitInput) (*ticketOutput, error) {
	wait, err := parseWait(in.Wait)
	if err != nil {
		return nil, err
	}
	tenant := callerOf(ctx).Name
	t, err := a.find(ctx, tenant, in.ID)
	if err != nil {
		return nil, err
	}
	if wait > 0 && !t.Status.Ended() {
		if err := a.awaitEnd(ctx, &t, wait); err != nil {
			return nil, err
		}
		if t, err = a.find(ctx, tenant, in.ID); err != nil {
			return nil, err
		}
	}
	return a.shownTicket(ctx, &t)
}

func (a *API) cancelTicket(ctx context.Context, in *ticketInput) (*ticketOutput, error) {
	t, err := a.find(ctx, callerOf(ctx).Name, in.ID)
	if err != nil {
		return nil, err
	}
	t, err = callOff(ctx, a.deps.Queue, t)
	if errors.Is(err, queue.ErrEnded) {
		return nil, &chat.Error{Kind: chat.Conflict, Code: codeEnded, Detail: "the ticket has ended"}
	}
	if errors.Is(err, queue.ErrInEffect) {
		return nil, errInEffect()
	}
	if err != nil {
		return nil, unavailable(err)
	}
	return a.shownTicket(ctx, &t)
}

func errInEffect() *chat.Error {
	return &chat.Error{Kind: chat.Conflict, Code: codeInEffect, Detail: "the ticket is doing what cannot be undone"}
}

// find reads a tenant's ticket: from the engine, and what that keeps no more from
// history. Another tenant's is not found.
func (a *API) find(ctx context.Context, tenant, id string) (chat.Ticket, error) {
	if !chat.IsTicketID(id) {
		return chat.Ticket{}, notFound("ticket")
	}
	s, err := a.deps.Queue.Ticket(ctx, id)
	switch {
	case err == nil && s.Tenant == tenant:
		return s.Ticket, nil
	case err == nil:
		return chat.Ticket{}, notFound("ticket")
	case !errors.Is(err, queue.ErrNotFound):
		return chat.Ticket{}, unavailable(err)
	case a.deps.History == nil:
		return chat.Ticket{}, errHistory(errNoHistory)
	}
	raw, err := a.deps.History.Ticket(ctx, tenant, id)
	if errors.Is(err, queue.ErrNotFound) {
		return chat.Ticket{}, notFound("ticket")
	}
	if err != nil {
		return chat.Ticket{}, errHistory(err)
	}
	var t chat.Ticket
	if err := json.Unmarshal(raw, &t); err != nil {
		return t, fmt.Errorf("decode ticket %s from history: %w", id, err)
	}
	if t.Tenant != tenant {
		return chat.Ticket{}, notFound("ticket")
	}
	return t, nil
}

// errHistory says that nobody knows now: never that there is no such thing.
func errHistory(err error) *chat.Error {
	return &chat.Error{
		Kind: chat.Transient, Code: codeHistory, RetryAfter: 5 * time.Second, Err: err,
		Detail: "this is not in the live store, and the history cannot be asked now",
	}
}
