package api

import (
	"time"

	"sluice/internal/chat"
)

// Receipt is the answer to an accepted message.
type Receipt struct {
	TicketID  string      `json:"ticket_id"`
	SessionID string      `json:"session_id"`
	Status    chat.Status `json:"status" enum:"queued,running,answered,failed,cancelled"`
	Lane      chat.Lane   `json:"lane" enum:"high,normal,low,deferred,batch"`
	Intent    string      `json:"intent"`
	Urgent    bool        `json:"urgent"`
	Position  int         `json:"position" doc:"place in the line, counted from 1; 0: it does not wait"`
	ETAMS     int64       `json:"eta_ms" doc:"estimated wait until an answer is begun"`
}

// Place is where a waiting ticket stands. Both are estimates.
type Place struct {
	Position *int   `json:"position,omitempty" doc:"place in the line, counted from 1; only while queued"`
	ETAMS    *int64 `json:"eta_ms,omitempty" doc:"estimated wait until an answer is begun; only while queued"`
}

// Ticket is a ticket as callers see it.
type Ticket struct {
	TicketID  string      `json:"ticket_id"`
	SessionID string      `json:"session_id"`
	Lane      chat.Lane   `json:"lane" enum:"high,normal,low,deferred,batch"`
	Status    chat.Status `json:"status" enum:"queued,running,answered,failed,cancelled"`
	Place
	Intent     string            `json:"intent"`
	Urgent     bool              `json:"urgent"`
	Route      chat.Route        `json:"route,omitempty" doc:"how it was answered"`
	Level      int               `json:"level" doc:"the load level, 0 to 3"`
	Reason     chat.Reason       `json:"reason,omitempty" doc:"why a lesser route was taken, or why it failed or was cancelled"`
	Reply      *chat.Reply       `json:"reply,omitempty"`
	Promise    *chat.Promise     `json:"promise,omitempty" doc:"the full answer, owed by SMS: on the ticket that promised it and on its follow-up"`
	Rating     *chat.Rated       `json:"rating,omitempty" doc:"what the customer thinks of the answer"`
	Parent     string            `json:"parent,omitempty" doc:"the ticket that this follows up"`
	FollowUp   string            `json:"follow_up,omitempty" doc:"the ticket that the reply promises"`
	Vendor     string            `json:"vendor,omitempty"`
	Model      string            `json:"model,omitempty"`
	RetryOf    string            `json:"retry_of,omitempty" doc:"the ended ticket whose question this asks again"`
	Attempts   int               `json:"attempts"`
	Usage      *chat.Usage       `json:"usage,omitempty"`
	AcceptedAt time.Time         `json:"accepted_at"`
	StartedAt  *time.Time        `json:"started_at,omitempty"`
	EndedAt    *time.Time        `json:"ended_at,omitempty"`
	QueuedMS   *int64            `json:"queued_ms,omitempty" doc:"from acceptance to the route decision"`
	HandledMS  *int64            `json:"handled_ms,omitempty" doc:"from the route decision to the end"`
	BatchID    string            `json:"batch_id,omitempty" doc:"the batch whose line this is"`
	Line       int               `json:"line,omitempty" doc:"in its batch, from 1"`
	CustomID   string            `json:"custom_id,omitempty" doc:"the caller's own id of the line"`
	Metadata   map[string]string `json:"metadata,omitempty"`
}

// receipt shows a ticket as the answer to its message.
func receipt(t *chat.Ticket, line Line) Receipt {
	r := Receipt{
		TicketID: t.ID, SessionID: t.Session, Status: shown(t.Status), Lane: t.Lane,
		Intent: t.Intent, Urgent: t.Urgent,
	}
	if p := place(t, line); p.Position != nil {
		r.Position, r.ETAMS = *p.Position, *p.ETAMS
	}
	return r
}

// view shows a ticket to its tenant.
func view(t *chat.Ticket, line Line) Ticket {
	v := viewUnplaced(t)
	v.Place = place(t, line)
	return v
}

// viewUnplaced shows a ticket without its place in the line.
func viewUnplaced(t *chat.Ticket) Ticket {
	v := Ticket{
		TicketID: t.ID, SessionID: t.Session, Lane: t.Lane, Status: shown(t.Status),
		Intent: t.Intent, Urgent: t.Urgent, Route: t.Route, Level: t.Level, Reason: t.Reason,
		Vendor: t.Vendor, Model: t.Model, RetryOf: t.RetryOf, Attempts: t.Attempts, Usage: t.Usage,
		AcceptedAt: t.AcceptedAt, StartedAt: t.StartedAt, EndedAt: t.EndedAt,
		QueuedMS: between(&t.AcceptedAt, t.DecidedAt), HandledMS: between(t.DecidedAt, t.EndedAt),
		BatchID: t.Batch, Line: t.Line, CustomID: t.CustomID,
		Metadata: t.Metadata, Promise: t.Promise, Parent: t.Parent, FollowUp: t.FollowUp,
	}
	if t.Reply != nil {
		reply := *t.Reply
		if reply.Sources == nil {
			reply.Sources = []chat.Source{}
		}
		v.Reply = &reply
	}
	return v
}

// shown hides the one status that only the intake knows.
func shown(s chat.Status) chat.Status {
	if s == chat.Accepting {
		return chat.Queued
	}
	return s
}

// place asks the line for a ticket; one that does not stand there yet is about to come
// in at the end.
func place(t *chat.Ticket, line Line) Place {
	if shown(t.Status) != chat.Queued {
		return Place{}
	}
	position, eta, ok := line.Standing(t.ID)
	if !ok {
		position, eta = line.Behind(t.Lane)
	}
	ms := eta.Milliseconds()
	return Place{Position: &position, ETAMS: &ms}
}

func between(from, to *time.Time) *int64 {
	if from == nil || to == nil {
		return nil
	}
	ms := to.Sub(*from).Milliseconds()
	return &ms
}
