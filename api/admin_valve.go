package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
)

// Forced is an operator's level.
type Forced struct {
	Level int       `json:"level"`
	Until time.Time `json:"until"`
}

// Valve is how high the load level is, and whose word it is.
type Valve struct {
	Force  *Forced           `json:"force" doc:"of the rules in force here; null: none, or its time is over"`
	Levels map[chat.Lane]int `json:"levels,omitempty" doc:"that a ticket of each interactive lane feels; left out where nobody knows"`
}

type valveOutput struct{ Body Valve }

func (a *API) registerValve(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-get-valve", Method: http.MethodGet, Path: "valve", Summary: "How the valve stands",
	}, nil, func(ctx context.Context, _ *struct{}) (*valveOutput, error) {
		out := &valveOutput{}
		out.Body.Levels, _ = a.levels(ctx)
		if f := a.deps.Rules().Valve.Force; f != nil && f.Until.After(time.Now()) {
			out.Body.Force = &Forced{Level: f.Level, Until: f.Until.UTC()}
		}
		return out, nil
	})
}
