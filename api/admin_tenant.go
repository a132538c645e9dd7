package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

type newTenantBody struct {
	Name    string    `json:"name" pattern:"^[a-z0-9-]{1,32}$" example:"shop"`
	Lane    chat.Lane `json:"lane,omitempty" enum:"high,normal,low" default:"normal" doc:"the best that its tickets may use"`
	Origins []string  `json:"origins,omitempty" doc:"of pages that may open sockets, such as https://shop.example"`
	Reason  string    `json:"reason" minLength:"1" maxLength:"500"`
}

type newTenantInput struct{ Body newTenantBody }

type tenantKeysInput struct {
	Name string `path:"name" maxLength:"32"`
	Body reasoned
}

type tenantKeysOutput struct{ Body TenantKeys }

type tenantsOutput struct {
	Body struct {
		Tenants []TenantInfo `json:"tenants" nullable:"false"`
	}
}

func (a *API) registerTenants(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-list-tenants", Method: http.MethodGet, Path: "tenants", Summary: "List the tenants",
	}, nil, func(ctx context.Context, _ *struct{}) (*tenantsOutput, error) {
		all, err := a.tenants(ctx)
		out := &tenantsOutput{}
		out.Body.Tenants = all
		return out, err
	})
	manage(a, api, huma.Operation{
		OperationID: "admin-add-tenant", Method: http.MethodPost, Path: "tenants", Summary: "Add a tenant",
		Description: "Its secrets are shown this once.", DefaultStatus: http.StatusCreated,
		Middlewares: huma.Middlewares{checkedAs[newTenantBody]},
	}, []int{400, 409, 413}, func(ctx context.Context, in *newTenantInput) (*tenantKeysOutput, error) {
		keys := TenantKeys{}
		e := queue.Audit{Action: "tenant.add", Target: in.Body.Name, Reason: in.Body.Reason}
		e.After = map[string]any{"lane": cmp.Or(in.Body.Lane, chat.Normal), "origins": in.Body.Origins}
		err := a.change(ctx, e, func() (err error) {
			keys, err = a.createTenant(ctx, in.Body.Name, in.Body.Lane, in.Body.Origins)
			return err
		})
		return &tenantKeysOutput{keys}, err
	})
	manage(a, api, huma.Operation{
		OperationID: "admin-renew-tenant-keys", Method: http.MethodPost, Path: "tenants/{name}/keys", Summary: "Give a tenant new keys",
		Description: "The former ones open nothing any more.", Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 404, 413}, func(ctx context.Context, in *tenantKeysInput) (*tenantKeysOutput, error) {
		if _, err := a.tenant(ctx, in.Name); err != nil {
			return nil, err
		}
		keys := TenantKeys{}
		err := a.change(ctx, queue.Audit{Action: "tenant.keys", Target: in.Name, Reason: in.Body.Reason, After: anotherSecret}, func() (err error) {
			keys, err = a.newKeys(ctx, in.Name)
			return err
		})
		return &tenantKeysOutput{keys}, err
	})
}
