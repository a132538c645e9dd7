package api

import (
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"sluice/internal/chat"
	"sluice/internal/trace"
)

// What a request leaves behind for its line in the log.
const (
	logProblem = "problem"
	logTenant  = "tenant"
	logStack   = "stack"
)

// guards are the middlewares around every route, outermost first.
func (a *API) guards() []echo.MiddlewareFunc {
	return []echo.MiddlewareFunc{
		a.logged,
		middleware.RecoverWithConfig(middleware.RecoverConfig{
			DisableStackAll: true,
			LogErrorFunc: func(c echo.Context, err error, stack []byte) error {
				c.Set(logStack, string(stack))
				return err
			},
		}),
		secured,
		hurried,
		canonical,
	}
}

// logged writes one line a request, and takes the caller's trace on. It knows the path's template only: an id in a path
// may be a customer's.
func (a *API) logged(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		began := time.Now()
		c.SetRequest(c.Request().WithContext(trace.Called(c.Request().Context(), c.Request().Header)))
		if err := next(c); err != nil {
			c.Error(err)
		}
		status := c.Response().Status
		line := a.deps.Log.Info()
		switch {
		case status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable:
			line = a.deps.Log.Error()
		case c.Path() == "/livez" || c.Path() == "/readyz":
			line = a.deps.Log.Debug()
		}
		line = line.Str("stage", "api").Str("method", c.Request().Method).Str("path", c.Path()).
			Int("status", status).Int64("took_ms", time.Since(began).Milliseconds())
		if tenant, ok := c.Get(logTenant).(string); ok {
			line = line.Str("tenant", tenant)
		}
		if p, ok := c.Get(logProblem).(*Problem); ok {
			line = line.Str("code", p.Code).AnErr("err", p.cause)
		}
		if stack, ok := c.Get(logStack).(string); ok {
			line = line.Str("stack", stack)
		}
		line.Msg("request")
		return nil
	}
}

// secured sets the headers of an answer that is data and never a page. Pages replace
// the policy by their own.
func secured(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "no-store")
		return next(c)
	}
}

// canonical puts a media type into the form that the library compares: lower case. Only
// UTF-8 as it is can be read, so another charset or an encoding is refused.
func canonical(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Request().Header
		if given := h.Get("Content-Type"); given != "" {
			media, params, err := mime.ParseMediaType(given)
			charset := strings.ToLower(params["charset"])
			if err != nil || (charset != "" && charset != "utf-8") {
				return errMediaType()
			}
			if media == mediaMultipart {
				media = mime.FormatMediaType(media, map[string]string{"boundary": params["boundary"]})
			}
			h.Set("Content-Type", media)
		}
		if encoding := h.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
			return errMediaType()
		}
		return next(c)
	}
}

func errMediaType() *chat.Error {
	return &chat.Error{Kind: chat.Invalid, Code: codeMediaType, Detail: "the body must be application/json in UTF-8, without an encoding"}
}

// hurried lets a body that nobody has read yet come for bodyTimeout and no longer: the
// server waits for the rest of it before it answers, also when the answer is a refusal.
// Whoever reads the body (readBody) lifts the limit when it is there.
func hurried(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Request().ContentLength != 0 {
			_ = http.NewResponseController(c.Response()).SetReadDeadline(time.Now().Add(bodyTimeout))
		}
		return next(c)
	}
}

// failed writes the problem of an error that no typed handler has written.
func failed(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := problemOfEcho(err)
	c.Set(logProblem, p)
	writeProblem(c.Response(), p)
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	maps.Copy(w.Header(), p.GetHeaders())
	w.Header().Set("Content-Type", p.ContentType(""))
	w.WriteHeader(p.Status)
	// A caller who has gone cannot be told.
	_ = json.NewEncoder(w).Encode(p)
}

// refuse ends an operation before its handler.
func refuse(ctx huma.Context, err error) {
	failed(err, humaecho.Unwrap(ctx))
}

// translated turns the library's own errors into problems. It is a transformer: it
// sees every body before it is written.
func translated(ctx huma.Context, _ string, body any) (any, error) {
	if m, ok := body.(*huma.ErrorModel); ok {
		body = problemOfModel(m)
	}
	if p, ok := body.(*Problem); ok {
		humaecho.Unwrap(ctx).Set(logProblem, p)
	}
	return body, nil
}

// invalidIs400 makes the library answer 400 where it would answer 422.
func invalidIs400(ctx huma.Context, next func(huma.Context)) { next(statusContext{ctx}) }

// inner is the library's context under a name that is none of its methods.
type inner huma.Context

type statusContext struct{ inner }

func (c statusContext) Unwrap() huma.Context { return c.inner }

func (c statusContext) SetStatus(status int) {
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest
	}
	c.inner.SetStatus(status)
}
