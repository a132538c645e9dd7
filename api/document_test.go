package api

import (
	"encoding/json"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/queue"
)

// document is as much of an OpenAPI document as its rules are about.
type document struct {
	OpenAPI string
	Info    struct{ Title, Version string }
	Servers []struct{ URL string }
	Paths   map[string]map[string]struct {
		OperationID string
		Parameters  []struct{ Name, In string }
		Security    []map[string][]string
		RequestBody *struct{ Content map[string]any }
		Responses   map[string]struct{ Description string }
	}
	Components struct {
		Schemas         map[string]any
		SecuritySchemes map[string]struct{ Type, Scheme, In string }
	}
}

func TestDocumentIsValidAndNamesEveryRoute(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	a := f.call("GET", "/openapi.json", "", nil)
	var doc document
	must(t, json.Unmarshal(a.raw, &doc))
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") || doc.Info.Title == "" || doc.Info.Version == "" {
		t.Errorf("head: %s %+v", doc.OpenAPI, doc.Info)
	}
	ids := map[string]bool{}
	for path, item := range doc.Paths {
		for method, op := range item {
			where := method + " " + path
			if op.OperationID == "" || ids[op.OperationID] {
				t.Errorf("%s: operation id %q is empty or not its own", where, op.OperationID)
			}
			ids[op.OperationID] = true
			named := map[string]bool{}
			for _, p := range op.Parameters {
				named[p.In+" "+p.Name] = true
			}
			for _, name := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
				if !named["path "+name[1]] {
					t.Errorf("%s: parameter %s is not declared", where, name[1])
				}
			}
			for _, need := range op.Security {
				for scheme := range need {
					if s := doc.Components.SecuritySchemes[scheme]; s.Scheme != "bearer" && s.In != "cookie" {
						t.Errorf("%s: security scheme %s is not declared", where, scheme)
					}
				}
			}
			if len(op.Responses) == 0 || op.Responses["422"].Description != "" {
				t.Errorf("%s: responses %v", where, op.Responses)
			}
			for status, r := range op.Responses {
				if r.Description == "" {
					t.Errorf("%s: response %s has no description", where, status)
				}
			}
		}
	}
	for _, ref := range regexp.MustCompile(`"\$ref":"#/components/schemas/(\w+)"`).FindAllStringSubmatch(string(a.raw), -1) {
		if doc.Components.Schemas[ref[1]] == nil {
			t.Errorf("schema %s is missing", ref[1])
		}
	}
	for _, route := range []string{
		"post /v1/tickets", "get /v1/tickets/{id}", "delete /v1/tickets/{id}", "get /v1/sessions/{id}/events",
		"get /v1/chat", "get /livez", "get /readyz", "get /openapi.json", "get /docs",
	} {
		method, path, _ := strings.Cut(route, " ")
		if _, found := doc.Paths[path][method]; !found {
			t.Errorf("%s is not in the document", route)
		}
	}
	create := doc.Paths["/v1/tickets"]["post"]
	for _, status := range []string{"200", "202", "400", "401", "403", "409", "413", "429", "503"} {
		if _, found := create.Responses[status]; !found {
			t.Errorf("post /v1/tickets does not document %s", status)
		}
	}
}

func TestDocumentNamesThePublicURL(t *testing.T) {
	t.Parallel()
	f := setup(t, func(_ *Deps, c *Config, _ *queue.Config) { c.PublicURL = "https://chat.example" })
	var doc document
	must(t, json.Unmarshal(f.call("GET", "/openapi.json", "", nil).raw, &doc))
	if len(doc.Servers) != 1 || doc.Servers[0].URL != "https://chat.example" {
		t.Errorf("%+v", doc.Servers)
	}
}

func TestPagesNeedNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	f := setup(t, func(_ *Deps, c *Config, _ *queue.Config) { c.DemoTenant = "demo" })
	loaded := regexp.MustCompile(`(?:src|href)="([^"#?]+)"`)
	shown := regexp.MustCompile(`(?s)<pre>.*?</pre>`) // code to read, not to run
	for _, page := range []string{"/", "/docs"} {
		a := f.call("GET", page, "", nil)
		if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
			t.Fatalf("%s: %d %v", page, a.status, a.header)
		}
		if policy := a.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "http") {
			t.Errorf("%s: policy %q", page, policy)
		}
		for _, link := range loaded.FindAllStringSubmatch(shown.ReplaceAllString(string(a.raw), ""), -1) {
			if strings.Contains(link[1], "//") {
				t.Errorf("%s loads %s", page, link[1])
			}
			if got := f.call("GET", link[1], "", nil); got.status != http.StatusOK {
				t.Errorf("%s: %s is %d", page, link[1], got.status)
			}
		}
	}
	demo, err := f.queue.Tenant(t.Context(), "demo")
	must(t, err)
	for _, key := range []string{demo.Publishable, "pk_<NEW>"} {
		demo.Publishable = key
		must(t, f.queue.SetTenant(t.Context(), demo))
		if page := string(f.call("GET", "/", "", nil).raw); !strings.Contains(page, template.HTMLEscapeString(key)) {
			t.Errorf("the page lacks the key %q that the tenant has now, or does not escape it", key)
		}
	}
}

func TestWidgetMayBeLoadedByEveryPage(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	a := f.call("GET", "/widget.js", "", nil)
	if a.status != http.StatusOK || a.header.Get("Access-Control-Allow-Origin") != "*" ||
		a.header.Get("Cross-Origin-Resource-Policy") != "cross-origin" || !strings.Contains(a.header.Get("Content-Type"), "javascript") {
		t.Errorf("%d %v", a.status, a.header)
	}
	if again := f.call("GET", "/widget.js", "", nil, "If-None-Match", a.header.Get("ETag")); again.status != http.StatusNotModified {
		t.Errorf("again: %d", again.status)
	}
	for _, path := range []string{"/index.html", "/embed.go", "/..%2fgo.mod"} {
		if a := f.call("GET", path, "", nil); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}
