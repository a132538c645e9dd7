package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"sluice/web"
)

// adminPolicy is the policy of the operators' page and its files: nothing inline, nothing
// from elsewhere, in nobody's frame.
const adminPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// registerAdminPage serves the operators' page at /admin, and each of its files below it.
// They hold no secrets: whoever has no login sees an empty form.
func (a *API) registerAdminPage(e *echo.Echo) error {
	names, err := web.AdminNames()
	if err != nil {
		return fmt.Errorf("list the admin page's files: %w", err)
	}
	for _, name := range names {
		e.GET("/"+name, ownFile(name))
	}
	e.GET("/admin", ownFile(web.AdminPage))
	e.GET("/admin/", ownFile(web.AdminPage))
	return nil
}

// ownFile serves one file to the pages of this server alone. It is made when it is first
// asked for.
func ownFile(name string) echo.HandlerFunc {
	made := sync.OnceValues(func() (web.File, error) { return web.Served(name) })
	return func(c echo.Context) error {
		f, err := made()
		if err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
		c.Response().Header().Set("Content-Security-Policy", adminPolicy)
		c.Response().Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		c.Response().Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		sendFile(c, name, f)
		return nil
	}
}

// sendFile writes a file, compressed where the browser takes that. It may be kept, but is
// asked for each time.
func sendFile(c echo.Context, name string, f web.File) {
	h := c.Response().Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	content, mark := f.Content, ""
	if f.Gzip != nil && strings.Contains(c.Request().Header.Get("Accept-Encoding"), "gzip") {
		content, mark = f.Gzip, "-gzip"
		h.Set("Content-Encoding", "gzip")
	}
	sum := sha256.Sum256(f.Content)
	h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+mark+`"`)
	http.ServeContent(c.Response(), c.Request(), name, time.Time{}, bytes.NewReader(content))
}
