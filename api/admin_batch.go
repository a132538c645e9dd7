package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
)

// BatchEntry is a batch as operators see it.
type BatchEntry struct {
	Tenant string `json:"tenant"`
	Fed    int    `json:"fed" doc:"lines that have tickets"`
	Batch
}

// BatchPage is the newest batches.
type BatchPage struct {
	Batches []BatchEntry `json:"batches" nullable:"false" doc:"newest first"`
}

type batchListInput struct {
	Status chat.BatchStatus `query:"status" enum:"in_progress,completed,cancelled,expired" doc:"left out: all"`
	Limit  int              `query:"limit" minimum:"1" maximum:"100" default:"50"`
}

type batchListOutput struct{ Body BatchPage }

func (a *API) registerBatchList(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-list-batches", Method: http.MethodGet, Path: "batches", Summary: "List the newest batches",
	}, []int{400}, a.listBatches)
}

func (a *API) listBatches(ctx context.Context, in *batchListInput) (*batchListOutput, error) {
	all, err := a.deps.Queue.Batches(ctx, in.Status, in.Limit)
	if err != nil {
		return nil, unavailable(err)
	}
	page := BatchPage{Batches: make([]BatchEntry, 0, len(all))}
	for i := range all {
		counts, err := a.deps.Queue.CountLines(ctx, all[i])
		if err != nil {
			return nil, unavailable(err)
		}
		page.Batches = append(page.Batches, BatchEntry{
			Tenant: all[i].Tenant, Fed: all[i].Cursor, Batch: a.viewBatch(&all[i], counts, time.Now()),
		})
	}
	return &batchListOutput{page}, nil
}
