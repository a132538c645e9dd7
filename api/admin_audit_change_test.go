package api

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

func TestTheAuditShowsWhatWasChanged(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.hire("mei", chat.Viewer)
	f.admin("POST", "lanes/low/pause", why)
	f.admin("PUT", "vendors/a", with(map[string]any{"quota": 10}))
	f.admin("PUT", "valve", with(map[string]any{"force": map[string]any{"level": 2, "until": time.Now().Add(time.Hour)}}))
	f.admin("POST", "tenants", with(map[string]any{"name": "bakery", "lane": "low", "origins": []string{"https://bakery.example"}}))
	f.admin("POST", "tenants/bakery/keys", why)
	f.admin("PUT", "operators/mei", with(map[string]any{"role": "operator", "password": "not to be shown"}))
	f.admin("POST", "tokens", with(map[string]any{"name": "deploy", "role": "viewer"}))
	handoff := "handoffs/" + f.handedOver("talk")
	f.admin("POST", handoff+"/take", why)
	f.admin("POST", "sessions/demo/talk/messages", map[string]any{"text": "not to be shown either"})
	f.admin("POST", handoff+"/release", why)
	open := f.submit(map[string]any{"message": "and my order?"}).text("ticket_id")
	f.admin("POST", "tickets/"+open+"/cancel", why)
	f.admin("POST", "tickets/"+open+"/requeue", why)
	f.admin("POST", "bulk", with(map[string]any{"action": "cancel", "filter": map[string]any{"tenant": "bakery"}}))
	f.admin("PUT", "knowledge/opening.md", with(map[string]any{"text": "# Opening hours\n\nNine to five."}))
	f.admin("PUT", "knowledge/opening.md", with(map[string]any{"text": "# Opening hours\n\nNine to six."}))
	entry := map[string]any{"questions": map[string]any{"en": []string{"When are you open?"}}, "answers": map[string]any{"en": "Nine to five."}}
	f.admin("PUT", "faq/opening", with(entry))
	entry["answers"] = map[string]any{"en": "Nine to six."}
	f.admin("PUT", "faq/opening", with(entry))
	a := f.admin("GET", "audit", nil)
	for _, secret := range []string{"sk_", "is_", "ot_", "$argon2", "not to be shown"} {
		if strings.Contains(string(a.raw), secret) {
			t.Errorf("the audit tells %s: %s", secret, a.raw)
		}
	}
	var page AuditPage
	must(t, json.Unmarshal(a.raw, &page))
	sides := map[string][2]string{}
	for _, e := range page.Entries {
		if _, newer := sides[e.Action]; !newer {
			sides[e.Action] = [2]string{side(e.Before), side(e.After)}
		}
	}
	for action, want := range map[string][2]string{
		"lane.pause":      {"open", "paused"},
		"vendor.change":   {`"vendors[a].quota":"`, `{"vendors[a].quota":"10"}`},
		"valve.force":     {`"revision":`, `"valve.force.level":"2"`},
		"tenant.add":      {"", `{"lane":"low","origins":["https://bakery.example"]}`},
		"tenant.keys":     {"", "another one"},
		"operator.change": {`{"role":"viewer"}`, `{"password":"another one","role":"operator"}`},
		"token.add":       {"", `{"role":"viewer"}`},
		"handoff.take":    {`{"owner":"queue"}`, `{"human":"admin","owner":"human"}`},
		"handoff.release": {`{"human":"admin","owner":"human"}`, `{"owner":"bot"}`},
		"session.message": {"", `{"characters":22}`},
		"ticket.cancel":   {`"status":"queued"`, `{"status":"cancelled"}`},
		"ticket.requeue":  {`"status":"cancelled"`, `"asked_again_in":`},
		"bulk.cancel":     {"", `"tenant":"bakery"`},
		"knowledge.put":   {"Nine to five.", "Nine to six."},
		"faq.put":         {"Nine to five.", "Nine to six."},
	} {
		got, found := sides[action]
		for i, part := range want {
			if !found || !strings.Contains(got[i], part) || part == "" && got[i] != "" {
				t.Errorf("%s: %q, want %q in it", action, got, want)
			}
		}
	}
}

func TestTheAuditIsSearchedAndWrittenIntoATable(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	for i, e := range []queue.Audit{
		{Actor: "mei", Action: "lane.pause", Target: "low", Reason: "=cmd|' /C calc'!A0"},
		{Actor: "admin", Action: "lane.drain", Target: "low", Reason: "plain, with a comma", Before: "open", After: "draining"},
		{Actor: "token:deploy", Action: "lanes", Target: "@x", Reason: "+1", After: map[string]any{"a": 1}, Result: "-1"},
	} {
		e.At = time.Unix(int64(i), 0)
		must(t, f.queue.Note(t.Context(), e))
	}
	for query, want := range map[string]string{
		"":                                   "lanes lane.drain lane.pause",
		"actor=mei":                          "lane.pause",
		"action=lane":                        "lane.drain lane.pause",
		"action=lane.drain":                  "lane.drain",
		"target=low&actor=admin":             "lane.drain",
		"target=" + url.QueryEscape("@x"):    "lanes",
		"actor=nobody":                       "",
		"limit=1":                            "lanes",
		"limit=1&action=lane":                "lane.drain",
		"limit=2&action=lane&before=1000000": "lane.drain lane.pause",
	} {
		var page AuditPage
		must(t, json.Unmarshal(f.admin("GET", "audit?"+query, nil).raw, &page))
		var got []string
		for _, e := range page.Entries {
			got = append(got, e.Action)
		}
		if strings.Join(got, " ") != want || (page.Next != 0) != strings.HasPrefix(query, "limit=1") {
			t.Errorf("%s: %v, next %d; want %s", query, got, page.Next, want)
		}
	}
	a := f.admin("GET", "audit.csv?target=low", nil)
	rows, err := csv.NewReader(strings.NewReader(string(a.raw))).ReadAll()
	must(t, err)
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") || len(rows) != 3 ||
		rows[1][5] != "plain, with a comma" || rows[1][6] != "open" || rows[2][5] != "'=cmd|' /C calc'!A0" {
		t.Errorf("%v %q", a.header, rows)
	}
	rows, err = csv.NewReader(strings.NewReader(string(f.admin("GET", "audit.csv?action=lanes", nil).raw))).ReadAll()
	must(t, err)
	if len(rows) != 2 || rows[1][4] != "'@x" || rows[1][5] != "'+1" || rows[1][7] != `{"a":1}` || rows[1][8] != "'-1" {
		t.Errorf("%q", rows)
	}
}
