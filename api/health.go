package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// checkTimeout is the longest that one dependency is waited for.
const checkTimeout = 2 * time.Second

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
	out := &readyOutput{Status: http.StatusOK, Body: Readiness{Status: "ready", Checks: a.ask(ctx)}}
	for _, d := range out.Body.Checks {
		switch {
		case d.OK:
		case d.Required:
			out.Status, out.Body.Status = http.StatusServiceUnavailable, "unavailable"
		case out.Status == http.StatusOK:
			out.Body.Status = "degraded"
		}
	}
	if a.intake.draining.Load() {
		out.Status, out.Body.Status = http.StatusServiceUnavailable, "draining"
	}
	return out, nil
}

// ask asks all dependencies at once and waits for each no longer than checkTimeout.
func (a *API) ask(ctx context.Context) []Dependency {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	all := make([]Dependency, len(a.deps.Checks))
	var asked sync.WaitGroup
	for i, check := range a.deps.Checks {
		asked.Go(func() {
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
				a.deps.Log.Debug().Err(err).Str("stage", "api").Str("check", check.Name).Msg("dependency is away")
			}
		})
	}
	asked.Wait()
	return all
}
