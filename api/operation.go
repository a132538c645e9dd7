package api

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"sluice/internal/chat"
)

// Names of the security schemes in the API document.
const (
	byTenantKey    = "tenantKey"
	bySessionToken = "sessionToken"
)

// operate registers a typed handler whose errors become problems. fails are the
// statuses beside 500 that the operation documents.
func operate[I, O any](api huma.API, op huma.Operation, fails []int, handle func(context.Context, *I) (*O, error)) {
	op.Responses = problems(api, append(fails, http.StatusInternalServerError))
	// The body's own guard has its limits; the library's leaves a deadline behind.
	op.BodyReadTimeout = -1
	if op.MaxBodyBytes == 0 {
		op.MaxBodyBytes = maxBody + 2
	}
	huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, problemOf(err)
		}
		return out, nil
	})
}

// problems documents error answers.
func problems(api huma.API, statuses []int) map[string]*huma.Response {
	schema := api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
	all := map[string]*huma.Response{}
	for _, status := range statuses {
		all[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: schema}},
		}
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			all[strconv.Itoa(status)].Headers = map[string]*huma.Param{
				"Retry-After": {Description: "seconds until it is worth another try", Schema: &huma.Schema{Type: huma.TypeInteger}},
			}
		}
	}
	return all
}

// keyed lets in who shows a tenant's secret key.
func (a *API) keyed(ctx huma.Context, next func(huma.Context)) {
	t, err := a.tenantOf(ctx.Context(), bearer(ctx.Header("Authorization")))
	a.enter(ctx, next, t, err)
}

// keyedOrHeld lets in also who shows the token of the session in the path.
func (a *API) keyedOrHeld(ctx huma.Context, next func(huma.Context)) {
	key := bearer(ctx.Header("Authorization"))
	if _, token := tokenTenant(key); !token {
		a.keyed(ctx, next)
		return
	}
	t, err := a.sessionOf(ctx.Context(), key, ctx.Param("id"))
	a.enter(ctx, next, t, err)
}

func (a *API) enter(ctx huma.Context, next func(huma.Context), t chat.Tenant, err error) {
	if err != nil {
		refuse(ctx, err)
		return
	}
	humaecho.Unwrap(ctx).Set(logTenant, t.Name)
	next(huma.WithValue(ctx, tenantKey{}, t))
}

// checkedBody reads the body of a new ticket before the library does.
func checkedBody(ctx huma.Context, next func(huma.Context)) { checkedAs[NewTicket](ctx, next) }

// checkedAs reads a body that is meant for a T before the library does.
func checkedAs[T any](ctx huma.Context, next func(huma.Context)) { checkedUpTo[T](maxBody)(ctx, next) }

// checkedUpTo is checkedAs for bodies of another length.
func checkedUpTo[T any](most int) func(ctx huma.Context, next func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		c := humaecho.Unwrap(ctx)
		body, err := readBodyUpTo(c.Response(), c.Request(), most)
		if err == nil {
			err = checkNames(body, reflect.TypeFor[T]())
		}
		if err != nil {
			refuse(ctx, err)
			return
		}
		c.Request().Body = io.NopCloser(bytes.NewReader(body))
		next(ctx)
	}
}
