package api

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"sluice/internal/chat"
)

// version of the HTTP interface, as the API document names it.
const version = "1.0.0"

// routes builds everything that is served over TCP.
func (a *API) routes() (*echo.Echo, error) {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = failed
	e.Use(a.guards()...)
	api := humaecho.New(e, a.document())
	api.UseMiddleware(invalidIs400)
	a.registerSubmit(api)
	a.registerTicket(api)
	a.registerBatches(api)
	a.registerEvents(api)
	a.registerHealth(api)
	a.registerAdmin(api)
	a.registerReceipts(e, api)
	documentRest(api)
	allowPolls(e)
	allowProbes(e)
	e.GET("/v1/chat", a.chat)
	if a.deps.Metrics != nil {
		e.GET("/metrics", echo.WrapHandler(a.deps.Metrics))
	}
	// The library's own error documents are never sent.
	for _, unused := range []string{"ErrorModel", "ErrorDetail"} {
		delete(api.OpenAPI().Components.Schemas.Map(), unused)
	}
	spec, err := json.Marshal(api.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("encode API document: %w", err)
	}
	if err := a.registerPages(e, spec); err != nil {
		return nil, err
	}
	return e, nil
}

// document is the head of the API document. The library serves nothing of its own.
func (a *API) document() huma.Config {
	cfg := huma.DefaultConfig("Sluice", version)
	cfg.OpenAPIPath, cfg.DocsPath, cfg.SchemasPath, cfg.CreateHooks = "", "", "", nil
	cfg.RejectUnknownQueryParameters = true
	cfg.Transformers = []huma.Transformer{translated}
	cfg.Info.Description = "An asynchronous job queue for customer service on language models. Every error is an " +
		"application/problem+json document with a stable `code`; every refusal for load says when to try again."
	if a.cfg.PublicURL != "" {
		cfg.Servers = []*huma.Server{{URL: a.cfg.PublicURL}}
	}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		byTenantKey:    {Type: "http", Scheme: "bearer", Description: "the tenant's secret key (sk_…)"},
		bySessionToken: {Type: "http", Scheme: "bearer", Description: "the session's token, from the socket's welcome"},
		byOpsToken:     {Type: "http", Scheme: "bearer", Description: "an operator's token (ot_…)"},
		byLogin: {Type: "apiKey", In: "cookie", Name: loginCookie,
			Description: "an operator's login; every change also needs its `csrf` in the header `X-CSRF-Token`"},
	}
	return cfg
}

// chat opens a socket; what does not ask for one is told so.
func (a *API) chat(c echo.Context) error {
	if !c.IsWebSocket() {
		c.Response().Header().Set("Upgrade", "websocket")
		return &chat.Error{Kind: chat.Invalid, Code: codeUpgrade, Detail: "this is a WebSocket: connect with the subprotocol " + subprotocol}
	}
	return a.sockets.handle(c)
}

// documentRest adds to the document what is served without the library.
func documentRest(api huma.API) {
	doc := api.OpenAPI()
	doc.AddOperation(documentSocket(api))
	for _, page := range []struct{ id, path, summary, media string }{
		{"openapi", "/openapi.json", "This document", "application/json"},
		{"docs", "/docs", "This document as a page", "text/html"},
		{"metrics", "/metrics", "What is counted, for Prometheus", "text/plain"},
	} {
		doc.AddOperation(&huma.Operation{
			OperationID: page.id, Method: http.MethodGet, Path: page.path, Tags: []string{"documentation"}, Summary: page.summary,
			Responses: map[string]*huma.Response{
				"200": {Description: "OK", Content: map[string]*huma.MediaType{page.media: {}}},
			},
		})
	}
}

// allowProbes lets probes ask with HEAD, and with parameters of their own.
func allowProbes(e *echo.Echo) {
	for _, path := range []string{"/livez", "/readyz"} {
		e.HEAD(path, func(c echo.Context) error {
			c.Request().Method = http.MethodGet
			e.ServeHTTP(bodyless{c.Response()}, c.Request())
			return nil
		})
	}
	e.Pre(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if path := c.Request().URL.Path; path == "/livez" || path == "/readyz" {
				c.Request().URL.RawQuery = ""
			}
			return next(c)
		}
	})
}

// bodyless drops the body of an answer to HEAD.
type bodyless struct{ http.ResponseWriter }

func (bodyless) Write(b []byte) (int, error) { return len(b), nil }

// allowPolls lets a widget on any page use the poll fallback. The session's token is
// what opens it; nothing comes along by itself, as a cookie would.
func allowPolls(e *echo.Echo) {
	const path = "/v1/sessions/:id/events"
	e.OPTIONS(path, func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Access-Control-Allow-Methods", http.MethodGet)
		h.Set("Access-Control-Allow-Headers", "Authorization")
		h.Set("Access-Control-Max-Age", "600")
		return c.NoContent(http.StatusNoContent)
	})
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if c.Path() == path {
				c.Response().Header().Set("Access-Control-Allow-Origin", "*")
				c.Response().Header().Set("Access-Control-Expose-Headers", "Retry-After")
			}
			return next(c)
		}
	})
}
