package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
)

// Owing is a full answer that is owed, or was, as operators see it.
type Owing struct {
	TicketID  string             `json:"ticket_id" doc:"the follow-up"`
	Parent    string             `json:"parent" doc:"the ticket whose reply made the promise"`
	Tenant    string             `json:"tenant"`
	SessionID string             `json:"session_id"`
	Code      string             `json:"code" doc:"what the customer was told to name it by"`
	Channel   string             `json:"channel"`
	Status    chat.PromiseStatus `json:"status" enum:"promised,sent,delivered,broken,met,cancelled"`
	Reason    chat.Reason        `json:"reason,omitempty" doc:"why it was broken or cancelled"`
	MadeAt    time.Time          `json:"made_at"`
	DueAt     time.Time          `json:"due_at"`
	At        time.Time          `json:"at" doc:"since when it has this status"`
}

// PromisePage is the promises of one status.
type PromisePage struct {
	Promises []Owing                    `json:"promises" nullable:"false" doc:"newest first"`
	Counts   map[chat.PromiseStatus]int `json:"counts" doc:"of each status: what is open, and what is kept of the last 90 days"`
}

type promiseInput struct {
	Status chat.PromiseStatus `query:"status" enum:"promised,sent,delivered,broken,met,cancelled" default:"broken"`
	Limit  int                `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

type promiseOutput struct{ Body PromisePage }

// Notice is a text message in the outbox.
type Notice struct {
	TicketID string    `json:"ticket_id" doc:"the follow-up that it tells of"`
	Tenant   string    `json:"tenant"`
	Channel  string    `json:"channel"`
	To       string    `json:"to" doc:"the last digits of the number"`
	Language string    `json:"language"`
	Code     string    `json:"code"`
	At       time.Time `json:"at"`
}

// NoticePage is a part of the outbox.
type NoticePage struct {
	Notices []Notice `json:"notices" nullable:"false" doc:"newest first"`
	Total   int      `json:"total"`
	Next    uint64   `json:"next,omitempty" doc:"ask again with before; left out: there are no older ones"`
}

type noticeOutput struct{ Body NoticePage }

func (a *API) registerPromises(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-list-promises", Method: http.MethodGet, Path: "promises", Summary: "List the promises of one status",
	}, []int{400}, a.promises)
	manage(a, api, huma.Operation{
		OperationID: "admin-list-sms", Method: http.MethodGet, Path: "sms", Summary: "List the text messages in the outbox",
	}, []int{400}, a.notices)
}

func (a *API) promises(ctx context.Context, in *promiseInput) (*promiseOutput, error) {
	found, counts, err := a.deps.Queue.Owings(ctx, in.Status, in.Limit)
	if err != nil {
		return nil, unavailable(err)
	}
	page := PromisePage{Promises: make([]Owing, 0, len(found)), Counts: counts}
	for _, o := range found {
		page.Promises = append(page.Promises, Owing{
			TicketID: o.ID, Parent: o.Parent, Tenant: o.Tenant, SessionID: o.Session, Code: chat.ShortCode(o.ID),
			Channel: o.Channel, Status: o.Status, Reason: o.Why, MadeAt: o.MadeAt, DueAt: o.DueAt, At: o.At,
		})
	}
	return &promiseOutput{page}, nil
}

func (a *API) notices(ctx context.Context, in *auditInput) (*noticeOutput, error) {
	all, err := a.deps.Queue.Notices(ctx, in.Before, in.Limit)
	if err != nil {
		return nil, unavailable(err)
	}
	page := NoticePage{Notices: make([]Notice, 0, len(all))}
	if page.Total, err = a.deps.Queue.NoticeCount(ctx); err != nil {
		return nil, unavailable(err)
	}
	for _, n := range all {
		page.Notices = append(page.Notices, Notice{
			TicketID: n.ID, Tenant: n.Tenant, Channel: n.Channel, To: "…" + n.Phone[max(0, len(n.Phone)-4):],
			Language: n.Language, Code: n.Code, At: n.At,
		})
	}
	if n := len(all); n == in.Limit && all[n-1].Seq > 1 {
		page.Next = all[n-1].Seq
	}
	return &noticeOutput{page}, nil
}
