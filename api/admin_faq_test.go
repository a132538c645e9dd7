package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/queue"
)

// enrolled is what answers in tests: the known phrasings of the shipped entries.
var enrolled = sync.OnceValue(func() *faq.Base {
	entries, err := faq.Shipped()
	if err != nil {
		panic(err)
	}
	base, err := faq.Enrol(entries)
	if err != nil {
		panic(err)
	}
	return base
})

func shippedFAQ() (*faq.Base, uint64) { return enrolled(), 0 }

// faqBody is as much of the list as tests look at.
type faqBody struct {
	Revision    uint64
	Shipped     bool
	Total       int
	Entries     []FAQEntry
	Next        string
	Calibration *FAQCalibration
}

func (f *fixture) faq(query string) faqBody {
	f.t.Helper()
	a := f.admin("GET", "faq"+query, nil)
	var body faqBody
	if err := json.Unmarshal(a.raw, &body); err != nil || a.status != http.StatusOK {
		f.t.Fatalf("%d %s", a.status, a.raw)
	}
	return body
}

// entry finds an entry of the list.
func (b faqBody) entry(id string) (FAQEntry, bool) {
	at := slices.IndexFunc(b.Entries, func(e FAQEntry) bool { return e.ID == id })
	if at < 0 {
		return FAQEntry{}, false
	}
	return b.Entries[at], true
}

func newEntry(answer string) map[string]any {
	return entryAsking([]string{"do you sell parrots", "any parrots"}, answer)
}

func entryAsking(questions []string, answer string) map[string]any {
	return with(map[string]any{"intent": "other", "questions": map[string]any{"en": questions}, "answers": map[string]any{"en": answer}})
}

// revisionOf is what a change of the FAQ came to.
func revisionOf(t *testing.T, a answer) uint64 {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	return uint64(a.json["revision"].(float64))
}

func TestEntriesOfTheFAQArePutAndRemoved(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2)
	one, two := all[0], all[1]
	first := one.faq("?limit=500")
	if first.Revision != 0 || !first.Shipped || first.Total != 36 || len(first.Entries) != 36 || first.Next != "" {
		t.Fatalf("the first list has %d of %d entries, revision %d", len(first.Entries), first.Total, first.Revision)
	}
	if c := first.Calibration; c == nil || c.Learnt || c.Entries != 36 || c.Phrasings != 720 {
		t.Errorf("calibration %+v", first.Calibration)
	}
	if rev := revisionOf(t, one.admin("PUT", "faq/parrots", newEntry("No parrots."))); rev != 1 {
		t.Errorf("revision %d, want 1", rev)
	}
	revisionOf(t, two.admin("PUT", "faq/track_order", entryAsking([]string{"track it"}, "Track it.")))
	now := two.faq("?limit=500")
	parrots, ok := now.entry("parrots")
	if !ok || !parrots.Own || !parrots.Thin || parrots.Answers["en"] != "No parrots." || now.Total != 37 {
		t.Errorf("%+v of %d", parrots, now.Total)
	}
	if track, _ := now.entry("track_order"); !track.Own || track.Answers["en"] != "Track it." {
		t.Errorf("%+v", track)
	}
	if shipped, _ := now.entry("password_reset"); shipped.Own || shipped.Thin {
		t.Errorf("%+v", shipped)
	}
	for _, id := range []string{"track_order", "parrots"} {
		revisionOf(t, one.admin("DELETE", "faq/"+id, why))
		refused(t, one.admin("DELETE", "faq/"+id, why), http.StatusNotFound, "not_found")
	}
	if now := one.faq("?limit=500"); now.Total != 35 || now.Revision != 4 {
		t.Errorf("%d entries in revision %d", now.Total, now.Revision)
	}
}

func TestTheListOfTheFAQComesInPages(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	var ids []string
	after := ""
	for range 10 {
		page := f.faq("?limit=10&after=" + after)
		for _, e := range page.Entries {
			ids = append(ids, e.ID)
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if len(ids) != 36 || !slices.IsSorted(ids) {
		t.Errorf("%d entries: %q", len(ids), ids)
	}
	refused(t, f.admin("GET", "faq?limit=501", nil), http.StatusBadRequest, "invalid")
}

func TestFaultyEntriesAreRefusedWithTheirFields(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	for field, change := range map[string]map[string]any{
		"questions":       {"questions": map[string]any{}},
		"questions.en[1]": {"questions": map[string]any{"en": []string{"a question", " "}}},
		"questions.en[2]": {"questions": map[string]any{"en": []string{"a question", "another", "Refund timing?"}}},
		"answers":         {"answers": map[string]any{}},
		"answers.zh":      {"questions": map[string]any{"zh": []string{"卖鹦鹉吗"}}},
		"answers.en":      {"answers": map[string]any{"en": strings.Repeat("x", faq.MaxAnswer+1)}},
		"intent":          {"intent": "weather"},
		"more":            {"more": 1},
	} {
		body := newEntry("x")
		maps.Copy(body, change)
		a := f.admin("PUT", "faq/own", body)
		refused(t, a, http.StatusBadRequest, "invalid")
		var p Problem
		must(t, json.Unmarshal(a.raw, &p))
		if len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v", field, p.Errors)
		}
	}
	refused(t, f.admin("PUT", "faq/a%20b", newEntry("x")), http.StatusBadRequest, "invalid")
	refused(t, f.admin("PUT", "faq/own", map[string]any{"questions": map[string]any{}, "answers": map[string]any{}}), http.StatusBadRequest, "invalid")
	refused(t, f.call("PUT", "/admin/api/faq/own", "", newEntry("x")), http.StatusUnauthorized, "unauthorized")
	refused(t, f.call("PUT", "/admin/api/faq/own", "", newEntry("x"), "Cookie", f.cookie), http.StatusForbidden, "csrf")
	if now := f.faq(""); now.Revision != 0 {
		t.Errorf("revision %d is stored", now.Revision)
	}
}

const importedYAML = "faqs:\n  - {id: hours, answer: {en: At nine.}, questions: [when do you open, opening hours]}\n  - {id: parrots, answer: No., questions: [parrots]}\n"

func TestManyEntriesAreTakenOverAtOnce(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	revisionOf(t, f.admin("PUT", "faq/parrots", newEntry("Yes.")))
	a := f.admin("POST", "faq/import", with(map[string]any{"document": importedYAML, "format": "yaml"}))
	if revisionOf(t, a); a.json["entries"] != float64(38) {
		t.Errorf("%s", a.raw)
	}
	now := f.faq("?limit=500")
	if e, _ := now.entry("parrots"); e.Answers["en"] != "No." {
		t.Errorf("%+v", e)
	}
	csv := "id,lang,question,answer\ncats,en,do you sell cats,No cats.\n"
	a = f.admin("POST", "faq/import?mode=replace&reason=%E5%8E%9F%E5%9B%A0", csv, "Content-Type", "text/csv; charset=utf-8")
	if revisionOf(t, a); a.json["entries"] != float64(37) {
		t.Errorf("%s", a.raw)
	}
	a = f.admin("POST", "faq/import", with(map[string]any{"document": csv, "format": "csv", "mode": "replace", "shipped": false}))
	if revisionOf(t, a); a.json["entries"] != float64(1) {
		t.Errorf("%s", a.raw)
	}
	if now = f.faq(""); now.Shipped || now.Total != 1 || now.Entries[0].ID != "cats" {
		t.Errorf("%+v", now)
	}
	a = f.admin("POST", "faq/import?reason=x", "id,lang,question,answer\na,en,q,\nb,fr,q,r\n", "Content-Type", "text/csv")
	refused(t, a, http.StatusBadRequest, "invalid")
	var p Problem
	must(t, json.Unmarshal(a.raw, &p))
	if len(p.Errors) == 0 || p.Errors[0].Line != 2 {
		t.Errorf("%+v", p.Errors)
	}
	for name, text := range map[string]string{"GBK": "id,lang,question,answer\na,zh,\xc4\xfa\xba\xc3,x\n", "Latin-1": "id,lang,question,answer\na,en,caf\xe9,x\n"} {
		a = f.admin("POST", "faq/import?reason=x", text, "Content-Type", "text/csv")
		refused(t, a, http.StatusBadRequest, "invalid")
		must(t, json.Unmarshal(a.raw, &p))
		if len(p.Errors) != 1 || p.Errors[0].Field != "document" || p.Errors[0].Line != 2 || !strings.Contains(p.Errors[0].Detail, "UTF-8") {
			t.Errorf("%s: %s", name, a.raw)
		}
	}
	refused(t, f.admin("POST", "faq/import", csv, "Content-Type", "text/csv"), http.StatusBadRequest, "invalid")
	refused(t, f.admin("POST", "faq/import", with(map[string]any{"document": "faqs: [", "format": "yaml"})), http.StatusBadRequest, "invalid")
	refused(t, f.admin("POST", "faq/import?reason=x", strings.Repeat("#", maxFAQBody/2+1), "Content-Type", "application/yaml"), http.StatusRequestEntityTooLarge, "too_large")
}

func TestFiveThousandEntriesAreTakenOver(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	var csv strings.Builder
	csv.WriteString("id,lang,question,answer\n")
	for i := range faq.MaxEntries {
		for k := range 6 {
			fmt.Fprintf(&csv, "e%d,en,question %d number %d of an entry,The answer number %d says a few things about it.\n", i, k, i, i)
		}
	}
	a := f.admin("POST", "faq/import?mode=replace&reason=x", csv.String(), "Content-Type", "text/csv")
	refused(t, a, http.StatusBadRequest, "invalid") // the shipped ones are too many beside them
	a = f.admin("POST", "faq/import", with(map[string]any{"document": csv.String(), "format": "csv", "mode": "replace", "shipped": false}))
	if revisionOf(t, a); a.json["entries"] != float64(faq.MaxEntries) {
		t.Errorf("%s", a.raw)
	}
	if now := f.faq("?limit=500"); now.Total != faq.MaxEntries || len(now.Entries) != 500 || now.Next == "" {
		t.Errorf("%d entries", now.Total)
	}
}

func TestAnEarlierListOfTheFAQComesBack(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	first := revisionOf(t, f.admin("PUT", "faq/parrots", newEntry("No.")))
	revisionOf(t, f.admin("PUT", "faq/parrots", newEntry("Yes.")))
	back := revisionOf(t, f.admin("POST", "faq/rollback", with(map[string]any{"revision": first})))
	if e, _ := f.faq("?limit=500").entry("parrots"); e.Answers["en"] != "No." || back != 3 {
		t.Errorf("revision %d: %+v", back, e)
	}
	var history struct{ Revisions []FAQRevision }
	must(t, json.Unmarshal(f.admin("GET", "faq/history", nil).raw, &history))
	if all := history.Revisions; len(all) != 3 || all[0].From != first || all[0].Actor != "admin" || all[2].Revision != first || all[0].Size != all[2].Size {
		t.Errorf("%+v", all)
	}
	refused(t, f.admin("POST", "faq/rollback", with(map[string]any{"revision": 9})), http.StatusNotFound, "not_found")
	entries, err := f.queue.Audits(t.Context(), 0, 10)
	must(t, err)
	if e := entries[0]; e.Action != "faq.rollback" || e.Target != "1" || e.Reason == "" || e.Actor != "admin" {
		t.Errorf("%+v", e)
	}
}

func TestAuthorsOfDifferentEntriesDoNotUndoEachOther(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.faq("") // logs in
	var authors sync.WaitGroup
	for i := range 4 {
		authors.Go(func() {
			if a := f.admin("PUT", fmt.Sprintf("faq/own%d", i), entryAsking([]string{fmt.Sprintf("question %d", i)}, "x")); a.status != http.StatusOK {
				t.Errorf("%d %s", a.status, a.raw)
			}
		})
	}
	authors.Wait()
	if now := f.faq(""); now.Total != 40 || now.Revision != 4 {
		t.Errorf("%d entries, revision %d", now.Total, now.Revision)
	}
}

func TestTheFAQIsTried(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	try := func(q, lang string) FAQTrial {
		t.Helper()
		a := f.admin("GET", "faq/try?q="+url.QueryEscape(q)+lang, nil)
		var got FAQTrial
		if err := json.Unmarshal(a.raw, &got); err != nil || a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.raw)
		}
		return got
	}
	got := try("忘记密码？", "")
	if got.Tier != faq.Answer || got.Entry != "password_reset" || got.Certainty != 1 || !got.Known || chat.Language(got.Answer, "") != chat.Chinese || len(got.Nearest) != 1 {
		t.Errorf("%+v", got)
	}
	if got := try("忘记密码", "&lang=en"); chat.Language(got.Answer, "") != chat.English {
		t.Errorf("%+v", got)
	}
	if got := try("nobody knows this", ""); got.Tier != faq.Pass || got.Answer != "" || got.Nearest == nil {
		t.Errorf("%+v", got)
	}
	refused(t, f.admin("GET", "faq/try", nil), http.StatusBadRequest, "invalid")
	refused(t, f.admin("GET", "faq/try?q=x&lang=fr", nil), http.StatusBadRequest, "invalid")
}

// missed stores questions as if they had been missed, and returns their keys.
func (f *fixture) missed(texts ...string) []string {
	f.t.Helper()
	all := faq.NewMisses()
	for i, text := range texts {
		for range len(texts) - i {
			all.Add(enrolled(), text, chat.Language(text, ""), faq.Match{Tier: faq.Pass}, time.Now())
		}
	}
	err := f.queue.FAQ().ChangeNote(f.t.Context(), queue.FAQMissed, func([]byte) ([]byte, error) { return all.Document() })
	must(f.t, err)
	var keys []string
	for _, one := range all.List(len(texts)) {
		keys = append(keys, one.Key)
	}
	return keys
}

func TestMissedQuestionsBecomeEntriesAndPhrasings(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	keys := f.missed("Do you sell parrots?", "卖猫吗", "never mind")
	var list struct {
		Misses []faq.Miss
		Total  int
	}
	must(t, json.Unmarshal(f.admin("GET", "faq/misses?limit=2", nil).raw, &list))
	if len(list.Misses) != 2 || list.Total != 3 || list.Misses[0].Text != "Do you sell parrots?" || list.Misses[0].Count != 3 || list.Misses[1].Key != keys[1] {
		t.Errorf("%+v", list)
	}
	path := "faq/misses/" + keys[0] + "/entry"
	refused(t, f.admin("POST", path, with(map[string]any{"entry": "parrots"})), http.StatusBadRequest, "invalid")
	revisionOf(t, f.admin("POST", path, with(map[string]any{"entry": "parrots", "answers": map[string]any{"en": "No parrots."}, "intent": "other"})))
	refused(t, f.admin("POST", "faq/misses/"+keys[1]+"/entry", with(map[string]any{"entry": "parrots"})), http.StatusBadRequest, "invalid") // no answer in Chinese
	revisionOf(t, f.admin("POST", "faq/misses/"+keys[1]+"/entry", with(map[string]any{"entry": "parrots", "question": "你们卖猫吗", "answers": map[string]any{"zh": "没有。"}})))
	refused(t, f.admin("POST", path, with(map[string]any{"entry": "parrots"})), http.StatusNotFound, "not_found")
	e, _ := f.faq("?limit=500").entry("parrots")
	if !slices.Equal(e.Questions["en"], []string{"Do you sell parrots?"}) || !slices.Equal(e.Questions["zh"], []string{"你们卖猫吗"}) || e.Answers["en"] != "No parrots." {
		t.Errorf("%+v", e)
	}
	if a := f.admin("DELETE", "faq/misses/"+keys[2], why); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.raw)
	}
	must(t, json.Unmarshal(f.admin("GET", "faq/misses", nil).raw, &list))
	if len(list.Misses) != 0 || list.Total != 0 {
		t.Errorf("%+v", list)
	}
	f.missed("where is it")
	a := f.admin("POST", "faq/misses/"+f.missed("where is it")[0]+"/entry", with(map[string]any{"entry": "track_order"}))
	if revisionOf(t, a); a.status != http.StatusOK {
		t.Errorf("%s", a.raw)
	}
	if e, _ := f.faq("?limit=500").entry("track_order"); !e.Own || len(e.Questions["en"]) != 11 || len(e.Questions["zh"]) != 10 {
		t.Errorf("a shipped entry has not got a phrasing: %+v", e)
	}
}
