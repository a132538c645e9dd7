package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestEveryChangeIsInTheAudit(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.admin("POST", "lanes/low/pause", why)
	f.admin("POST", "lanes/low/pause", why) // changes nothing
	f.admin("POST", "lanes/low/resume", why)
	f.admin("POST", "tenants", with(map[string]any{"name": "bakery"}))
	f.admin("POST", "tenants", with(map[string]any{"name": "bakery"})) // is there already
	f.admin("POST", "tenants/bakery/keys", why)
	f.admin("PUT", "vendors/a", with(map[string]any{"quota": 10}))
	var got []string
	next := uint64(0)
	for range 4 {
		a := f.admin("GET", fmt.Sprintf("audit?limit=2&before=%d", next), nil)
		var page AuditPage
		must(t, json.Unmarshal(a.raw, &page))
		for _, e := range page.Entries {
			got = append(got, strings.TrimSpace(e.Action+" "+e.Target+" "+e.Result))
			if e.Actor != "admin" || e.Reason != "because of a test" || time.Since(e.At) > time.Hour {
				t.Errorf("%+v", e)
			}
		}
		next = page.Next
	}
	want := []string{
		"vendor.change a", "tenant.keys bakery", "tenant.add bakery not done: tenant_exists", "tenant.add bakery", "tenant.add bakery",
		"lane.resume low", "lane.pause low",
	}
	if strings.Join(got, ",") != strings.Join(want, ",") || next != 0 {
		t.Errorf("audit\n%s\nwant\n%s\nnext %d", strings.Join(got, "\n"), strings.Join(want, "\n"), next)
	}
	refused(t, f.admin("GET", "audit?limit=1000", nil), http.StatusBadRequest, "invalid")
}

func TestTenantsAreAddedByOperators(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	a := f.admin("POST", "tenants", with(map[string]any{"name": "bakery", "lane": "low", "origins": []string{"https://bakery.example"}}))
	key := a.text("secret_key")
	if a.status != http.StatusCreated || !strings.HasPrefix(key, "sk_") || a.text("lane") != "low" {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	if got := f.send(key, map[string]any{"message": "hello"}); got.status != http.StatusAccepted || got.text("lane") != "low" {
		t.Errorf("%d %s", got.status, got.raw)
	}
	renewed := f.admin("POST", "tenants/bakery/keys", why)
	if renewed.status != http.StatusOK || renewed.text("secret_key") == key {
		t.Errorf("%d %s", renewed.status, renewed.raw)
	}
	refused(t, f.send(key, map[string]any{"message": "hello"}), http.StatusUnauthorized, "unauthorized")
	list := f.admin("GET", "tenants", nil)
	if !strings.Contains(string(list.raw), "https://bakery.example") || strings.Contains(string(list.raw), "secret") {
		t.Errorf("%s", list.raw)
	}
	refused(t, f.admin("POST", "tenants/nobody/keys", why), http.StatusNotFound, "not_found")
	refused(t, f.admin("POST", "tenants", with(map[string]any{"name": "a", "origins": []string{"*"}})), http.StatusBadRequest, "invalid")
}

func TestDeadLettersAreListedRequeuedAndDeleted(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	var ids []string
	for _, text := range []string{"first", "second"} {
		f.send(f.shop.Secret, map[string]any{"message": text})
		job, s := f.take(chat.Normal)
		s.Dead = true
		f.end(job, s)
		ids = append(ids, s.ID)
	}
	list := f.admin("GET", "dead-letters?limit=1", nil)
	var page struct {
		Letters []DeadLetter
		Total   int
		Next    uint64
	}
	must(t, json.Unmarshal(list.raw, &page))
	if page.Total != 2 || len(page.Letters) != 1 || page.Letters[0].ID != ids[1] || page.Letters[0].Message != "second" || len(page.Letters[0].Story) == 0 || page.Next == 0 {
		t.Fatalf("%s", list.raw)
	}
	f.admin("POST", "lanes/normal/drain", why)
	f.await("the drain", func() bool { return f.deps.Lanes.State(chat.Normal) == chat.LaneDraining })
	refused(t, f.admin("POST", "dead-letters/"+ids[0]+"/requeue", why), http.StatusServiceUnavailable, "draining")
	f.admin("POST", "lanes/normal/undrain", why)
	f.await("the opening", func() bool { return f.deps.Lanes.State(chat.Normal) == chat.LaneOpen })
	again := f.admin("POST", "dead-letters/"+ids[0]+"/requeue", why)
	if again.status != http.StatusAccepted || again.text("retry_of") != ids[0] || again.text("status") != "queued" {
		t.Errorf("%d %s", again.status, again.raw)
	}
	if same := f.admin("POST", "dead-letters/"+ids[0]+"/requeue", why); same.status != http.StatusOK || same.text("ticket_id") != again.text("ticket_id") {
		t.Errorf("the same call again: %d %s", same.status, same.raw)
	}
	if a := f.admin("DELETE", "dead-letters/"+ids[1], why); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.raw)
	}
	refused(t, f.admin("DELETE", "dead-letters/"+ids[1], why), http.StatusNotFound, "not_found")
	refused(t, f.admin("POST", "dead-letters/nobody/requeue", why), http.StatusNotFound, "not_found")
	if a := f.admin("GET", "dead-letters", nil); a.json["total"] != 0.0 {
		t.Errorf("%s", a.raw)
	}
}
