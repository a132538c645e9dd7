package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

// Vendor is an account, as the rules have it and as it stands now.
type Vendor struct {
	Name            string       `json:"name"`
	Kind            string       `json:"kind"`
	Quota           int          `json:"quota" doc:"contracted calls at once"`
	Headroom        float64      `json:"headroom"`
	Limit           int          `json:"limit" doc:"permits: quota × headroom"`
	Elastic         float64      `json:"elastic"`
	QPS             int          `json:"qps" doc:"0: no limit"`
	TokensPerMinute int          `json:"tokens_per_minute" doc:"0: no limit"`
	Now             *VendorState `json:"now,omitempty" doc:"left out where nobody knows"`
	VendorLoad
}

type vendorsOutput struct {
	Body struct {
		Vendors []Vendor `json:"vendors" nullable:"false"`
	}
}

type vendorInput struct {
	Name string `path:"name" maxLength:"32"`
	Body reasoned
}

type vendorChange struct {
	Quota           *int     `json:"quota,omitempty"`
	Headroom        *float64 `json:"headroom,omitempty"`
	Elastic         *float64 `json:"elastic,omitempty"`
	QPS             *int     `json:"qps,omitempty"`
	TokensPerMinute *int     `json:"tokens_per_minute,omitempty"`
	Reason          string   `json:"reason" minLength:"1" maxLength:"500"`
}

type vendorChangeInput struct {
	Name string `path:"name" maxLength:"32"`
	Body vendorChange
}

type forceBody struct {
	_     struct{}  `nullable:"true"`
	Level int       `json:"level" minimum:"0" maximum:"3"`
	Until time.Time `json:"until"`
}

type valveBody struct {
	Force  *forceBody `json:"force" required:"true" doc:"the level, and when that ends; null: none any more"`
	Reason string     `json:"reason" minLength:"1" maxLength:"500"`
}

type valveInput struct{ Body valveBody }

func (a *API) registerVendors(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-list-vendors", Method: http.MethodGet, Path: "vendors", Summary: "How each vendor stands",
	}, nil, func(ctx context.Context, _ *struct{}) (*vendorsOutput, error) {
		out := &vendorsOutput{}
		out.Body.Vendors = a.vendors(ctx)
		return out, nil
	})
	manage(a, api, huma.Operation{
		OperationID: "admin-change-vendor", Method: http.MethodPut, Path: "vendors/{name}", Summary: "Change a vendor's numbers",
		Description: "Stores a new revision of the rules in which nothing else is changed.",
		Middlewares: huma.Middlewares{checkedAs[vendorChange]},
	}, []int{400, 404, 409, 413}, a.changeVendor)
	manage(a, api, huma.Operation{
		OperationID: "admin-set-valve", Method: http.MethodPut, Path: "valve", Summary: "Force a level, with an end",
		Description: "Stores a new revision of the rules with this `valve.force`.",
		Middlewares: huma.Middlewares{checkedAs[valveBody]},
	}, []int{400, 409, 413}, a.setValve)
	for verb, summary := range map[string]string{"open": "Let no call through to a vendor", "close": "Let calls through to a vendor again"} {
		manage(a, api, huma.Operation{
			OperationID: "admin-" + verb + "-breaker", Method: http.MethodPost, Path: "vendors/{name}/breaker/" + verb, Summary: summary,
			DefaultStatus: http.StatusNoContent, Middlewares: huma.Middlewares{checkedAs[reasoned]},
		}, []int{400, 404, 413}, func(ctx context.Context, in *vendorInput) (*struct{}, error) {
			return nil, a.turnBreaker(ctx, in, verb)
		})
	}
}

// vendors joins what the rules say and what the controller knows.
func (a *API) vendors(ctx context.Context) []Vendor {
	states, recent := a.states(ctx), a.recent()
	all := []Vendor{}
	for _, v := range a.deps.Rules().Vendors {
		one := Vendor{
			Name: v.Name, Kind: v.Kind, Quota: v.Quota, Headroom: v.Headroom, Limit: v.Limit(), Elastic: v.Elastic,
			QPS: v.QPS, TokensPerMinute: v.TokensPerMinute,
		}
		if s, known := states[v.Name]; known {
			one.Now = &s
		}
		one.VendorLoad = a.vendorLoad(&v, states[v.Name], recent)
		all = append(all, one)
	}
	return all
}

// states returns what the controller knows of each account, or nil.
func (a *API) states(ctx context.Context) map[string]VendorState {
	if a.deps.Vendors == nil {
		return nil
	}
	states, err := a.deps.Vendors.States(ctx)
	if err != nil {
		a.deps.Log.Debug().Err(err).Str("stage", "api").Msg("nobody tells of the vendors")
	}
	return states
}

func (a *API) changeVendor(ctx context.Context, in *vendorChangeInput) (*ruleOutput, error) {
	b := in.Body
	c := rules.VendorChange{Quota: b.Quota, Headroom: b.Headroom, Elastic: b.Elastic, QPS: b.QPS, TokensPerMinute: b.TokensPerMinute}
	if c == (rules.VendorChange{}) {
		return nil, chat.Bad("body", "must change something: quota, headroom, elastic, qps or tokens_per_minute")
	}
	e := queue.Audit{Action: "vendor.change", Target: in.Name, Reason: b.Reason}
	return a.editRules(ctx, e, func(doc []byte) ([]byte, error) { return rules.WithVendor(doc, in.Name, c) })
}

func (a *API) setValve(ctx context.Context, in *valveInput) (*ruleOutput, error) {
	e := queue.Audit{Action: "valve.force", Target: "none", Reason: in.Body.Reason}
	var force *rules.Force
	if f := in.Body.Force; f != nil {
		if !f.Until.After(time.Now()) {
			return nil, chat.Bad("force.until", "must be in the future")
		}
		force = &rules.Force{Level: f.Level, Until: f.Until}
		e.Target = "level " + string(rune('0'+f.Level)) + " until " + f.Until.UTC().Format(time.RFC3339)
	}
	return a.editRules(ctx, e, func(doc []byte) ([]byte, error) { return rules.WithForce(doc, force) })
}

var errNoVendors = errors.New("this process knows no controller")

func (a *API) turnBreaker(ctx context.Context, in *vendorInput, verb string) error {
	if !slices.ContainsFunc(a.deps.Rules().Vendors, func(v rules.Vendor) bool { return v.Name == in.Name }) {
		return notFound("vendor")
	}
	return a.turn(ctx, in.Name, verb, in.Body.Reason)
}

// turn opens or closes the breaker of an account, and notes who did so.
func (a *API) turn(ctx context.Context, account, verb, reason string) error {
	if a.deps.Vendors == nil {
		return unavailable(errNoVendors)
	}
	turn, after := a.deps.Vendors.OpenBreaker, "open"
	if verb == "close" {
		turn, after = a.deps.Vendors.CloseBreaker, "closed"
	}
	e := queue.Audit{Action: "breaker." + verb, Target: account, Reason: reason, Before: a.breakerSide(ctx, account), After: after}
	return a.change(ctx, e, func() error {
		err := turn(ctx, account)
		if errors.Is(err, queue.ErrNotFound) {
			return notFound("vendor")
		}
		return orUnavailable(err)
	})
}
