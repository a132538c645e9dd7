package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"sluice/internal/queue"
	"sluice/internal/rules"
)

// maxRulesBody holds the largest document with each of its characters escaped once.
const maxRulesBody = 2*rules.MaxSize + maxBody

// RuleRevision is one stored rules document, or its entry in the history.
type RuleRevision struct {
	Revision uint64    `json:"revision"`
	At       time.Time `json:"at"`
	Actor    string    `json:"actor"`
	Reason   string    `json:"reason"`
	From     uint64    `json:"from,omitempty" doc:"the revision that was brought back"`
	Size     int       `json:"size" doc:"of the document, in bytes"`
	Document string    `json:"document,omitempty" doc:"YAML; not in the history"`
}

type ruleInput struct {
	Revision uint64 `query:"revision" doc:"an earlier one; left out: the newest"`
}

type ruleOutput struct {
	ETag string `header:"ETag"`
	Body RuleRevision
}

type historyOutput struct {
	Body struct {
		Revisions []RuleRevision `json:"revisions" nullable:"false" doc:"newest first, at most 64"`
	}
}

type rulesBody struct {
	Document string `json:"document" minLength:"1" pattern:"\\S" doc:"the whole YAML document; {} is the one with nothing in it"`
	Reason   string `json:"reason" minLength:"1" maxLength:"500"`
	Revision uint64 `json:"revision,omitempty" doc:"that the author saw; or the header If-Match"`
}

type putRulesInput struct {
	Match  string `header:"If-Match" doc:"the ETag of the revision that the author saw; or revision in the body"`
	Reason string `query:"reason" doc:"only with a YAML body: why"`
	Body   rulesBody
}

type rollbackBody struct {
	Revision uint64 `json:"revision" minimum:"1" doc:"to bring back, as a new revision"`
	Reason   string `json:"reason" minLength:"1" maxLength:"500"`
}

type rollbackInput struct{ Body rollbackBody }

func (a *API) registerRules(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-get-rules", Method: http.MethodGet, Path: "rules", Summary: "Read the rules document",
	}, []int{404}, a.getRules)
	manage(a, api, huma.Operation{
		OperationID: "admin-put-rules", Method: http.MethodPut, Path: "rules", Summary: "Replace the rules document",
		Description: "The document is checked as a whole: 400 with line and column of each fault, and nothing stored. It is in force everywhere " +
			"within a second. 409 if the revision that its author saw is not the newest any more. Also as `application/yaml`, with `?reason=` and `If-Match`.",
		MaxBodyBytes: maxRulesBody + 2, Middlewares: huma.Middlewares{rulesAsJSON},
	}, []int{400, 404, 409, 413, 415}, a.putRules)
	body := api.OpenAPI().Paths[adminPath+"rules"].Put.RequestBody
	body.Content["application/yaml"] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	manage(a, api, huma.Operation{
		OperationID: "admin-rules-history", Method: http.MethodGet, Path: "rules/history", Summary: "List the stored revisions",
	}, nil, a.rulesHistory)
	manage(a, api, huma.Operation{
		OperationID: "admin-rollback-rules", Method: http.MethodPost, Path: "rules/rollback", Summary: "Bring an earlier document back",
		Description: "As a new revision with the earlier text, checked like any other.",
		Middlewares: huma.Middlewares{checkedAs[rollbackBody]},
	}, []int{400, 404, 409, 413}, a.rollbackRules)
}

// rulesAsJSON reads the body before the library does, and puts one that is YAML into the
// JSON that it would be.
func rulesAsJSON(ctx huma.Context, next func(huma.Context)) {
	c := humaecho.Unwrap(ctx)
	r := c.Request()
	isYAML := r.Header.Get("Content-Type") == "application/yaml"
	body, err := readRules(c.Response(), r, isYAML)
	if err == nil && isYAML {
		r.Header.Set("Content-Type", "application/json")
		body, err = json.Marshal(map[string]string{"document": string(body), "reason": c.QueryParam("reason")})
	}
	if err != nil {
		refuse(ctx, err)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	next(ctx)
}

func readRules(w http.ResponseWriter, r *http.Request, isYAML bool) ([]byte, error) {
	if isYAML {
		return readTextUpTo(w, r, rules.MaxSize)
	}
	body, err := readBodyUpTo(w, r, maxRulesBody)
	if err == nil {
		err = checkNames(body, reflect.TypeFor[rulesBody]())
	}
	return body, err
}

var errNoStore = errors.New("this process has no store of rules")

func (a *API) store() (*queue.RuleStore, error) {
	if a.deps.Store == nil {
		return nil, unavailable(errNoStore)
	}
	return a.deps.Store, nil
}

func (a *API) getRules(ctx context.Context, in *ruleInput) (*ruleOutput, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	found, err := revision(ctx, store, in.Revision)
	if err != nil {
		return nil, err
	}
	out := ruleRevision(found)
	return &out, nil
}

// revision reads a stored revision; 0: the newest.
func revision(ctx context.Context, store *queue.RuleStore, rev uint64) (queue.Revision, error) {
	read := store.Current
	if rev > 0 {
		read = func(ctx context.Context) (queue.Revision, error) { return store.Revision(ctx, rev) }
	}
	found, err := read(ctx)
	if errors.Is(err, queue.ErrNotFound) {
		return found, notFound("revision")
	}
	return found, orUnavailable(err)
}

func ruleRevision(r queue.Revision) ruleOutput {
	return ruleOutput{ETag: `"` + strconv.FormatUint(r.Rev, 10) + `"`, Body: ruleEntry(r)}
}

func ruleEntry(r queue.Revision) RuleRevision {
	return RuleRevision{
		Revision: r.Rev, At: r.At.UTC(), Actor: r.Actor, Reason: r.Reason, From: r.From, Size: r.Size, Document: string(r.Document),
	}
}

func (a *API) rulesHistory(ctx context.Context, _ *struct{}) (*historyOutput, error) {
	store, err := a.store()
	if err != nil {
		return nil, err
	}
	all, err := store.History(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	out := &historyOutput{}
	out.Body.Revisions = make([]RuleRevision, 0, len(all))
	for _, r := range all {
		out.Body.Revisions = append(out.Body.Revisions, ruleEntry(r))
	}
	return out, nil
}
