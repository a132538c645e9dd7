package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/queue"
)

// auditPage is the most entries of one answer, and how many there are if nobody says.
const auditPage = 100

type auditInput struct {
	Before uint64 `query:"before" doc:"only older entries than this seq; left out: from the newest on"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

// AuditPage is a part of the audit.
type AuditPage struct {
	Entries []queue.Audit `json:"entries" nullable:"false" doc:"newest first"`
	Next    uint64        `json:"next,omitempty" doc:"ask again with before; left out: there are no older ones"`
}

type auditOutput struct{ Body AuditPage }

func (a *API) registerAudit(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-audit", Method: http.MethodGet, Path: "audit", Summary: "Who changed what, when and why",
	}, []int{400}, a.audit)
}

func (a *API) audit(ctx context.Context, in *auditInput) (*auditOutput, error) {
	entries, err := a.deps.Queue.Audits(ctx, in.Before, min(in.Limit, auditPage))
	if err != nil {
		return nil, unavailable(err)
	}
	page := AuditPage{Entries: entries}
	if n := len(entries); n == in.Limit && entries[n-1].Seq > 1 {
		page.Next = entries[n-1].Seq
	}
	return &auditOutput{page}, nil
}
