package api

import (
	"context"
	"errors"
	"strings"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// bearer returns the key of an Authorization header, or empty.
func bearer(header string) string {
	scheme, key, found := strings.Cut(strings.TrimSpace(header), " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(key)
}

// tenantOf returns the tenant whose secret key the caller shows. Keys are looked up by
// their hash, so the time that it takes tells nothing about them.
func (a *API) tenantOf(ctx context.Context, key string) (chat.Tenant, error) {
	if key == "" {
		return chat.Tenant{}, unauthorized("send Authorization: Bearer and the tenant's secret key (sk_…)")
	}
	t, err := a.deps.Queue.TenantBySecret(ctx, key)
	switch {
	case err == nil:
		return t, nil
	case !errors.Is(err, queue.ErrNotFound):
		return chat.Tenant{}, unavailable(err)
	case a.publishable(ctx, key):
		return chat.Tenant{}, unauthorized("this is a publishable key, which only opens sockets; HTTP needs the tenant's secret key (sk_…)")
	}
	return chat.Tenant{}, unauthorized("the key is not known; HTTP needs the tenant's secret key (sk_…)")
}

func (a *API) publishable(ctx context.Context, key string) bool {
	if strings.HasPrefix(key, "pk_") {
		return true
	}
	_, err := a.deps.Queue.TenantByPublishable(ctx, key)
	return err == nil
}

// sessionOf returns the tenant of a session that the caller opens with its token.
func (a *API) sessionOf(ctx context.Context, token, session string) (chat.Tenant, error) {
	refused := unauthorized("the token does not open this session")
	name, ok := tokenTenant(token)
	if !ok || !chat.IsSessionID(session) {
		return chat.Tenant{}, refused
	}
	s, err := a.deps.Queue.Session(ctx, name, session)
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return chat.Tenant{}, unavailable(err)
	}
	t, err := a.deps.Queue.Tenant(ctx, name)
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		return chat.Tenant{}, unavailable(err)
	}
	if err != nil || !opens(t, session, s, token) {
		return chat.Tenant{}, refused
	}
	return t, nil
}

func unauthorized(detail string) *chat.Error {
	return &chat.Error{Kind: chat.Denied, Code: codeUnauthorized, Detail: detail}
}

type tenantKey struct{}

// callerOf returns the tenant that the request's key belongs to.
func callerOf(ctx context.Context) chat.Tenant {
	t, _ := ctx.Value(tenantKey{}).(chat.Tenant)
	return t
}
