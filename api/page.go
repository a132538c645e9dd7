package api

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"
	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"

	"sluice/internal/queue"
	"sluice/web"
)

// The policies of pages. Nothing of theirs may come from elsewhere.
const (
	demoPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	// The embedded Swagger UI starts itself by an inline script.
	docsPolicy = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
		"img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

const demoPage = "index.html"

// registerPages serves the demo page at /, each of its files beside it, and the API
// page at /docs, and the operators' page.
func (a *API) registerPages(e *echo.Echo, spec []byte) error {
	page, err := template.ParseFS(web.Files, demoPage)
	if err != nil {
		return fmt.Errorf("parse demo page: %w", err)
	}
	e.GET("/", func(c echo.Context) error { return a.demo(c, page) })
	for _, name := range web.Names() {
		e.GET("/"+name, file(name))
	}
	e.GET("/openapi.json", func(c echo.Context) error { return c.Blob(http.StatusOK, "application/json", spec) })
	docs := echo.WrapHandler(v5emb.NewWithConfig(swgui.Config{ShowTopBar: false})("Sluice API", "/openapi.json", "/docs"))
	serve := func(c echo.Context) error {
		c.Response().Header().Set("Content-Security-Policy", docsPolicy)
		c.Response().Header().Set("Cache-Control", "no-cache")
		return docs(c)
	}
	e.GET("/docs", serve)
	e.GET("/docs/*", serve)
	return a.registerAdminPage(e)
}

// demo makes the demo page with the publishable key that the demo tenant has now.
func (a *API) demo(c echo.Context, page *template.Template) error {
	var key struct{ PublishableKey string }
	if a.cfg.DemoTenant != "" {
		t, err := a.deps.Queue.Tenant(c.Request().Context(), a.cfg.DemoTenant)
		if err != nil && !errors.Is(err, queue.ErrNotFound) {
			return unavailable(err)
		}
		key.PublishableKey = t.Publishable
	}
	var out bytes.Buffer
	if err := page.Execute(&out, key); err != nil {
		return fmt.Errorf("make demo page: %w", err)
	}
	c.Response().Header().Set("Content-Security-Policy", demoPolicy)
	return c.Blob(http.StatusOK, "text/html; charset=utf-8", out.Bytes())
}

// file serves one file of the widget; pages of every origin may load it. It is made when it
// is first asked for.
func file(name string) echo.HandlerFunc {
	made := sync.OnceValues(func() (web.File, error) { return web.Served(name) })
	return func(c echo.Context) error {
		f, err := made()
		if err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
		h := c.Response().Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		sendFile(c, name, f)
		return nil
	}
}
