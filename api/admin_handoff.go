package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
)

// Handoff is an urgent ticket that no vendor took in time: people are to look after its
// session.
type Handoff struct {
	TicketID  string    `json:"ticket_id"`
	Tenant    string    `json:"tenant"`
	SessionID string    `json:"session_id"`
	Lane      chat.Lane `json:"lane"`
	Intent    string    `json:"intent"`
	At        time.Time `json:"at"`
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
		out.Body.Handoffs = append(out.Body.Handoffs, Handoff{
			TicketID: h.Ticket, Tenant: h.Tenant, SessionID: h.Session, Lane: h.Lane, Intent: h.Intent, At: h.At,
		})
	}
	if len(all) == in.Limit && all[len(all)-1].Seq > 1 {
		out.Body.Next = all[len(all)-1].Seq
	}
	return out, nil
}
