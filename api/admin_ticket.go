package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
)

// TicketQuery says which tickets operators look for. What is left out takes any.
type TicketQuery struct {
	ID      string      `query:"id" json:"id,omitempty" required:"false" pattern:"^t_[A-Z2-7]{26}$" patternDescription:"the id of a ticket"`
	Session string      `query:"session" json:"session,omitempty" required:"false" pattern:"^[A-Za-z0-9_-]{1,64}$" patternDescription:"the id of a session"`
	Tenant  string      `query:"tenant" json:"tenant,omitempty" required:"false" pattern:"^[a-z0-9-]{1,32}$" patternDescription:"the name of a tenant"`
	State   chat.Status `query:"state" json:"state,omitempty" required:"false" enum:"queued,running,answered,failed,cancelled"`
	Route   chat.Route  `query:"route" json:"route,omitempty" required:"false" enum:"agent,rag,faq,template,cache"`
	Lane    chat.Lane   `query:"lane" json:"lane,omitempty" required:"false" enum:"high,normal,low,deferred,batch"`
	Reason  chat.Reason `query:"reason" json:"reason,omitempty" required:"false" enum:"level,overdue,predicted_wait,vendor_unavailable,error,customer,operator,abandoned,undelivered,unpromised,human"`
	From    time.Time   `query:"from" json:"from,omitzero" required:"false" doc:"accepted then or later"`
	To      time.Time   `query:"to" json:"to,omitzero" required:"false" doc:"accepted before"`
}

func (q *TicketQuery) filter() chat.TicketFilter {
	return chat.TicketFilter{
		Tenant: q.Tenant, Session: q.Session, Status: q.State, Route: q.Route, Lane: q.Lane, Reason: q.Reason, From: q.From, To: q.To,
	}
}

// check refuses times that take nothing.
func (q *TicketQuery) check() error {
	if !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		return chat.Bad("to", "must be later than from")
	}
	return nil
}

// FoundTicket is a ticket as operators see it.
type FoundTicket struct {
	Tenant  string `json:"tenant"`
	Message string `json:"message" doc:"of the customer; in lists its first 200 characters"`
	Ticket
}

// TicketPage is a part of what was looked for.
type TicketPage struct {
	Tickets []FoundTicket `json:"tickets" nullable:"false" doc:"newest first, by their acceptance; without their replies"`
	Next    string        `json:"next,omitempty" doc:"ask again with after; left out: there are no older ones"`
	Partial bool          `json:"partial,omitempty" doc:"there may be others: the history does not answer, or more tickets are open than a search looks at"`
}

type ticketListInput struct {
	TicketQuery
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	After string `query:"after" maxLength:"64" doc:"the next of the page before"`
}

type ticketListOutput struct{ Body TicketPage }

// TicketStory is a ticket and what happened to it.
type TicketStory struct {
	Tenant  string      `json:"tenant"`
	Ticket  FoundTicket `json:"ticket"`
	Story   []chat.Step `json:"story" nullable:"false" doc:"what happened to it, in order"`
	Skipped int         `json:"skipped,omitempty" doc:"steps in the middle for which there was no room"`
	Read    bool        `json:"read" doc:"the customer has read its end"`
}

type ticketStoryOutput struct{ Body TicketStory }

// messageShown is how many characters of a message a list shows.
const messageShown = 200

func (a *API) registerTickets(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-search-tickets", Method: http.MethodGet, Path: "tickets", Summary: "Search the tickets of all tenants",
		Description: "`state=queued` and `running` are those that have not ended. Pages follow the time of acceptance: a ticket that comes to another " +
			"state meanwhile comes once. While the history is away `partial` is true, and what the engine knows is shown.",
	}, []int{400}, a.searchTickets)
	manage(a, api, huma.Operation{
		OperationID: "admin-get-ticket", Method: http.MethodGet, Path: "tickets/{id}", Summary: "Read a ticket and its story",
	}, []int{404}, a.ticketStory)
	manage(a, api, huma.Operation{
		OperationID: "admin-requeue-ticket", Method: http.MethodPost, Path: "tickets/{id}/requeue", Summary: "Ask an ended ticket's question again",
		Description:   "Makes a new ticket with `retry_of`. Once: the same call again is the same ticket (200). 409 `open` before its end.",
		DefaultStatus: http.StatusAccepted, Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 409, 413}, a.requeueTicket)
	responses := api.OpenAPI().Paths[adminPath+"tickets/{id}/requeue"].Post.Responses
	responses["200"] = &huma.Response{Description: "The same ticket as before", Content: responses["202"].Content}
	manage(a, api, huma.Operation{
		OperationID: "admin-cancel-ticket", Method: http.MethodPost, Path: "tickets/{id}/cancel", Summary: "Cancel a ticket",
		Description: "As its tenant may: what waits leaves the queue, the call of one that runs is cancelled, and a text message that is still owed is " +
			"called off. 409 `ended` where nothing of it is open.",
		Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 409, 413}, a.callOffTicket)
	a.registerTicketExport(api)
}

func (a *API) searchTickets(ctx context.Context, in *ticketListInput) (*ticketListOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	var after chat.TicketMark
	if in.After != "" {
		var ok bool
		if after, ok = chat.ParseMark(in.After); !ok {
			return nil, chat.Bad("after", "must be the next of a page")
		}
	}
	if in.ID != "" {
		return a.searchID(ctx, in)
	}
	s, err := a.search(ctx, in.filter(), after)
	if err != nil {
		return nil, err
	}
	found, err := s.next(ctx, in.Limit+1)
	if err != nil {
		return nil, err
	}
	page := TicketPage{Tickets: []FoundTicket{}, Partial: s.partial()}
	for i := range found[:min(len(found), in.Limit)] {
		page.Tickets = append(page.Tickets, listedTicket(&found[i]))
	}
	if len(found) > in.Limit {
		page.Next = chat.MarkOf(&found[in.Limit-1]).String()
	}
	return &ticketListOutput{page}, nil
}

// searchID finds at most one ticket, which must fit the rest as well.
func (a *API) searchID(ctx context.Context, in *ticketListInput) (*ticketListOutput, error) {
	page := TicketPage{Tickets: []FoundTicket{}}
	t, err := a.anyTicket(ctx, in.ID)
	var said *chat.Error
	switch {
	case err == nil:
		if f := in.filter(); f.Takes(&t) {
			page.Tickets = append(page.Tickets, listedTicket(&t))
		}
	case errors.As(err, &said) && said.Code == codeHistory:
		page.Partial = true
	case !errors.As(err, &said) || said.Kind != chat.NotFound:
		return nil, err
	}
	return &ticketListOutput{page}, nil
}

// listedTicket shows a ticket in a list, without its reply and its place.
func listedTicket(t *chat.Ticket) FoundTicket {
	v := FoundTicket{Tenant: t.Tenant, Message: cut(t.Message, messageShown), Ticket: viewUnplaced(t)}
	v.Reply = nil
	return v
}

func (a *API) ticketStory(ctx context.Context, in *ticketInput) (*ticketStoryOutput, error) {
	if !chat.IsTicketID(in.ID) {
		return nil, notFound("ticket")
	}
	t, err := a.anyTicket(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := a.owing(ctx, &t); err != nil {
		return nil, err
	}
	story, read, err := a.story(ctx, &t)
	if err != nil {
		return nil, err
	}
	v := view(&t, a.deps.Line)
	if v.Rating, err = a.ratedHidden(ctx, &t); err != nil {
		return nil, err
	}
	return &ticketStoryOutput{TicketStory{
		Tenant: t.Tenant, Ticket: FoundTicket{Tenant: t.Tenant, Message: t.Message, Ticket: v},
		Story: story, Skipped: t.Skipped, Read: read,
	}}, nil
}
