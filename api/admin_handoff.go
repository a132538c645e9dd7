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

// Handoff is a ticket by which a session was handed to people.
type Handoff struct {
	TicketID  string            `json:"ticket_id"`
	Tenant    string            `json:"tenant"`
	SessionID string            `json:"session_id"`
	Lane      chat.Lane         `json:"lane"`
	Intent    string            `json:"intent"`
	Cause     chat.HandoffCause `json:"cause,omitempty" enum:"urgent,tool,claim,rule"`
	At        time.Time         `json:"at"`
	Owner     string            `json:"owner" enum:"bot,queue,human" doc:"who has the session now"`
	Human     string            `json:"human,omitempty" doc:"the operator who has it"`
}

type handoffsOutput struct {
	Body struct {
		Handoffs []Handoff `json:"handoffs" nullable:"false" doc:"newest first"`
		Next     uint64    `json:"next,omitempty" doc:"ask again with before; left out: there are no older ones"`
	}
}

func (a *API) registerHandoffs(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-list-handoffs", Method: http.MethodGet, Path: "handoffs", Summary: "List the sessions that were handed to people",
	}, []int{400}, a.handoffs)
}

func (a *API) handoffs(ctx context.Context, in *deadInput) (*handoffsOutput, error) {
	all, err := a.deps.Queue.Handoffs(ctx, in.Before, in.Limit)
	if err != nil {
		return nil, unavailable(err)
	}
	out := &handoffsOutput{}
	out.Body.Handoffs = []Handoff{}
	for _, h := range all {
		rec, err := a.deps.Queue.Session(ctx, h.Tenant, h.Session)
		if errors.Is(err, queue.ErrNotFound) {
			rec, err = queue.Session{Owner: string(chat.OwnerBot)}, nil
		}
		if err != nil {
			return nil, unavailable(err)
		}
		out.Body.Handoffs = append(out.Body.Handoffs, Handoff{
			TicketID: h.Ticket, Tenant: h.Tenant, SessionID: h.Session, Lane: h.Lane, Intent: h.Intent, Cause: h.Cause, At: h.At,
			Owner: rec.Owner, Human: rec.Human,
		})
	}
	if len(all) == in.Limit && all[len(all)-1].Seq > 1 {
		out.Body.Next = all[len(all)-1].Seq
	}
	return out, nil
}
