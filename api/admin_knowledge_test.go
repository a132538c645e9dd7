package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"sluice/internal/chat"
	"sluice/internal/knowledge"
	"sluice/internal/queue"
)

// stack is an index that somebody else keeps up to date.
type stack struct{ index *knowledge.Index }

func (s stack) Search(question, language string) ([]knowledge.Hit, float64) {
	return s.index.Search(question, language, 3), 0.3
}

func (s stack) InForce() (uint64, string, error) {
	return 7, s.index.Version(), errors.New("revision 8: a.csv:2: wrong number of fields")
}

// state reads what is published and drafted.
func (f *fixture) state(query string) (s KnowledgeState) {
	f.t.Helper()
	a := f.admin("GET", "knowledge"+query, nil)
	if err := json.Unmarshal(a.raw, &s); err != nil || a.status != http.StatusOK {
		f.t.Fatalf("%d %s", a.status, a.raw)
	}
	return s
}

// does makes a change that must succeed.
func (f *fixture) does(status int, method, path string, body any) answer {
	f.t.Helper()
	a := f.admin(method, path, body)
	if a.status != status {
		f.t.Fatalf("%s %s: %d %s", method, path, a.status, a.raw)
	}
	return a
}

func text(s string) map[string]any { return with(map[string]any{"text": s}) }

func TestDocumentsAreDraftedPublishedAndBroughtBack(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2)
	one, two := all[0], all[1]
	if s := one.state(""); s.Revision != 0 || len(s.Draft) != 0 || len(s.Published) != 0 {
		t.Errorf("%+v", s)
	}
	refused(t, one.admin("POST", "knowledge/publish", why), http.StatusConflict, "unchanged")
	one.does(http.StatusNoContent, "PUT", "knowledge/lamp.md", text("# Lamp\nThe lamp costs ten."))
	two.does(http.StatusNoContent, "PUT", "knowledge/sub%2Fchair.txt", text("五元 – the chair"))
	if s := two.state(""); s.Changes != 2 || s.Draft[0].Name != "lamp.md" || s.Draft[0].Change != "added" || s.Draft[0].Actor != "admin" || s.Draft[1].Name != "sub/chair.txt" {
		t.Errorf("%+v", s)
	}
	refused(t, one.admin("GET", "knowledge/lamp.md", nil), http.StatusNotFound, "not_found")
	if a := one.does(http.StatusOK, "GET", "knowledge/lamp.md?draft=true", nil); a.text("text") != "# Lamp\nThe lamp costs ten." {
		t.Errorf("%s", a.raw)
	}
	first := uint64(one.does(http.StatusOK, "POST", "knowledge/publish", why).json["revision"].(float64))
	if s := two.state(""); s.Revision != first || s.Documents != 2 || s.Changes != 0 || s.Reason != "because of a test" || s.Published[1].Name != "sub/chair.txt" {
		t.Errorf("%+v", s)
	}
	one.does(http.StatusNoContent, "PUT", "knowledge/lamp.md", text("The lamp costs twelve."))
	one.does(http.StatusNoContent, "DELETE", "knowledge/sub%2Fchair.txt", why)
	refused(t, one.admin("DELETE", "knowledge/sub%2Fchair.txt", why), http.StatusNotFound, "not_found")
	if s := one.state(""); s.Changes != 2 || s.Draft[0].Change != "changed" || s.Draft[1].Change != "removed" {
		t.Errorf("%+v", s)
	}
	one.does(http.StatusOK, "POST", "knowledge/publish", why)
	refused(t, one.admin("GET", "knowledge/sub%2Fchair.txt", nil), http.StatusNotFound, "not_found")
	refused(t, one.admin("POST", "knowledge/rollback", with(map[string]any{"revision": 99})), http.StatusNotFound, "not_found")
	back := two.does(http.StatusOK, "POST", "knowledge/rollback", with(map[string]any{"revision": first}))
	if back.json["from"] != float64(first) || one.does(http.StatusOK, "GET", "knowledge/sub%2Fchair.txt", nil).text("text") != "五元 – the chair" {
		t.Errorf("%s", back.raw)
	}
	var history struct{ Revisions []KnowledgeRevision }
	must(t, json.Unmarshal(one.admin("GET", "knowledge/history", nil).raw, &history))
	if r := history.Revisions; len(r) != 3 || r[0].From != first || r[2].Revision != first || r[1].Documents != 1 {
		t.Errorf("%+v", r)
	}
	if s := one.state("?limit=1"); len(s.Published) != 1 || s.Next != "lamp.md" {
		t.Errorf("%+v", s)
	}
	if s := one.state("?after=lamp.md"); len(s.Published) != 1 || s.Next != "" || s.Published[0].Name != "sub/chair.txt" {
		t.Errorf("%+v", s)
	}
	entries, err := one.queue.Audits(t.Context(), 0, 100)
	must(t, err)
	var actions []string
	for _, e := range entries {
		actions = append(actions, e.Action+" "+e.Target+e.Result)
		if e.Actor != "admin" || e.Reason != "because of a test" {
			t.Errorf("%+v", e)
		}
	}
	want := fmt.Sprintf("knowledge.rollback %d,knowledge.publish ,knowledge.delete sub/chair.txt,knowledge.put lamp.md,knowledge.publish ,"+
		"knowledge.put sub/chair.txt,knowledge.put lamp.md,knowledge.publish not done: unchanged,knowledge.publish ", first)
	if got := strings.Join(actions, ","); got != want {
		t.Errorf("the audit has %s", got)
	}
}

func TestFaultyDocumentsAreRefusedWithTheirLines(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	for name, c := range map[string]struct {
		path   string
		body   any
		status int
		detail string
	}{
		"kind":      {"a.pdf", text("x"), 400, ".pdf"},
		"row":       {"a.csv", text("a,b\n1\n"), 400, "a.csv:2"},
		"empty":     {"a.md", text(" \n"), 400, "is empty"},
		"no text":   {"a.md", why, 400, "text"},
		"no reason": {"a.md", map[string]any{"text": "x"}, 400, "reason"},
		"unknown":   {"a.md", with(map[string]any{"text": "x", "publish": true}), 400, "publish"},
		"long name": {strings.Repeat("a", 200) + ".md", text("x"), 400, "name"},
		"too large": {"a.md", text(strings.Repeat("x", knowledge.MaxDocument+1)), 400, "holds more than"},
		"huge":      {"a.md", text(strings.Repeat("x", 4*knowledge.MaxDocument)), 413, "at most"},
		"link":      {"a.md", text("---\nurl: javascript:x\n---\nx"), 400, "url must be"},
	} {
		a := f.admin("PUT", "knowledge/"+c.path, c.body)
		if a.status != c.status || !strings.Contains(string(a.raw), c.detail) {
			t.Errorf("%s: %d %.300s", name, a.status, a.raw)
		}
	}
	refused(t, f.call("PUT", "/admin/api/knowledge/a.md", "", text("x")), http.StatusUnauthorized, "unauthorized")
	refused(t, f.call("PUT", "/admin/api/knowledge/a.md", "", text("x"), "Cookie", f.cookie), http.StatusForbidden, "csrf")
	if s := f.state(""); s.Changes != 0 {
		t.Errorf("%+v", s.Draft)
	}
	escaped := strings.Repeat("退", knowledge.MaxDocument/3)
	raw, err := json.Marshal(text(escaped))
	must(t, err)
	ascii := strings.ReplaceAll(string(raw), "退", `\u9000`) // as some writers of JSON do
	if a := f.admin("PUT", "knowledge/a.md", ascii); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

func TestManyDocumentsAreImportedAtOnceOrNone(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	lines := func(all ...string) string { return strings.Join(all, "\n") }
	send := func(body string, headers ...string) answer {
		return f.admin("POST", "knowledge/import?reason=because+of+a+test", body, append([]string{"Content-Type", "application/x-ndjson"}, headers...)...)
	}
	bad := send(lines(`{"name":"a.md","text":"one"}`, `{"name":"b.pdf","text":"two"}`, ``, `{"name":"c.md"}`, `{"name":"d.md","text":"x","z":1}`, `no`, `{"name":"e.md","text":"\ud800"}`))
	refused(t, bad, http.StatusBadRequest, "invalid")
	var p Problem
	must(t, json.Unmarshal(bad.raw, &p))
	var at []int
	for _, fault := range p.Errors {
		at = append(at, fault.Line)
	}
	if fmt.Sprint(at) != "[2 3 4 5 6]" {
		t.Errorf("faults %+v", p.Errors)
	}
	refused(t, send("\n\n"), http.StatusBadRequest, "invalid")
	refused(t, send(`{"name":"a.md","text":"`+strings.Repeat("x", 4*knowledge.MaxDocument)), http.StatusRequestEntityTooLarge, "too_large")
	refused(t, send("x", "Content-Type", "text/plain"), http.StatusUnsupportedMediaType, "unsupported_media_type")
	refused(t, f.admin("POST", "knowledge/import", "{}", "Content-Type", "application/x-ndjson"), http.StatusBadRequest, "invalid")
	if s := f.state(""); s.Changes != 0 {
		t.Errorf("%+v", s.Draft)
	}
	var many []string
	for i := range 1200 {
		many = append(many, fmt.Sprintf(`{"name":"doc-%04d.md","text":"# Document %d\nNumber %d."}`, i, i, i))
	}
	if a := send(lines(many...) + "\n"); a.status != http.StatusOK || a.json["documents"] != float64(1200) {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	if s := f.state(""); s.Changes != 1200 || len(s.Draft) != 1000 || s.Draft[999].Name != "doc-0999.md" {
		t.Errorf("%d changes, %d shown", s.Changes, len(s.Draft))
	}
	f.does(http.StatusOK, "POST", "knowledge/publish", why)

	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	must(t, form.WriteField("note", "not a file"))
	for name, content := range map[string]string{"doc-0000.md": "Changed.", "plan.csv": "size,price\nL,10\n"} {
		part, err := form.CreateFormFile("files", name)
		must(t, err)
		_, err = part.Write([]byte(content))
		must(t, err)
	}
	must(t, form.Close())
	if a := send(body.String(), "Content-Type", form.FormDataContentType()); a.status != http.StatusOK || a.json["documents"] != 2.0 {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	if s := f.state("?limit=1"); s.Changes != 2 || s.Draft[0].Change != "changed" || s.Draft[1].Change != "added" || s.Documents != 1200 {
		t.Errorf("%+v", s)
	}
	refused(t, send(body.String()[:body.Len()/2], "Content-Type", form.FormDataContentType()), http.StatusBadRequest, "invalid")
}

func TestASearchShowsWhatWouldBeAnsweredFrom(t *testing.T) {
	t.Parallel()
	shipped, err := knowledge.Shipped()
	must(t, err)
	index, err := knowledge.Build(t.Context(), shipped)
	must(t, err)
	f := setup(t, func(d *Deps, _ *Config, _ *queue.Config) { d.Knowledge = stack{index} })
	f.hire("admin", chat.Admin)
	ask := func(query string) answer { return f.admin("GET", "knowledge/search?"+query, nil) }
	var out struct {
		Passages  []Found
		Threshold float64
	}
	a := ask("q=what+does+error+E2+mean+on+my+blender&lang=" + chat.English)
	must(t, json.Unmarshal(a.raw, &out))
	if len(out.Passages) != 3 || out.Threshold != 0.3 {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	if p := out.Passages[0]; p.Name != "manual-blender.en.md" || p.Headings[1] != "Error codes" || !p.Enough || p.Covered < 0.5 {
		t.Errorf("%+v", p)
	}
	for _, query := range []string{"", "q=", "q=x&lang=fr", "q=x&n=5"} {
		refused(t, ask(query), http.StatusBadRequest, "invalid")
	}
	if s := f.state(""); s.InForce.Revision != 7 || s.InForce.Version != index.Version() || !strings.Contains(s.InForce.Fault, "a.csv:2") {
		t.Errorf("%+v", s.InForce)
	}
	none := nodes(t, 1)[0]
	refused(t, none.admin("GET", "knowledge/search?q=x", nil), http.StatusServiceUnavailable, "unavailable")
}
