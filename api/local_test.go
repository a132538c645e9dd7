package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// locally calls the handler of the local socket.
func (f *fixture) locally(method, path, body string) answer {
	w := httptest.NewRecorder()
	f.Local().ServeHTTP(w, httptest.NewRequestWithContext(f.t.Context(), method, path, strings.NewReader(body)))
	a := answer{status: w.Code, header: w.Header(), raw: w.Body.Bytes()}
	_ = json.Unmarshal(a.raw, &a.json)
	return a
}

func TestTenantsAreAddedListedAndGivenNewKeys(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	a := f.locally("POST", "/tenants", `{"name":"bakery","lane":"low"}`)
	if a.status != http.StatusCreated || a.text("name") != "bakery" || a.text("lane") != "low" ||
		!strings.HasPrefix(a.text("secret_key"), "sk_") || !strings.HasPrefix(a.text("publishable_key"), "pk_") || a.text("identity_secret") == "" {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	hello := map[string]any{"message": "hello"}
	if got := f.call("POST", "/v1/tickets", a.text("secret_key"), hello); got.status != http.StatusAccepted || got.text("lane") != "low" {
		t.Errorf("first key: %d %s", got.status, got.raw)
	}
	renewed := f.locally("POST", "/tenants/bakery/keys", "")
	if renewed.status != http.StatusOK || renewed.text("secret_key") == a.text("secret_key") || renewed.text("identity_secret") != a.text("identity_secret") {
		t.Fatalf("%d %s", renewed.status, renewed.raw)
	}
	refused(t, f.call("POST", "/v1/tickets", a.text("secret_key"), hello), http.StatusUnauthorized, "unauthorized")
	if got := f.call("POST", "/v1/tickets", renewed.text("secret_key"), hello); got.status != http.StatusAccepted {
		t.Errorf("new key: %d %s", got.status, got.raw)
	}
	var list []TenantInfo
	all := f.locally("GET", "/tenants", "")
	must(t, json.Unmarshal(all.raw, &list))
	if len(list) != 3 || list[0].Name != "bakery" || strings.Contains(string(all.raw), "hash") || strings.Contains(string(all.raw), "secret") {
		t.Errorf("%s", all.raw)
	}
	if got := f.locally("POST", "/tenants", `{"name":"plain"}`); got.text("lane") != "normal" {
		t.Errorf("lane left out: %d %s", got.status, got.raw)
	}
}

func TestBadLocalCalls(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		code               string
	}{
		"taken":       {"POST", "/tenants", `{"name":"demo"}`, 409, "tenant_exists"},
		"bad name":    {"POST", "/tenants", `{"name":"De Mo"}`, 400, "invalid"},
		"no name":     {"POST", "/tenants", `{}`, 400, "invalid"},
		"bad lane":    {"POST", "/tenants", `{"name":"a","lane":"batch"}`, 400, "invalid"},
		"other field": {"POST", "/tenants", `{"name":"a","key":"b"}`, 400, "invalid"},
		"no JSON":     {"POST", "/tenants", `name=a`, 400, "invalid"},
		"nobody":      {"POST", "/tenants/nobody/keys", ``, 404, "not_found"},
		"NUL":         {"POST", "/tenants/%00/keys", ``, 404, "not_found"},
		"other path":  {"GET", "/v1/tickets", ``, 404, "not_found"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, f.locally(c.method, c.path, c.body), c.status, c.code) })
	}
}

func TestLocalRefusesAnOriginThatNoBrowserSends(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"shop.example", "https://shop.example/", "ftp://shop.example", "https://", "*", "https://a@shop.example"} {
		if err := checkOrigins([]string{"https://ok.example:8443", origin}); err == nil {
			t.Errorf("origin %q was accepted", origin)
		}
	}
	if err := checkOrigins([]string{"https://shop.example", "http://127.0.0.1:3000"}); err != nil {
		t.Errorf("good origins: %v", err)
	}
}
