package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"sluice/internal/faq"
)

func (f *fixture) drafts() faq.Drafts {
	f.t.Helper()
	var body struct{ Drafts faq.Drafts }
	a := f.admin("GET", "faq/drafts", nil)
	if err := json.Unmarshal(a.raw, &body); err != nil || a.status != http.StatusOK || body.Drafts == nil {
		f.t.Fatalf("%d %s", a.status, a.raw)
	}
	return body.Drafts
}

func TestDraftsAreWishedForAndAccepted(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	if all := f.drafts(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	refused(t, f.admin("POST", "faq/none/draft", why), http.StatusNotFound, "not_found")
	a := f.admin("POST", "faq/password_reset/draft", why)
	if a.status != http.StatusAccepted || a.text("state") != "wanted" || a.text("actor") != "admin" {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	must(t, f.changeDrafts(t.Context(), func(all faq.Drafts) (faq.Drafts, error) {
		return all.Put(faq.Draft{Entry: "password_reset", State: faq.DraftReady, At: time.Now(), Phrasings: map[string][]string{"en": {"no way in", "locked out"}}})
	}))
	if one, found := f.drafts().Find("password_reset"); !found || one.State != faq.DraftReady || len(one.Phrasings["en"]) != 2 {
		t.Errorf("%+v", one)
	}
	accept := with(map[string]any{"phrasings": map[string]any{"en": []string{" locked out of my account ", "forgot password"}}})
	revisionOf(t, f.admin("POST", "faq/password_reset/accept", accept))
	e, _ := f.faq("?limit=500").entry("password_reset")
	if n := len(e.Questions["en"]); n != 11 || !e.Own || !slices.Contains(e.Questions["en"], "locked out of my account") {
		t.Errorf("%d phrasings: %q", n, e.Questions["en"])
	}
	if all := f.drafts(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	bad := with(map[string]any{"phrasings": map[string]any{"en": []string{" "}}})
	refused(t, f.admin("POST", "faq/password_reset/accept", bad), http.StatusBadRequest, "invalid")
	refused(t, f.admin("POST", "faq/none/accept", accept), http.StatusNotFound, "not_found")
	refused(t, f.admin("DELETE", "faq/password_reset/draft", why), http.StatusNotFound, "not_found")
}

func TestThereIsRoomForSoManyDrafts(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	entries := f.faq("?limit=500").Entries
	for _, e := range entries[:faq.MaxDrafts] {
		if a := f.admin("POST", "faq/"+e.ID+"/draft", why); a.status != http.StatusAccepted {
			t.Fatalf("%d %s", a.status, a.raw)
		}
	}
	last := entries[faq.MaxDrafts].ID
	refused(t, f.admin("POST", "faq/"+last+"/draft", why), http.StatusConflict, "exists")
	if a := f.admin("DELETE", "faq/"+entries[0].ID+"/draft", why); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := f.admin("POST", "faq/"+last+"/draft", why); a.status != http.StatusAccepted {
		t.Errorf("%d %s", a.status, a.raw)
	}
	full := with(map[string]any{"questions": map[string]any{"en": thirty()}, "answers": map[string]any{"en": "x"}})
	revisionOf(t, f.admin("PUT", "faq/full", full))
	refused(t, f.admin("POST", "faq/full/draft", why), http.StatusConflict, "exists")
}

// thirty are as many phrasings as are drafted.
func thirty() []string {
	var all []string
	for i := range faq.DraftUpTo {
		all = append(all, "question "+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	return all
}
