package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// TenantInfo is a tenant without its secrets.
type TenantInfo struct {
	Name      string    `json:"name"`
	Lane      chat.Lane `json:"lane"`
	Origins   []string  `json:"origins,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

// TenantKeys is a tenant with its new secrets, which are shown this once.
type TenantKeys struct {
	Name string    `json:"name"`
	Lane chat.Lane `json:"lane"`
	chat.Keys
	IdentitySecret string `json:"identity_secret"` // signs the identities of its customers
}

// Local returns what commands on the same machine may ask a running instance. It has
// no keys of its own: the socket file's permissions guard it.
//
//	POST /tenants                        {name, lane?, origins?} → 201 TenantKeys
//	GET  /tenants                        → []TenantInfo
//	POST /tenants/{name}/keys            → TenantKeys; the former keys open nothing any more
//	POST /tenants/{name}/webhook-secret  → HookSecret; the former one signs beside it for a day
//	POST /operators                  {name, role} → 201 OperatorPassword
//	GET  /operators                  → []OperatorInfo
//	POST /operators/{name}/password  → OperatorPassword; all logins of the operator end
func (a *API) Local() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tenants", a.local(a.addTenant))
	mux.HandleFunc("GET /tenants", a.local(a.listTenants))
	mux.HandleFunc("POST /tenants/{name}/keys", a.local(a.renewKeys))
	mux.HandleFunc("POST /tenants/{name}/webhook-secret", a.local(a.renewHookSecret))
	mux.HandleFunc("POST /operators", a.local(a.addOperatorLocally))
	mux.HandleFunc("GET /operators", a.local(a.listOperatorsLocally))
	mux.HandleFunc("POST /operators/{name}/password", a.local(a.renewPasswordLocally))
	mux.HandleFunc("/", a.local(func(http.ResponseWriter, *http.Request) (int, any, error) {
		return 0, nil, notFound("call")
	}))
	return mux
}

// local answers with JSON or with a problem.
func (a *API) local(handle func(http.ResponseWriter, *http.Request) (int, any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, body, err := handle(w, r)
		if err != nil {
			p := problemOf(err)
			if p.cause != nil {
				a.deps.Log.Error().Err(p.cause).Str("stage", "api").Str("path", r.Pattern).Msg("local call")
			}
			writeProblem(w, p)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		// A command that has gone cannot be told.
		_ = json.NewEncoder(w).Encode(body)
	}
}

func (a *API) addTenant(w http.ResponseWriter, r *http.Request) (int, any, error) {
	body, err := readBody(w, r)
	if err != nil {
		return 0, nil, err
	}
	var in struct {
		Name    string    `json:"name"`
		Lane    chat.Lane `json:"lane"`
		Origins []string  `json:"origins"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return 0, nil, chat.Bad("body", "must be JSON with name, lane and origins: %v", err)
	}
	keys, err := a.createTenant(r.Context(), in.Name, in.Lane, in.Origins)
	return http.StatusCreated, keys, err
}

// createTenant adds a tenant; without a lane it is normal.
func (a *API) createTenant(ctx context.Context, name string, lane chat.Lane, origins []string) (TenantKeys, error) {
	if lane == "" {
		lane = chat.Normal
	}
	if !chat.IsTenantName(name) {
		return TenantKeys{}, chat.Bad("name", "must be 1 to 32 of a-z 0-9 -")
	}
	if !lane.Interactive() {
		return TenantKeys{}, chat.Bad("lane", "must be one of high, normal, low")
	}
	if err := checkOrigins(origins); err != nil {
		return TenantKeys{}, err
	}
	t, keys := newTenant(name, lane, time.Now().UTC())
	t.Origins = origins
	err := a.deps.Queue.AddTenant(ctx, t)
	if errors.Is(err, queue.ErrExists) {
		return TenantKeys{}, &chat.Error{Kind: chat.Conflict, Code: codeTenantExists, Detail: "there is a tenant of that name"}
	}
	if err != nil {
		return TenantKeys{}, unavailable(err)
	}
	return TenantKeys{t.Name, t.Lane, keys, t.IdentitySecret}, nil
}

// maxOrigins is the most pages' origins that one tenant may name.
const maxOrigins = 100

// checkOrigins refuses what no browser would send as an Origin.
func checkOrigins(origins []string) error {
	if len(origins) > maxOrigins {
		return chat.Bad("origins", "must be at most %d, are %d", maxOrigins, len(origins))
	}
	for i, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || origin != u.Scheme+"://"+u.Host {
			return chat.Bad(fmt.Sprintf("origins[%d]", i), "must be http:// or https:// and a host, without a path")
		}
	}
	return nil
}

// newTenant makes a tenant with random keys.
func newTenant(name string, lane chat.Lane, now time.Time) (chat.Tenant, chat.Keys) {
	keys := chat.NewKeys()
	t := chat.Tenant{Name: name, Lane: lane, CreatedAt: now, IdentitySecret: "is_" + rand.Text()}
	t.SetKeys(keys)
	return t, keys
}

func (a *API) listTenants(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	list, err := a.tenants(r.Context())
	return http.StatusOK, list, err
}

func (a *API) tenants(ctx context.Context) ([]TenantInfo, error) {
	all, err := a.deps.Queue.Tenants(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	list := make([]TenantInfo, 0, len(all))
	for _, t := range all {
		list = append(list, TenantInfo{t.Name, t.Lane, t.Origins, t.CreatedAt})
	}
	return list, nil
}

func (a *API) renewKeys(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	keys, err := a.newKeys(r.Context(), r.PathValue("name"))
	return http.StatusOK, keys, err
}

// newKeys replaces both keys of a tenant. The identity secret stays: changing it would
// shut out every customer who is signed in at the tenant's.
func (a *API) newKeys(ctx context.Context, name string) (TenantKeys, error) {
	t, err := a.tenant(ctx, name)
	if err != nil {
		return TenantKeys{}, err
	}
	keys := chat.NewKeys()
	t.SetKeys(keys)
	if err := a.deps.Queue.SetTenant(ctx, t); err != nil {
		return TenantKeys{}, unavailable(err)
	}
	return TenantKeys{t.Name, t.Lane, keys, t.IdentitySecret}, nil
}

func (a *API) tenant(ctx context.Context, name string) (chat.Tenant, error) {
	if !chat.IsTenantName(name) {
		return chat.Tenant{}, notFound("tenant")
	}
	t, err := a.deps.Queue.Tenant(ctx, name)
	if errors.Is(err, queue.ErrNotFound) {
		return chat.Tenant{}, notFound("tenant")
	}
	if err != nil {
		return chat.Tenant{}, unavailable(err)
	}
	return t, nil
}
