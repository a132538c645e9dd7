package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

func (a *API) listBulk(ctx context.Context, _ *struct{}) (*bulkListOutput, error) {
	all, err := a.deps.Queue.Bulks(ctx, false)
	if err != nil {
		return nil, unavailable(err)
	}
	out := &bulkListOutput{}
	out.Body.Bulk = make([]Bulk, 0, len(all))
	for i := range all {
		out.Body.Bulk = append(out.Body.Bulk, viewBulk(&all[i]))
	}
	return out, nil
}

func (a *API) getBulk(ctx context.Context, in *bulkRef) (*bulkOutput, error) {
	b, err := a.findBulk(ctx, in.ID)
	return &bulkOutput{Status: http.StatusOK, Body: viewBulk(&b)}, err
}

func (a *API) findBulk(ctx context.Context, id string) (queue.Bulk, error) {
	b, err := a.deps.Queue.Bulk(ctx, id)
	if errors.Is(err, queue.ErrNotFound) {
		return b, notFound("bulk action")
	}
	return b, orUnavailable(err)
}

func (a *API) stopBulk(ctx context.Context, in *bulkStopInput) (*bulkOutput, error) {
	e := queue.Audit{Action: "bulk.stop", Target: cut(in.ID, 64), Reason: in.Body.Reason}
	err := a.change(ctx, e, func() error {
		err := a.deps.Queue.StopBulk(ctx, in.ID)
		switch {
		case errors.Is(err, queue.ErrNotFound):
			return notFound("bulk action")
		case errors.Is(err, queue.ErrEnded):
			return &chat.Error{Kind: chat.Conflict, Code: codeEnded, Detail: "the bulk action has ended"}
		}
		return orUnavailable(err)
	})
	if err != nil {
		return nil, err
	}
	b, err := a.awaitStop(ctx, in.ID)
	return &bulkOutput{Status: http.StatusOK, Body: viewBulk(&b)}, err
}

// awaitStop looks at a bulk action until it has ended, or stopWait has passed.
func (a *API) awaitStop(ctx context.Context, id string) (queue.Bulk, error) {
	limit, look := time.NewTimer(stopWait), time.NewTicker(stopLook)
	defer limit.Stop()
	defer look.Stop()
	for {
		b, err := a.findBulk(ctx, id)
		if err != nil || b.State != queue.BulkRunning {
			return b, err
		}
		select {
		case <-look.C:
		case <-limit.C:
			return b, nil
		case <-a.stopping:
			return b, nil
		case <-ctx.Done():
			return b, unavailable(ctx.Err())
		}
	}
}

func viewBulk(b *queue.Bulk) Bulk {
	v := Bulk{
		ID: b.ID, Action: b.Action, State: b.State, Matched: b.Matched, Done: b.Done, Skipped: b.Skipped, Failed: b.Failed,
		Errors: make([]BulkFault, 0, len(b.Faults)), Waits: b.Waits, Actor: b.Actor, Reason: b.Reason, At: b.At, EndedAt: b.EndedAt,
		Filter: TicketQuery{
			Tenant: b.Filter.Tenant, Session: b.Filter.Session, State: b.Filter.Status, Route: b.Filter.Route, Lane: b.Filter.Lane,
			Reason: b.Filter.Reason, From: b.Filter.From, To: b.Filter.To,
		},
	}
	for _, f := range b.Faults {
		v.Errors = append(v.Errors, BulkFault(f))
	}
	return v
}
