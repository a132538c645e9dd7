package api

import (
	"net/http"
	"strings"
	"testing"
)

func TestOpsTokensOpenWhatALoginOpens(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	made := f.admin("POST", "tokens", with(map[string]any{"name": "deploy"}))
	token := made.text("token")
	if made.status != http.StatusCreated || !strings.HasPrefix(token, "ot_deploy.") || made.text("actor") != "admin" || made.text("role") != "admin" {
		t.Fatalf("%d %s", made.status, made.raw)
	}
	refused(t, f.admin("POST", "tokens", with(map[string]any{"name": "deploy"})), http.StatusConflict, "exists")
	if a := f.call("POST", "/admin/api/lanes/low/pause", token, why); a.status != http.StatusOK || a.text("actor") != "token:deploy" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	child := with(map[string]any{"name": "child"})
	refused(t, f.call("POST", "/admin/api/tokens", f.token("operator"), child), http.StatusForbidden, "role_required")
	refused(t, f.call("POST", "/admin/api/tokens", token, child), http.StatusForbidden, "login_only")
	list := f.admin("GET", "tokens", nil)
	if !strings.Contains(string(list.raw), `"deploy"`) || strings.Contains(string(list.raw), "hash") || strings.Contains(string(list.raw), token) {
		t.Errorf("%s", list.raw)
	}
	for _, wrong := range []string{"ot_deploy.x", "ot_deploy", "ot_nobody.x", "ot_.x", "ot_a.b.c*>", f.demo.Secret, token + "x"} {
		refused(t, f.call("GET", "/admin/api/overview", wrong, nil), http.StatusUnauthorized, "unauthorized")
	}
	refused(t, f.admin("DELETE", "tokens/nobody", why), http.StatusNotFound, "not_found")
	if a := f.admin("DELETE", "tokens/deploy", why); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.raw)
	}
	refused(t, f.call("GET", "/admin/api/overview", token, nil), http.StatusUnauthorized, "unauthorized")
}
