package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/queue"
)

// auditPage is the most entries of one answer, and how many there are if nobody says.
const auditPage = 100

type auditInput struct {
	AuditQuery
	Before uint64 `query:"before" doc:"only older entries than this seq; left out: from the newest on"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"100"`
}

// AuditQuery says which entries are wanted.
type AuditQuery struct {
	Actor  string `query:"actor" maxLength:"100" doc:"only of this actor"`
	Action string `query:"action" maxLength:"100" doc:"only this action; lane stands for lane.pause and all others of lanes"`
	Target string `query:"target" maxLength:"500" doc:"only what was done to this"`
}

func (q AuditQuery) filter() queue.AuditFilter {
	return queue.AuditFilter{Actor: q.Actor, Action: q.Action, Target: q.Target}
}

// AuditPage is a part of the audit.
type AuditPage struct {
	Entries []queue.Audit `json:"entries" nullable:"false" doc:"newest first"`
	Next    uint64        `json:"next,omitempty" doc:"ask again with before, also where entries are few: so many were looked at; left out: there are no older ones"`
}

type auditOutput struct{ Body AuditPage }

func (a *API) registerAudit(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-audit", Method: http.MethodGet, Path: "audit", Summary: "Who changed what, when and why",
	}, []int{400}, a.audit)
}

func (a *API) audit(ctx context.Context, in *auditInput) (*auditOutput, error) {
	entries, next, err := a.deps.Queue.SearchAudit(ctx, in.filter(), in.Before, min(in.Limit, auditPage))
	if err != nil {
		return nil, unavailable(err)
	}
	return &auditOutput{AuditPage{Entries: entries, Next: next}}, nil
}

// maxShown is how much an entry shows of what was changed, as JSON in bytes.
const maxShown = 4096

// shortened makes one side of a change small enough for the audit.
func shortened(shown any) any {
	if shown == nil {
		return nil
	}
	raw, err := json.Marshal(shown)
	if err != nil || len(raw) <= maxShown {
		return shown
	}
	return strings.ToValidUTF8(string(raw[:maxShown]), "") + "…"
}
