package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// How many results are read together, how many of them at a time, and how long a reader
// may take over them.
const (
	resultBlock   = 128
	resultWidth   = 8
	resultTimeout = 30 * time.Second
)

type resultsInput struct {
	ID    string `path:"id" example:"b_ABCDEFGHIJKLMNOPQRSTUVWXYZ"`
	After int    `query:"after" minimum:"0" doc:"begins with the line after this one"`
}

func (a *API) registerResults(api huma.API) {
	line := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Ticket](), true, "Ticket")
	operate(api, huma.Operation{
		OperationID: "get-batch-results", Method: http.MethodGet, Path: "/v1/batches/{id}/results", Tags: []string{"batches"},
		Summary: "Read the results of a batch",
		Description: "A ticket a line, in the submitted order, up to the first line that has not ended: ask again with `after`, the last `line` that " +
			"came, and each line comes once. It can be read while the batch runs, and after it was cancelled or has expired. Each ticket has " +
			"its `line` and `custom_id`.",
		Security: []map[string][]string{{byTenantKey: {}}}, Middlewares: huma.Middlewares{a.keyed},
	}, []int{400, 401, 404, 503}, a.results)
	ok := api.OpenAPI().Paths["/v1/batches/{id}/results"].Get.Responses["200"]
	ok.Content = map[string]*huma.MediaType{mediaNDJSON: {Schema: line}}
}

func (a *API) results(ctx context.Context, in *resultsInput) (*huma.StreamResponse, error) {
	b, err := a.findBatch(ctx, callerOf(ctx).Name, in.ID)
	if err != nil {
		return nil, err
	}
	// The first ones are read before anything is answered, so that a fault is told as one.
	first, err := a.nextResults(ctx, b, in.After)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", mediaNDJSON)
		hc.SetStatus(http.StatusOK)
		a.streamResults(hc, b, in.After, first)
	}}, nil
}

// streamResults writes block after block. A fault on the way cuts the answer, so that it
// is not taken for a whole one.
func (a *API) streamResults(hc huma.Context, b queue.Batch, after int, block []chat.Ticket) {
	ctx := hc.Context()
	w := http.NewResponseController(humaecho.Unwrap(hc).Response())
	out := json.NewEncoder(hc.BodyWriter())
	for len(block) > 0 {
		_ = w.SetWriteDeadline(time.Now().Add(resultTimeout))
		for i := range block {
			if err := out.Encode(view(&block[i], a.deps.Line)); err != nil {
				return // the reader has gone
			}
		}
		if err := w.Flush(); err != nil {
			return
		}
		after += len(block)
		var err error
		if block, err = a.nextResults(ctx, b, after); err != nil {
			a.deps.Log.Warn().Err(err).Str("stage", "api").Str("batch", b.ID).Msg("results are cut")
			panic(http.ErrAbortHandler)
		}
	}
}

// nextResults reads some of the lines after one that have ended without a gap.
func (a *API) nextResults(ctx context.Context, b queue.Batch, after int) ([]chat.Ticket, error) {
	if after >= b.Total {
		return nil, nil
	}
	last, err := a.deps.Queue.LinesEnded(ctx, b, after)
	if err != nil {
		return nil, unavailable(err)
	}
	block := make([]chat.Ticket, min(resultBlock, last-after))
	faults := make([]error, len(block))
	var work sync.WaitGroup
	for k := range min(resultWidth, len(block)) {
		work.Go(func() {
			for i := k; i < len(block); i += resultWidth {
				block[i], faults[i] = a.find(ctx, b.Tenant, chat.LineTicketID(b.ID, after+1+i))
			}
		})
	}
	work.Wait()
	if err := errors.Join(faults...); err != nil {
		var e *chat.Error
		if errors.As(err, &e) && e.Kind == chat.NotFound {
			return nil, errHistory(err) // it has ended, so it is on its way there
		}
		return nil, err
	}
	return block, nil
}
