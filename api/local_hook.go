package api

import (
	"context"
	"net/http"
	"time"
)

func (a *API) renewHookSecret(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	t, err := a.tenant(r.Context(), r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	secret, err := a.rotateHookSecret(r.Context(), t.Name)
	return http.StatusOK, secret, err
}

// rotateHookSecret gives a tenant a new secret for its webhooks.
func (a *API) rotateHookSecret(ctx context.Context, tenant string) (HookSecret, error) {
	s, err := a.deps.Queue.RotateHookSecret(ctx, tenant, time.Now().UTC())
	if err != nil {
		return HookSecret{}, unavailable(err)
	}
	out := HookSecret{Secret: s.Current}
	if len(s.Former) > 0 {
		out.FormerUntil = &s.Former[0].Until
	}
	return out, nil
}
