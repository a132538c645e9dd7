package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// DeadLetter is a ticket that could not be answered as it should have been.
type DeadLetter struct {
	ID        string      `json:"id" doc:"of the ticket"`
	Tenant    string      `json:"tenant"`
	SessionID string      `json:"session_id"`
	Lane      chat.Lane   `json:"lane"`
	Message   string      `json:"message"`
	Attempts  int         `json:"attempts"`
	Reason    chat.Reason `json:"reason"`
	At        time.Time   `json:"at" doc:"of the ticket's end"`
	Story     []chat.Step `json:"story" nullable:"false" doc:"what happened to it, in order"`
}

type deadInput struct {
	Before uint64 `query:"before" doc:"only older letters than this place; left out: from the newest on"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

type deadOutput struct {
	Body struct {
		Letters []DeadLetter `json:"letters" nullable:"false" doc:"newest first"`
		Total   int          `json:"total"`
		Next    uint64       `json:"next,omitempty" doc:"ask again with before; left out: there are no older ones"`
	}
}

type letterInput struct {
	ID   string `path:"id" example:"t_ABCDEFGHIJKLMNOPQRSTUVWXYZ"`
	Body reasoned
}

type requeueOutput struct {
	Status int
	Body   Requeued
}

// Requeued is the ticket that asks an earlier one's question again.
type Requeued struct {
	TicketID string      `json:"ticket_id"`
	RetryOf  string      `json:"retry_of"`
	Lane     chat.Lane   `json:"lane"`
	Status   chat.Status `json:"status"`
}

func (a *API) registerDead(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-list-dead-letters", Method: http.MethodGet, Path: "dead-letters", Summary: "List the dead letters",
	}, []int{400}, a.deadLetters)
	manage(a, api, huma.Operation{
		OperationID: "admin-requeue-dead-letter", Method: http.MethodPost, Path: "dead-letters/{id}/requeue", Summary: "Ask a dead letter's question again",
		Description:   "Makes a new ticket with `retry_of`; the letter goes. Once: the same call again is the same ticket (200).",
		DefaultStatus: http.StatusAccepted, Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 413}, a.requeueDead)
	manage(a, api, huma.Operation{
		OperationID: "admin-delete-dead-letter", Method: http.MethodDelete, Path: "dead-letters/{id}", Summary: "Remove a dead letter",
		DefaultStatus: http.StatusNoContent, Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 413}, a.deleteDead)
	responses := api.OpenAPI().Paths[adminPath+"dead-letters/{id}/requeue"].Post.Responses
	responses["200"] = &huma.Response{Description: "The same ticket as before", Content: responses["202"].Content}
}

func (a *API) deadLetters(ctx context.Context, in *deadInput) (*deadOutput, error) {
	letters, err := a.deps.Queue.DeadLetters(ctx, in.Before, in.Limit)
	if err != nil {
		return nil, unavailable(err)
	}
	out := &deadOutput{}
	if out.Body.Total, err = a.deps.Queue.DeadCount(ctx); err != nil {
		return nil, unavailable(err)
	}
	out.Body.Letters = make([]DeadLetter, 0, len(letters))
	for _, l := range letters {
		out.Body.Letters = append(out.Body.Letters, DeadLetter{
			ID: l.ID, Tenant: l.Tenant, SessionID: l.Session, Lane: l.Lane, Message: l.Ticket.Message,
			Attempts: l.Attempts, Reason: l.Reason, At: l.At, Story: l.Story,
		})
	}
	if n := len(letters); n == in.Limit && letters[n-1].Seq > 1 {
		out.Body.Next = letters[n-1].Seq
	}
	return out, nil
}

func (a *API) requeueDead(ctx context.Context, in *letterInput) (*requeueOutput, error) {
	if !chat.IsTicketID(in.ID) {
		return nil, notFound("dead letter")
	}
	out := &requeueOutput{Status: http.StatusAccepted}
	e := queue.Audit{Action: "dead-letter.requeue", Target: in.ID, Reason: in.Body.Reason}
	err := a.change(ctx, e, func() error {
		t, dup, err := a.intake.requeue(ctx, in.ID)
		if errors.Is(err, queue.ErrNotFound) {
			return notFound("dead letter")
		}
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

func (a *API) deleteDead(ctx context.Context, in *letterInput) (*struct{}, error) {
	if !chat.IsTicketID(in.ID) {
		return nil, notFound("dead letter")
	}
	e := queue.Audit{Action: "dead-letter.delete", Target: in.ID, Reason: in.Body.Reason}
	return nil, a.change(ctx, e, func() error {
		err := a.deps.Queue.DeleteDead(ctx, in.ID)
		if errors.Is(err, queue.ErrNotFound) {
			return notFound("dead letter")
		}
		return orUnavailable(err)
	})
}
