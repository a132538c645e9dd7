package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

func (a *API) requeueTicket(ctx context.Context, in *letterInput) (*requeueOutput, error) {
	if !chat.IsTicketID(in.ID) {
		return nil, notFound("ticket")
	}
	out := &requeueOutput{Status: http.StatusAccepted}
	ended, err := a.anyTicket(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	e := queue.Audit{
		Action: "ticket.requeue", Target: in.ID, Reason: in.Body.Reason, Before: ticketSide(&ended),
		After: map[string]any{"asked_again_in": ended.Lane},
	}
	err = a.change(ctx, e, func() error {
		if !ended.Status.Ended() {
			return &chat.Error{Kind: chat.Conflict, Code: codeOpen, Detail: "the ticket has not ended"}
		}
		t, dup, err := a.intake.requeueEnded(ctx, ended)
		if err != nil {
			return err
		}
		if dup {
			out.Status = http.StatusOK
		}
		out.Body = Requeued{TicketID: t.ID, RetryOf: t.RetryOf, Lane: t.Lane, Status: shown(t.Status)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

type ticketChangeOutput struct{ Body FoundTicket }

func (a *API) callOffTicket(ctx context.Context, in *letterInput) (*ticketChangeOutput, error) {
	if !chat.IsTicketID(in.ID) {
		return nil, notFound("ticket")
	}
	out := &ticketChangeOutput{}
	t, err := a.anyTicket(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	e := queue.Audit{
		Action: "ticket.cancel", Target: in.ID, Reason: in.Body.Reason, Before: ticketSide(&t), After: map[string]any{"status": chat.Cancelled},
	}
	err = a.change(ctx, e, func() error {
		t, err := a.deps.Queue.CallOff(ctx, &t, chat.ReasonOperator, time.Now().UTC())
		switch {
		case errors.Is(err, queue.ErrEnded):
			return &chat.Error{Kind: chat.Conflict, Code: codeEnded, Detail: "the ticket has ended"}
		case errors.Is(err, queue.ErrInEffect):
			return errInEffect()
		case err != nil:
			return unavailable(err)
		}
		if err := a.owing(ctx, &t); err != nil {
			return err
		}
		out.Body = FoundTicket{Tenant: t.Tenant, Message: t.Message, Ticket: view(&t, a.deps.Line)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
