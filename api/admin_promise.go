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

	State     chat.NoticeState `json:"state" enum:"queued,sending,sent,delivered,failed,unknown,cancelled"`
	Since     time.Time        `json:"since" doc:"of the state"`
	DueAt     time.Time        `json:"due_at" doc:"later than this it does not leave"`
	Provider  string           `json:"provider,omitempty" doc:"outbox: nobody, this is what would have been sent"`
	Text      string           `json:"text,omitempty" doc:"from the first try on"`
	Segments  int              `json:"segments,omitempty" doc:"left out: only the carrier knows"`
	Tries     int              `json:"tries,omitempty" doc:"how often it was to be handed over"`
	CarrierID string           `json:"carrier_id,omitempty"`
	Fault     string           `json:"fault,omitempty" doc:"why it failed, or was put off: the carrier's code, or overdue, quiet_hours, suppressed, number_cap, tenant_cap, country, not_sent"`
	Receipts  []NoticeReceipt  `json:"receipts,omitempty" nullable:"false" doc:"in the carrier's words, the oldest first"`
	Until     *time.Time       `json:"until,omitempty" doc:"an operator wants it sent again: it leaves no later than this"`
	Again     bool             `json:"again,omitempty" doc:"another text goes once this one is known to have failed"`
	Rounds    int              `json:"rounds,omitempty" doc:"how many texts of it were taken before, and did not arrive"`
}

// NoticeReceipt is what a carrier said of a text message.
type NoticeReceipt struct {
	At     time.Time `json:"at"`
	Status string    `json:"status"`
	Code   string    `json:"code,omitempty"`
}

// NoticePage is a part of the outbox.
type NoticePage struct {
	Notices []Notice `json:"notices" nullable:"false" doc:"those that were changed last first"`
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

type noticesInput struct {
	Before uint64 `query:"before" doc:"only older ones than this seq; left out: from the newest on"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

func (a *API) notices(ctx context.Context, in *noticesInput) (*noticeOutput, error) {
	all, err := a.deps.Queue.Notices(ctx, in.Before, in.Limit)
	if err != nil {
		return nil, unavailable(err)
	}
	page := NoticePage{Notices: make([]Notice, 0, len(all))}
	if page.Total, err = a.deps.Queue.NoticeCount(ctx); err != nil {
		return nil, unavailable(err)
	}
	for _, n := range all {
		page.Notices = append(page.Notices, shownNotice(&n))
	}
	if n := len(all); n == in.Limit && all[n-1].Seq > 1 {
		page.Next = all[n-1].Seq
	}
	return &noticeOutput{page}, nil
}

func shownNotice(n *chat.Notice) Notice {
	shown := Notice{
		TicketID: n.ID, Tenant: n.Tenant, Channel: n.Channel, To: "…" + n.Phone[max(0, len(n.Phone)-4):],
		Language: n.Language, Code: n.Code, At: n.At,
		State: or(n.State, chat.NoticeSent), Since: n.Since, DueAt: n.DueAt, Provider: n.Provider, Text: n.Text, Segments: n.Segments,
		Tries: n.Tries, CarrierID: n.Carried, Fault: n.Fault, Receipts: shownReceipts(n.Receipts), Again: n.Again, Rounds: n.Round,
	}
	if !n.Until.IsZero() {
		shown.Until = &n.Until
	}
	return shown
}

func shownReceipts(all []chat.Receipt) []NoticeReceipt {
	var shown []NoticeReceipt
	for _, r := range all {
		shown = append(shown, NoticeReceipt{At: r.At, Status: r.Status, Code: r.Code})
	}
	return shown
}
