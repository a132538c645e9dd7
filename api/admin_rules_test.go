package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/internal/rules"
)

// revision reads the newest revision of the rules.
func (f *fixture) revision() RuleRevision {
	f.t.Helper()
	a := f.admin("GET", "rules", nil)
	var r RuleRevision
	if err := json.Unmarshal(a.raw, &r); err != nil || a.status != http.StatusOK {
		f.t.Fatalf("%d %s", a.status, a.raw)
	}
	if a.header.Get("ETag") != fmt.Sprintf(`"%d"`, r.Revision) {
		f.t.Errorf("ETag %s of revision %d", a.header.Get("ETag"), r.Revision)
	}
	return r
}

func TestRulesAreReplacedOverTheRevisionThatTheirAuthorSaw(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2)
	one, two := all[0], all[1]
	first := one.revision()
	if first.Document != string(rules.Default()) {
		t.Error("the first document is not the shipped one")
	}
	next := strings.Replace(first.Document, "high: {bound: 500", "high: {bound: 7", 1)
	refused(t, one.admin("PUT", "rules", with(map[string]any{"document": next})), http.StatusBadRequest, "invalid")
	put := two.admin("PUT", "rules", with(map[string]any{"document": next, "revision": first.Revision}))
	if put.status != http.StatusOK || put.text("actor") != "admin" || put.header.Get("ETag") == "" {
		t.Fatalf("%d %s", put.status, put.raw)
	}
	if now := one.revision(); now.Document != next || now.Reason != "because of a test" || now.Revision <= first.Revision {
		t.Errorf("%+v", now)
	}
	refused(t, one.admin("PUT", "rules", with(map[string]any{"document": next, "revision": first.Revision})), http.StatusConflict, "revision_conflict")
	stale := fmt.Sprintf(`"%d"`, first.Revision)
	refused(t, one.admin("PUT", "rules", with(map[string]any{"document": next}), "If-Match", stale), http.StatusConflict, "revision_conflict")
	refused(t, one.admin("PUT", "rules", with(map[string]any{"document": next}), "If-Match", `"x"`), http.StatusBadRequest, "invalid")

	yaml := one.admin("PUT", "rules?reason=%E5%8E%9F%E5%9B%A0", next+"# more\n", "If-Match", put.header.Get("ETag"), "Content-Type", "application/yaml")
	if now := one.revision(); yaml.status != http.StatusOK || now.Reason != "原因" || now.Document != next+"# more\n" {
		t.Errorf("%d %s, %+v", yaml.status, yaml.raw, now.Reason)
	}
	refused(t, one.admin("PUT", "rules", next, "If-Match", yaml.header.Get("ETag"), "Content-Type", "application/yaml"), http.StatusBadRequest, "invalid")
	old := one.admin("GET", fmt.Sprintf("rules?revision=%d", first.Revision), nil)
	if old.text("document") != first.Document {
		t.Errorf("%d %s", old.status, old.raw[:100])
	}
	refused(t, one.admin("GET", "rules?revision=99999", nil), http.StatusNotFound, "not_found")
}

func TestFaultyRulesAreRefusedWithTheirPlaces(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	rev := f.revision().Revision
	put := func(doc string) answer {
		return f.admin("PUT", "rules", with(map[string]any{"document": doc, "revision": rev}))
	}
	a := put("lanes:\n  high: {bound: 0}\nreplica: 3\n")
	refused(t, a, http.StatusBadRequest, "invalid")
	var p Problem
	must(t, json.Unmarshal(a.raw, &p))
	want := []Fault{
		{Field: "lanes.high.bound", Detail: "must be at least 1, is 0", Line: 2, Column: 10},
		{Field: "replica", Detail: `is not a known key; did you mean "replicas"?`, Line: 3, Column: 1},
	}
	if len(p.Errors) != 2 || p.Errors[0] != want[0] || p.Errors[1] != want[1] {
		t.Errorf("%+v, want %+v", p.Errors, want)
	}
	a = put("replicas: 3\n")
	refused(t, a, http.StatusBadRequest, "invalid")
	must(t, json.Unmarshal(a.raw, &p))
	if len(p.Errors) != 1 || p.Errors[0].Field != "replicas" || p.Errors[0].Line != 1 {
		t.Errorf("%+v", p.Errors)
	}
	refused(t, put("a: [\n"), http.StatusBadRequest, "invalid")
	refused(t, f.admin("PUT", "rules", "\xff", "If-Match", fmt.Sprint(rev), "Content-Type", "application/yaml"), http.StatusBadRequest, "invalid")
	if now := f.revision().Revision; now != rev {
		t.Errorf("revision %d is stored, want %d still", now, rev)
	}
}

func TestALargeDocumentFitsAndATooLargeOneDoesNot(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	full := append(rules.Default(), bytes.Repeat([]byte("#\"\"\"\n"), 100_000)...)
	put := f.admin("PUT", "rules", with(map[string]any{"document": string(full), "revision": f.revision().Revision}))
	if put.status != http.StatusOK {
		t.Fatalf("%d %s", put.status, put.raw[:min(len(put.raw), 300)])
	}
	large := strings.Repeat("#", rules.MaxSize+1)
	refused(t, f.admin("PUT", "rules?reason=x", large, "If-Match", put.header.Get("ETag"), "Content-Type", "application/yaml"), http.StatusRequestEntityTooLarge, "too_large")
	refused(t, f.admin("PUT", "rules", with(map[string]any{"document": large, "revision": 1})), http.StatusConflict, "revision_conflict")
}

func TestRollbackMakesANewRevision(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	first := f.revision()
	f.admin("PUT", "rules", with(map[string]any{"document": "replicas: 1\n", "revision": first.Revision}))
	back := f.admin("POST", "rules/rollback", with(map[string]any{"revision": first.Revision}))
	if back.status != http.StatusOK || back.json["from"] != float64(first.Revision) {
		t.Fatalf("%d %s", back.status, back.raw)
	}
	if now := f.revision(); now.Document != first.Document || now.Revision <= first.Revision+1 || now.From != first.Revision {
		t.Errorf("%+v", now)
	}
	refused(t, f.admin("POST", "rules/rollback", with(map[string]any{"revision": 77})), http.StatusNotFound, "not_found")
	var history struct{ Revisions []RuleRevision }
	must(t, json.Unmarshal(f.admin("GET", "rules/history", nil).raw, &history))
	if all := history.Revisions; len(all) != 3 || all[0].From != first.Revision || all[2].Actor != "sluice" || all[0].Document != "" || all[0].Size != len(first.Document) {
		t.Errorf("%+v", all)
	}
}

func TestTheValveIsForcedAndLiftedInTheDocument(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	force := map[string]any{"level": 2, "until": until}
	if a := f.admin("PUT", "valve", with(map[string]any{"force": force})); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	r, err := rules.Parse("", []byte(f.revision().Document))
	if err != nil || r.Valve.Force == nil || r.Valve.Force.Level != 2 || !r.Valve.Force.Until.Equal(until) {
		t.Errorf("%+v, %v", r.Valve.Force, err)
	}
	for name, body := range map[string]map[string]any{
		"no force": with(nil), "past": with(map[string]any{"force": map[string]any{"level": 1, "until": "2020-01-01T00:00:00Z"}}),
		"level 4": with(map[string]any{"force": map[string]any{"level": 4, "until": until}}),
		"no end":  with(map[string]any{"force": map[string]any{"level": 1}}),
	} {
		t.Run(name, func(t *testing.T) { refused(t, f.admin("PUT", "valve", body), http.StatusBadRequest, "invalid") })
	}
	if a := f.admin("PUT", "valve", with(map[string]any{"force": nil})); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	if now := f.revision().Document; now != string(rules.Default()) {
		t.Error("the document is not as it was")
	}
}

func TestAVendorsNumbersAreChangedInTheDocument(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	if a := f.admin("PUT", "vendors/a", with(map[string]any{"quota": 10, "headroom": 0.5})); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	r, err := rules.Parse("", []byte(f.revision().Document))
	if err != nil || r.Vendors[0].Quota != 10 || r.Vendors[0].Limit() != 5 || r.Vendors[1].Quota != 30 {
		t.Errorf("%+v, %v", r.Vendors[0], err)
	}
	refused(t, f.admin("PUT", "vendors/z", with(map[string]any{"quota": 10})), http.StatusNotFound, "not_found")
	refused(t, f.admin("PUT", "vendors/a", why), http.StatusBadRequest, "invalid")
	a := f.admin("PUT", "vendors/a", with(map[string]any{"headroom": 1.5}))
	refused(t, a, http.StatusBadRequest, "invalid")
	var p Problem
	if err := json.Unmarshal(a.raw, &p); err != nil || p.Errors[0].Field != "vendors[0].headroom" {
		t.Errorf("%+v", p)
	}
}

func TestBreakersAreTurnedByHand(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	state := func() string {
		var out struct{ Vendors []Vendor }
		must(t, json.Unmarshal(f.admin("GET", "vendors", nil).raw, &out))
		return out.Vendors[0].Now.Breaker
	}
	if a := f.admin("POST", "vendors/a/breaker/open", why); a.status != http.StatusNoContent || state() != "open" {
		t.Errorf("%d %s, %s", a.status, a.raw, state())
	}
	if a := f.admin("POST", "vendors/a/breaker/close", why); a.status != http.StatusNoContent || state() != "closed" {
		t.Errorf("%d %s, %s", a.status, a.raw, state())
	}
	refused(t, f.admin("POST", "vendors/z/breaker/open", why), http.StatusNotFound, "not_found")
	refused(t, f.admin("POST", "vendors/b/breaker/open", why), http.StatusServiceUnavailable, "unavailable")
	entries, err := f.queue.Audits(t.Context(), 0, 10)
	must(t, err)
	if len(entries) != 4 || entries[0].Result != "not done: unavailable" || entries[1].Result != "" || entries[3].Action != "breaker.open" || entries[3].Target != "a" {
		t.Errorf("%+v", entries)
	}
}

func TestBreakersOfToolsAreTurnedByHandAndToolsAreNoVendors(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	state := func() Tool {
		var out struct{ Tools []Tool }
		must(t, json.Unmarshal(f.admin("GET", "tools", nil).raw, &out))
		return out.Tools[0]
	}
	if got := state(); got.Name != "order_query" || got.Permits != 16 || got.Now.InUse != 1 || got.Now.Breaker != "closed" {
		t.Errorf("%+v, %+v", got, got.Now)
	}
	for verb, want := range map[string]string{"open": "open", "close": "closed"} {
		if a := f.admin("POST", "tools/order_query/breaker/"+verb, why); a.status != http.StatusNoContent || state().Now.Breaker != want {
			t.Errorf("%d %s, %+v", a.status, a.raw, state().Now)
		}
	}
	refused(t, f.admin("POST", "tools/nothing/breaker/open", why), http.StatusNotFound, "not_found")
	refused(t, f.admin("POST", "vendors/tool:order_query/breaker/open", why), http.StatusNotFound, "not_found")
	var out struct{ Vendors []Vendor }
	must(t, json.Unmarshal(f.admin("GET", "vendors", nil).raw, &out))
	for _, v := range out.Vendors {
		if strings.HasPrefix(v.Name, "tool") {
			t.Errorf("%s is listed as a vendor", v.Name)
		}
	}
}

func TestRulesAreCheckedWithoutBeingStored(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	first := f.revision()
	check := func(body map[string]any) RulesCheck {
		a := f.admin("POST", "rules/check", body)
		var c RulesCheck
		if err := json.Unmarshal(a.raw, &c); err != nil || a.status != http.StatusOK || c.Revision != first.Revision {
			t.Fatalf("%d %s", a.status, a.raw)
		}
		return c
	}
	if c := check(map[string]any{"document": first.Document}); len(c.Faults) != 0 || c.Document != "" || c.Numbers["lanes.high.bound"] != "500" {
		t.Errorf("%+v", c)
	}
	c := check(map[string]any{"document": "lanes:\n  high: {bound: 0}\n"})
	if len(c.Faults) != 1 || c.Faults[0] != (Fault{Field: "lanes.high.bound", Detail: "must be at least 1, is 0", Line: 2, Column: 10}) {
		t.Errorf("%+v", c)
	}
	if c := check(map[string]any{"document": first.Document, "numbers": map[string]string{"lanes.high.bound": "x"}}); len(c.Faults) != 1 || c.Document != "" {
		t.Errorf("%+v", c)
	}
	c = check(map[string]any{"document": first.Document, "numbers": map[string]string{"lanes.high.bound": "9"}})
	if want := strings.Replace(first.Document, "high: {bound: 500", "high: {bound: 9", 1); c.Document != want || c.Numbers["lanes.high.bound"] != "9" {
		t.Errorf("%.300s", c.Document)
	}
	if c := check(map[string]any{"document": "replicas: 3\n"}); len(c.Faults) != 1 || c.Faults[0].Field != "replicas" {
		t.Errorf("%+v: the bed of this test cannot have other replicas", c)
	}
	c = check(map[string]any{"document": "intents:\n  - {name: rental, examples: [hire a van], template: {zh: 好, en: ok}}\n"})
	if len(c.Intents) != 1 || c.Intents[0].Intent != "rental" || c.Intents[0].Status != TrialPending || c.Intents[0].Won[0].Intent != "admin" {
		t.Errorf("%+v", c)
	}
	if now := f.revision(); now.Revision != first.Revision {
		t.Errorf("a check made revision %d", now.Revision)
	}
	refused(t, f.admin("POST", "rules/check", map[string]any{"document": "{}", "numbers": map[string]string{"valve.levels[0].depth": "0.4"}}), http.StatusConflict, "layout")
}
