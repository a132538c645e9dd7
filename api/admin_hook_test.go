package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
)

// hook puts a webhook about a new ticket into the outbox, in a state.
func (f *fixture) hook(state chat.HookState) string {
	f.t.Helper()
	now := time.Now().UTC()
	h, body, err := chat.NewHook("shop", chat.HookHandoff, chat.NewTicketID(), "", now, map[string]any{"cause": "tool"})
	must(f.t, err)
	must(f.t, f.queue.Announce(f.t.Context(), h, body))
	if state != chat.HookWaiting {
		h, err = f.queue.Hook(f.t.Context(), h.ID)
		must(f.t, err)
		h.State, h.Tries, h.Status, h.Fault, h.DoneAt = state, 9, 500, "answered 500", now
		_, err = f.queue.SetHook(f.t.Context(), h)
		must(f.t, err)
	}
	return h.ID
}

func TestDeadWebhooksAreSeenAndSentAgain(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	dead, waiting, delivered := f.hook(chat.HookDead), f.hook(chat.HookWaiting), f.hook(chat.HookDelivered)
	list := func(path string, want ...string) answer {
		t.Helper()
		a := f.admin("GET", path, nil)
		all, _ := a.json["webhooks"].([]any)
		if a.status != http.StatusOK || len(all) != len(want) {
			t.Fatalf("%s: %d %s, want %v", path, a.status, a.raw, want)
		}
		for _, id := range want {
			if !strings.Contains(string(a.raw), id) {
				t.Errorf("%s: %s lacks %s", path, a.raw, id)
			}
		}
		return a
	}
	counts := list("webhooks", dead).json["counts"].(map[string]any)
	if counts["dead"] != 1.0 || counts["waiting"] != 1.0 || counts["delivered"] != 1.0 {
		t.Errorf("counts %v", counts)
	}
	list("webhooks?state=waiting", waiting)
	refused(t, f.admin("GET", "webhooks?state=lost", nil), http.StatusBadRequest, "invalid")

	a := f.admin("POST", "webhooks/"+dead+"/replay", why)
	if a.status != http.StatusOK || a.text("state") != "waiting" || a.text("id") != dead || a.json["status"] != nil || a.text("next_at") == "" {
		t.Fatalf("replay: %d %s", a.status, a.raw)
	}
	list("webhooks")
	list("webhooks?state=waiting", waiting, dead)
	for _, id := range []string{dead, waiting, delivered} {
		refused(t, f.admin("POST", "webhooks/"+id+"/replay", why), http.StatusConflict, codeHookState)
	}
	for _, id := range []string{chat.HookID(chat.HookHandoff, "nobody"), "nobody", dead + "x"} {
		refused(t, f.admin("POST", "webhooks/"+id+"/replay", why), http.StatusNotFound, "not_found")
	}
	refused(t, f.admin("POST", "webhooks/"+dead+"/replay", map[string]any{}), http.StatusBadRequest, "invalid")
	for method, path := range map[string]string{"GET": "webhooks", "POST": "webhooks/" + dead + "/replay"} {
		refused(t, f.call(method, "/admin/api/"+path, f.demo.Secret, nil), http.StatusUnauthorized, "unauthorized")
	}
}

func TestAnEndpointIsEnabledAgain(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	const url, path = "https://shop.example/hooks", "webhooks/endpoints/enable"
	must(t, f.queue.TurnHookOff(t.Context(), chat.HookOff{Tenant: "shop", URL: url, At: time.Now().UTC()}))
	if a := f.admin("GET", "webhooks", nil); !strings.Contains(string(a.raw), url) {
		t.Errorf("%s", a.raw)
	}
	body := with(map[string]any{"tenant": "shop", "url": url})
	for _, wrong := range []map[string]any{why, with(map[string]any{"tenant": "sh op", "url": url}), with(map[string]any{"tenant": "shop"}), {"tenant": "shop", "url": url}} {
		refused(t, f.admin("POST", path, wrong), http.StatusBadRequest, "invalid")
	}
	refused(t, f.call("POST", "/admin/api/"+path, "", body), http.StatusUnauthorized, "unauthorized")
	refused(t, f.admin("POST", path, with(map[string]any{"tenant": "demo", "url": url})), http.StatusNotFound, "not_found")
	if a := f.admin("POST", path, body); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if off, err := f.queue.HookOff(t.Context(), "shop", url); err != nil || off {
		t.Errorf("it is off still (%v)", err)
	}
	refused(t, f.admin("POST", path, body), http.StatusNotFound, "not_found")
}

// By operators, and by the command.
func TestATenantGetsANewSecretForItsWebhooks(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	first := f.admin("POST", "tenants/shop/webhook-secret", why)
	if first.status != http.StatusOK || !strings.HasPrefix(first.text("secret"), "whsec_") || first.json["former_until"] != nil {
		t.Fatalf("%d %s", first.status, first.raw)
	}
	second := f.admin("POST", "tenants/shop/webhook-secret", why)
	if second.status != http.StatusOK || second.text("secret") == first.text("secret") || second.text("former_until") == "" {
		t.Errorf("%d %s", second.status, second.raw)
	}
	third := f.locally("POST", "/tenants/shop/webhook-secret", "")
	if third.status != http.StatusOK || !strings.HasPrefix(third.text("secret"), "whsec_") || third.text("former_until") == "" {
		t.Errorf("%d %s", third.status, third.raw)
	}
	s, err := f.queue.HookSecrets(t.Context(), "shop")
	must(t, err)
	want := []string{third.text("secret"), second.text("secret"), first.text("secret")}
	if got := s.Signing(time.Now()); !slices.Equal(got, want) {
		t.Errorf("%d secrets sign, want the newest and both former ones of this day", len(got))
	}
	refused(t, f.admin("POST", "tenants/nobody/webhook-secret", why), http.StatusNotFound, "not_found")
	refused(t, f.locally("POST", "/tenants/nobody/webhook-secret", ""), http.StatusNotFound, "not_found")
	refused(t, f.admin("POST", "tenants/shop/webhook-secret", nil), http.StatusBadRequest, "invalid")
	refused(t, f.call("POST", "/admin/api/tenants/shop/webhook-secret", f.shop.Secret, why), http.StatusUnauthorized, "unauthorized")
	if audit := string(f.admin("GET", "audit", nil).raw); strings.Contains(audit, "whsec_") || strings.Count(audit, "tenant.webhook-secret") != 2 {
		t.Errorf("audit: %s", audit)
	}
}
