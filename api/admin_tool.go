package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/tool"
)

// Tool is a tool of the rules, and how it stands now.
type Tool struct {
	Name    string       `json:"name"`
	Permits int          `json:"permits" doc:"calls at once over all nodes"`
	Effect  bool         `json:"effect" doc:"its calls change something"`
	Now     *VendorState `json:"now,omitempty" doc:"left out where nobody knows"`
}

type toolsOutput struct {
	Body struct {
		Tools []Tool `json:"tools" nullable:"false"`
	}
}

func (a *API) registerTools(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-list-tools", Method: http.MethodGet, Path: "tools", Summary: "How each tool stands",
	}, nil, func(ctx context.Context, _ *struct{}) (*toolsOutput, error) {
		out := &toolsOutput{}
		out.Body.Tools = a.tools(ctx)
		return out, nil
	})
	for verb, summary := range map[string]string{"open": "Let no call through to a tool", "close": "Let calls through to a tool again"} {
		manage(a, api, huma.Operation{
			OperationID: "admin-" + verb + "-tool-breaker", Method: http.MethodPost, Path: "tools/{name}/breaker/" + verb, Summary: summary,
			DefaultStatus: http.StatusNoContent, Middlewares: huma.Middlewares{checkedAs[reasoned]},
		}, []int{400, 404, 413}, func(ctx context.Context, in *vendorInput) (*struct{}, error) {
			return nil, a.turnTool(ctx, in, verb)
		})
	}
}

// tools joins what the rules say and what the controller knows.
func (a *API) tools(ctx context.Context) []Tool {
	states := a.states(ctx)
	all := []Tool{}
	for _, t := range a.deps.Rules().Tools {
		one := Tool{Name: t.Name, Permits: t.Permits, Effect: t.Effect}
		if s, known := states[tool.Account(t.Name)]; known {
			one.Now = &s
		}
		all = append(all, one)
	}
	return all
}

func (a *API) turnTool(ctx context.Context, in *vendorInput, verb string) error {
	for _, t := range a.deps.Rules().Tools {
		if t.Name == in.Name {
			return a.turn(ctx, tool.Account(t.Name), verb, in.Body.Reason)
		}
	}
	return notFound("tool")
}
