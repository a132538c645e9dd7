package api

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// The most tickets of a bulk action, and how long whoever stops one waits for its end.
const (
	maxBulk  = 100_000
	stopWait = 5 * time.Second
	stopLook = 50 * time.Millisecond
)

// BulkFault is a ticket with which it could not be done.
type BulkFault struct {
	Ticket string `json:"ticket"`
	Code   string `json:"code"`
}

// Bulk is an action on all tickets that matched a filter.
type Bulk struct {
	ID      string           `json:"id,omitempty" doc:"left out: it was only counted"`
	Action  queue.BulkAction `json:"action" enum:"requeue,cancel"`
	Filter  TicketQuery      `json:"filter"`
	State   queue.BulkState  `json:"state" enum:"running,done,stopped,failed"`
	DryRun  bool             `json:"dry_run,omitempty"`
	Matched int              `json:"matched" doc:"tickets, when it began"`
	Done    int              `json:"done"`
	Skipped int              `json:"skipped" doc:"with which nothing was to be done any more"`
	Failed  int              `json:"failed"`
	Errors  []BulkFault      `json:"errors" nullable:"false" doc:"the first 100 that failed"`
	Waits   string           `json:"waits,omitempty" doc:"why it does not go on now, as the code of a problem"`
	Actor   string           `json:"actor"`
	Reason  string           `json:"reason"`
	At      time.Time        `json:"at"`
	EndedAt *time.Time       `json:"ended_at,omitempty"`
}

// BulkWish is the body that asks for a bulk action.
type BulkWish struct {
	Filter TicketQuery      `json:"filter" doc:"at least one field of a search"`
	Action queue.BulkAction `json:"action" enum:"requeue,cancel"`
	DryRun bool             `json:"dry_run,omitempty" doc:"only counts"`
	Reason string           `json:"reason" minLength:"1" maxLength:"500" doc:"why; kept in the audit"`
}

type bulkInput struct{ Body BulkWish }

type bulkOutput struct {
	Status int
	Body   Bulk
}

type bulkRef struct {
	ID string `path:"id" maxLength:"64"`
}

type bulkStopInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body reasoned
}

type bulkListOutput struct {
	Body struct {
		Bulk []Bulk `json:"bulk" nullable:"false" doc:"newest first: those that run, and the last 100"`
	}
}

func (a *API) registerBulk(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-begin-bulk", Method: http.MethodPost, Path: "bulk", Summary: "Do something with all tickets that match a filter",
		Description: "`requeue` is about those that have ended, `cancel` about those that are open, accepted before the call; 100,000 at most. The server " +
			"works on it step by step, also after the death of a process; at most 5 run at once (429 `rate_limited`). A lane is filled by half at " +
			"most. With `dry_run` it is only counted (200).",
		DefaultStatus: http.StatusAccepted, Middlewares: huma.Middlewares{checkedAs[BulkWish]},
	}, []int{400, 413, 429}, a.beginBulk)
	responses := api.OpenAPI().Paths[adminPath+"bulk"].Post.Responses
	responses["200"] = &huma.Response{Description: "Counted", Content: responses["202"].Content}
	manage(a, api, huma.Operation{
		OperationID: "admin-list-bulk", Method: http.MethodGet, Path: "bulk", Summary: "List the bulk actions",
	}, nil, a.listBulk)
	manage(a, api, huma.Operation{
		OperationID: "admin-get-bulk", Method: http.MethodGet, Path: "bulk/{id}", Summary: "Read how a bulk action stands",
	}, []int{404}, a.getBulk)
	manage(a, api, huma.Operation{
		OperationID: "admin-stop-bulk", Method: http.MethodPost, Path: "bulk/{id}/stop", Summary: "Stop a bulk action",
		Description: "What was done stays done. It waits for the step in hand, 5 s at most. 409 `ended` after its end.",
		Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 409, 413}, a.stopBulk)
}

func (a *API) beginBulk(ctx context.Context, in *bulkInput) (*bulkOutput, error) {
	wish := &in.Body
	if err := wish.check(); err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	action := queue.Bulk{
		ID: "bulk_" + rand.Text(), Action: wish.Action, Filter: wish.about(now), Actor: operatorOf(ctx).actor, Reason: wish.Reason,
		At: now, State: queue.BulkRunning, Holder: a.bulks.name,
	}
	if wish.Filter.ID != "" {
		return nil, chat.Bad("filter.id", "is for a search; act on the ticket itself")
	}
	var err error
	if action.Matched, err = a.count(ctx, action.Filter); err != nil {
		return nil, err
	}
	if wish.DryRun {
		action.ID = ""
		action.End(queue.BulkDone, now)
		out := &bulkOutput{Status: http.StatusOK, Body: viewBulk(&action)}
		out.Body.DryRun = true
		return out, checkReason(wish.Reason)
	}
	e := queue.Audit{
		Action: "bulk." + string(wish.Action), Target: action.ID, Reason: wish.Reason,
		After: map[string]any{"filter": action.Filter, "matched": action.Matched},
	}
	err = a.change(ctx, e, func() (err error) {
		action, err = a.deps.Queue.AddBulk(ctx, action)
		if errors.Is(err, queue.ErrBulks) {
			return &chat.Error{Kind: chat.Overloaded, Code: codeRateLimited, RetryAfter: 5 * time.Second, Detail: "5 bulk actions run; wait for one, or stop it"}
		}
		return orUnavailable(err)
	})
	if err != nil {
		return nil, err
	}
	a.bulks.wake()
	return &bulkOutput{Status: http.StatusAccepted, Body: viewBulk(&action)}, nil
}

func (w *BulkWish) check() error {
	if w.Filter == (TicketQuery{}) {
		return chat.Bad("filter", "must have at least one field")
	}
	if err := w.Filter.check(); err != nil {
		return err
	}
	if s := w.Filter.State; s != "" && s.Ended() != (w.Action == queue.BulkRequeue) {
		return chat.Bad("filter.state", "can match nothing: requeue is about tickets that have ended, cancel about open ones")
	}
	return checkReason(w.Reason)
}

// about returns the filter of what is there at now, with which the action has to do.
func (w *BulkWish) about(now time.Time) chat.TicketFilter {
	f := w.Filter.filter()
	if f.To.IsZero() || f.To.After(now) {
		f.To = now
	}
	f.Life = chat.LifeEnded
	if w.Action == queue.BulkCancel {
		f.Life = chat.LifeOpen
	}
	return f
}
