package api

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
)

// How long a dependency is waited for: one without which nothing can be accepted, and another
// one, of which a database that hangs must not make this process miss the deadline of whoever
// asks (Kubernetes waits for 1 s if it is told nothing else).
const (
	requiredTimeout = 2 * time.Second
	checkTimeout    = 500 * time.Millisecond
)

// Readiness is how the process and each dependency stand.
type Readiness struct {
	Status string       `json:"status" enum:"ready,degraded,unavailable,draining" doc:"degraded: requests are accepted, something else is away"`
	Checks []Dependency `json:"checks" nullable:"false"`
}

// Dependency is one part that the process works with.
type Dependency struct {
	Name     string `json:"name"`
	State    string `json:"state"`
	OK       bool   `json:"ok"`
	Required bool   `json:"required" doc:"without it no request can be accepted"`
}

// Liveness says that the process answers.
type Liveness struct {
	Status string `json:"status" enum:"alive"`
}

type liveOutput struct{ Body Liveness }

type readyOutput struct {
	Status int
	Body   Readiness
}

func (a *API) registerHealth(api huma.API) {
	operate(api, huma.Operation{
		OperationID: "livez", Method: http.MethodGet, Path: "/livez", Tags: []string{"health"}, Summary: "Is the process alive",
	}, nil, func(context.Context, *struct{}) (*liveOutput, error) { return &liveOutput{Liveness{"alive"}}, nil })
	operate(api, huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Tags: []string{"health"},
		Summary:     "How each dependency stands",
		Description: "503, with the same body, only when no request could be accepted.",
	}, nil, a.ready)
	responses := api.OpenAPI().Paths["/readyz"].Get.Responses
	responses["503"] = &huma.Response{Description: "No request could be accepted", Content: responses["200"].Content}
}

func (a *API) ready(ctx context.Context, _ *struct{}) (*readyOutput, error) {
	status, body := readiness(ctx, a.deps.Checks, a.leaving.Load() || a.intake.draining.Load(), a.deps.Log)
	return &readyOutput{Status: status, Body: body}, nil
}

// readiness judges by all dependencies: 503 only when no request could be accepted.
func readiness(ctx context.Context, checks []Check, draining bool, log zerolog.Logger) (int, Readiness) {
	status, body := http.StatusOK, Readiness{Status: "ready", Checks: ask(ctx, checks, log)}
	for _, d := range body.Checks {
		switch {
		case d.OK:
		case d.Required:
			status, body.Status = http.StatusServiceUnavailable, "unavailable"
		case status == http.StatusOK:
			body.Status = "degraded"
		}
	}
	if draining {
		status, body.Status = http.StatusServiceUnavailable, "draining"
	}
	return status, body
}

// ask asks all dependencies at once.
func ask(ctx context.Context, checks []Check, log zerolog.Logger) []Dependency {
	all := make([]Dependency, len(checks))
	var asked sync.WaitGroup
	for i, check := range checks {
		asked.Go(func() {
			limit := checkTimeout
			if check.Required {
				limit = requiredTimeout
			}
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			state, err := check.State(ctx)
			if state == "" {
				state = "up"
				if err != nil {
					state = "down"
				}
			}
			// The error's text may name addresses, and the page is open to all.
			all[i] = Dependency{Name: check.Name, State: state, OK: err == nil, Required: check.Required}
			if err != nil {
				log.Debug().Err(err).Str("stage", "api").Str("check", check.Name).Msg("dependency is away")
			}
		})
	}
	asked.Wait()
	return all
}

// Health answers /livez, /readyz and /metrics for a process that has no API, or none yet,
// with the same bodies. It is safe for concurrent use.
type Health struct {
	checks   []Check
	metrics  http.Handler
	log      zerolog.Logger
	draining atomic.Bool
}

// NewHealth returns a Health that asks checks and shows metrics.
func NewHealth(checks []Check, metrics http.Handler, log zerolog.Logger) *Health {
	return &Health{checks: checks, metrics: metrics, log: log}
}

// Drain lets /readyz answer 503 draining from now on.
func (h *Health) Drain() { h.draining.Store(true) }

// Handler returns these pages; everything else is 503, for whoever comes before the API.
func (h *Health) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, Liveness{"alive"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		status, body := readiness(r.Context(), h.checks, h.draining.Load(), h.log)
		writeJSON(w, status, body)
	})
	mux.Handle("GET /metrics", h.metrics)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, problemOf(&chat.Error{
			Kind: chat.Transient, Code: codeUnavailable, RetryAfter: time.Second,
			Detail: "no requests are served here, or not yet: /readyz tells",
		}))
	})
	return mux
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a caller who has gone cannot be told
}
