package api

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"sluice/internal/queue"
)

// How many entries are read together for a table, and how long a reader may take over them.
const (
	auditRows    = 500
	auditTimeout = 30 * time.Second
)

// auditTable is the media type of the table of the audit.
const auditTable = "text/csv; charset=utf-8"

type auditExportInput struct{ AuditQuery }

func (a *API) registerAuditExport(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-export-audit", Method: http.MethodGet, Path: "audit.csv", Summary: "Write the audit into a table",
		Description: "Newest first, all that is kept: at most 100,000 rows. A cell that a spreadsheet would take for a formula begins with an apostrophe.",
	}, []int{400}, a.exportAudit)
	ok := api.OpenAPI().Paths[adminPath+"audit.csv"].Get.Responses["200"]
	ok.Content = map[string]*huma.MediaType{"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}}}
}

func (a *API) exportAudit(ctx context.Context, in *auditExportInput) (*huma.StreamResponse, error) {
	// The first ones are read before anything is answered, so that a fault is told as one.
	first, next, err := a.deps.Queue.SearchAudit(ctx, in.filter(), 0, auditRows)
	if err != nil {
		return nil, unavailable(err)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		hc.SetHeader("Content-Type", auditTable)
		hc.SetHeader("Content-Disposition", `attachment; filename="audit.csv"`)
		hc.SetStatus(http.StatusOK)
		a.streamAudit(hc, in.filter(), first, next)
	}}, nil
}

// streamAudit writes block after block. A fault on the way cuts the answer, so that it is
// not taken for a whole one.
func (a *API) streamAudit(hc huma.Context, f queue.AuditFilter, block []queue.Audit, next uint64) {
	w := http.NewResponseController(humaecho.Unwrap(hc).Response())
	out := csv.NewWriter(hc.BodyWriter())
	_ = out.Write([]string{"seq", "at", "actor", "action", "target", "reason", "before", "after", "result"}) // its error comes with the flush
	for {
		_ = w.SetWriteDeadline(time.Now().Add(auditTimeout))
		for i := range block {
			_ = out.Write(auditRow(&block[i]))
		}
		if out.Flush(); out.Error() != nil || w.Flush() != nil {
			return // the reader has gone
		}
		if next == 0 {
			return
		}
		var err error
		if block, next, err = a.deps.Queue.SearchAudit(hc.Context(), f, next, auditRows); err != nil {
			a.deps.Log.Warn().Err(err).Str("stage", "api").Msg("a table of the audit is cut")
			panic(http.ErrAbortHandler)
		}
	}
}

func auditRow(e *queue.Audit) []string {
	row := []string{
		strconv.FormatUint(e.Seq, 10), e.At.UTC().Format(time.RFC3339Nano), e.Actor, e.Action, e.Target, e.Reason,
		side(e.Before), side(e.After), e.Result,
	}
	for i := range row {
		row[i] = cell(row[i])
	}
	return row
}

// side writes one side of a change: text as it is, all else as JSON.
func side(shown any) string {
	switch shown := shown.(type) {
	case nil:
		return ""
	case string:
		return shown
	default:
		raw, _ := json.Marshal(shown) // it was JSON before
		return string(raw)
	}
}
