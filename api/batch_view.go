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

// callOffFor is how long a caller who cancels a batch waits for its lines to be cancelled;
// lineEvery is how often a caller's line is looked at that is waited for; endFor and endEvery
// are how long and how often a batch is of which nothing is open.
const (
	callOffFor = 5 * time.Second
	lineEvery  = time.Second
	endFor     = 2 * time.Second
	endEvery   = 20 * time.Millisecond
)

// Batch is a batch as its tenant sees it.
type Batch struct {
	BatchID     string           `json:"batch_id"`
	Status      chat.BatchStatus `json:"status" enum:"in_progress,completed,cancelled,expired"`
	Total       int              `json:"total" doc:"its lines"`
	Queued      int              `json:"queued"`
	Running     int              `json:"running"`
	Answered    int              `json:"answered"`
	Failed      int              `json:"failed"`
	Cancelled   int              `json:"cancelled"`
	ETAMS       int64            `json:"eta_ms" doc:"estimated time until its last line ends; 0: none is open"`
	CreatedAt   time.Time        `json:"created_at"`
	ExpiresAt   time.Time        `json:"expires_at" doc:"what has not ended then is cancelled"`
	CompletedAt *time.Time       `json:"completed_at,omitempty" doc:"when its last line ended"`
}

type batchRef struct {
	ID string `path:"id" example:"b_ABCDEFGHIJKLMNOPQRSTUVWXYZ"`
}

type batchViewOutput struct{ Body Batch }

func (a *API) registerBatch(api huma.API) {
	op := huma.Operation{
		Path: "/v1/batches/{id}", Tags: []string{"batches"},
		Security: []map[string][]string{{byTenantKey: {}}}, Middlewares: huma.Middlewares{a.keyed},
	}
	read, cancel := op, op
	read.OperationID, read.Method, read.Summary = "get-batch", http.MethodGet, "Read how a batch stands"
	operate(api, read, []int{401, 404, 503}, a.getBatch)
	cancel.OperationID, cancel.Method, cancel.Summary = "cancel-batch", http.MethodDelete, "Cancel what has not ended of a batch"
	cancel.Description = "Lines that have ended keep their replies. It answers once all lines have ended, after 5 s at the latest; the rest ends " +
		"by itself. 409 `ended` if all had ended."
	operate(api, cancel, []int{401, 404, 409, 503}, a.cancelBatch)
	a.registerResults(api)
}

func (a *API) getBatch(ctx context.Context, in *batchRef) (*batchViewOutput, error) {
	b, err := a.findBatch(ctx, callerOf(ctx).Name, in.ID)
	if err != nil {
		return nil, err
	}
	return a.shownBatch(ctx, b)
}

// shownBatch counts the lines, and where all have ended, notes that. Whoever feeds the batch
// may be about to note how far it came: a batch of which nothing is open gets endFor for it,
// so that it is shown with its end.
func (a *API) shownBatch(ctx context.Context, b queue.Batch) (*batchViewOutput, error) {
	tick := time.NewTicker(endEvery)
	defer tick.Stop()
	for until := time.Now().Add(endFor); ; {
		settled, counts, err := a.deps.Queue.SettleBatch(ctx, b, time.Now().UTC())
		if err != nil {
			return nil, unavailable(err)
		}
		if settled.EndedAt != nil || counts.Queued+counts.Running > 0 || !time.Now().Before(until) {
			return &batchViewOutput{a.viewBatch(&settled, counts, time.Now())}, nil
		}
		a.batches.wake()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, unavailable(ctx.Err())
		}
		if b, err = a.deps.Queue.Batch(ctx, b.ID); err != nil {
			return nil, unavailable(err)
		}
	}
}

func (a *API) viewBatch(b *queue.Batch, c queue.LineCounts, now time.Time) Batch {
	return Batch{
		BatchID: b.ID, Status: b.Status(), Total: b.Total, Queued: c.Queued, Running: c.Running,
		Answered: c.Answered, Failed: c.Failed, Cancelled: c.Cancelled, ETAMS: a.etaOf(b, c, now).Milliseconds(),
		CreatedAt: b.CreatedAt, ExpiresAt: b.Deadline, CompletedAt: b.EndedAt,
	}
}

// etaOf takes the lines that are open to end as fast as those before them, or where none
// has ended yet, as the lane's last. Past the deadline, and once the batch is stopped, what is
// open ends with one of the next looks.
func (a *API) etaOf(b *queue.Batch, c queue.LineCounts, now time.Time) time.Duration {
	open := c.Queued + c.Running
	switch {
	case open == 0, b.EndedAt != nil:
		return 0
	case b.Stop != "":
		return feedEvery
	}
	_, eta := a.deps.Line.Behind(chat.Batch)
	if done := c.Ended(); done > 0 {
		eta = time.Duration(float64(now.Sub(b.CreatedAt)) / float64(done) * float64(open))
	}
	return max(feedEvery, min(eta, b.Deadline.Sub(now)))
}

func (a *API) cancelBatch(ctx context.Context, in *batchRef) (*batchViewOutput, error) {
	b, err := a.findBatch(ctx, callerOf(ctx).Name, in.ID)
	if err != nil {
		return nil, err
	}
	b, _, err = a.deps.Queue.SettleBatch(ctx, b, time.Now().UTC()) // all may have ended without anybody's notice
	if err != nil {
		return nil, unavailable(err)
	}
	stopped, err := a.deps.Queue.StopBatch(ctx, b.ID, chat.ReasonCustomer, time.Now().UTC())
	switch {
	case errors.Is(err, queue.ErrEnded) && stopped.EndedAt != nil:
		return nil, &chat.Error{Kind: chat.Conflict, Code: codeEnded, Detail: "the batch has ended"}
	case err != nil && !errors.Is(err, queue.ErrEnded):
		return nil, unavailable(err)
	}
	b = a.batches.callOff(ctx, stopped, callOffFor)
	return a.shownBatch(ctx, b)
}

// awaitLine waits until a line of a batch has ended, or the time is over. Lines have no
// events: it looks each second.
func (a *API) awaitLine(ctx context.Context, id string, wait time.Duration) error {
	timer, ticker := time.NewTimer(wait), time.NewTicker(lineEvery)
	defer timer.Stop()
	defer ticker.Stop()
	for {
		s, err := a.deps.Queue.Ticket(ctx, id)
		if err != nil {
			return unavailable(err)
		}
		if s.Status.Ended() {
			return nil
		}
		select {
		case <-ticker.C:
		case <-timer.C:
			return nil
		case <-a.stopping:
			return nil
		case <-ctx.Done():
			return unavailable(ctx.Err())
		}
	}
}
