package api

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestSearchFindsOpenAndEndedTicketsOfAllTenantsOnce(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	book := recorded(t, f)
	first := f.wonder("one", "s1")
	second := f.wonder("two", "s2")
	third := f.wonder("three", "s3")
	other := f.submit(map[string]any{"message": "four", "session_id": "s4"}).text("ticket_id")
	f.endAs(chat.Normal, chat.RouteAgent, "")
	f.endAs(chat.Normal, chat.RouteTemplate, chat.ReasonOverdue)
	f.settled()
	job, s := f.take(chat.Normal)
	newest := f.wonder("five", "s3")
	all := []string{newest, other, third, second, first}
	for _, limit := range []int{1, 2, 5, 200} {
		if got, partial := f.found("", limit); !slices.Equal(got, all) || partial != 0 {
			t.Errorf("pages of %d: %v (%d partial), want %v", limit, got, partial, all)
		}
	}
	for query, want := range map[string][]string{
		"id=" + second:                {second},
		"id=" + second + "&lane=high": nil,
		"session=s3":                  {newest, third},
		"tenant=demo":                 {other},
		"state=queued":                {newest, other},
		"state=running":               {third},
		"state=answered":              {second, first},
		"route=template":              {second},
		"reason=overdue&lane=normal":  {second},
		"lane=high":                   {other},
		"state=failed":                nil,
		"to=2026-01-01T00:00:00Z":     nil,
		"from=" + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339) + "&tenant=shop&state=answered": {second, first},
	} {
		if got, _ := f.found(query, 2); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	for _, query := range []string{"cat=1", "limit=0", "limit=201", "after=x", "from=yesterday", "state=accepting", "from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z"} {
		refused(t, f.admin("GET", "tickets?"+query, nil), 400, "invalid")
	}
	f.end(job, s)
	f.settled()
	book.away.Store(true)
	if got, partial := f.found("", 2); !slices.Equal(got, all) || partial == 0 {
		t.Errorf("without the database: %v (%d partial), want %v", got, partial, all)
	}
	if got, partial := f.found("state=queued", 200); len(got) != 2 || partial != 0 {
		t.Errorf("open ones need no history: %v (%d partial)", got, partial)
	}
	refused(t, f.admin("GET", "tickets.csv", nil), 503, "history_unavailable")
}

func TestATicketTellsItsStory(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	recorded(t, f)
	id := f.wonder("<script>alert(1)</script>", "s1")
	job, s := f.take(chat.Normal)
	s.Note(chat.Step{At: time.Now(), What: chat.StepCall, Vendor: "a", Model: "model-l", Outcome: "good", MS: 12, Attempt: 1})
	f.end(job, s)
	_, err := f.queue.Rate(t.Context(), "shop", "s1", id, chat.Rating{Score: 4, Comment: "=1+1"}, time.Now().UTC())
	must(t, err)
	refused(t, f.admin("POST", "tickets/"+id+"/cancel", why), 409, "ended")
	again := f.admin("POST", "tickets/"+id+"/requeue", why)
	if again.status != 202 || again.text("retry_of") != id {
		t.Fatalf("%d %s", again.status, again.raw)
	}
	if same := f.admin("POST", "tickets/"+id+"/requeue", why); same.status != 200 || same.text("ticket_id") != again.text("ticket_id") {
		t.Errorf("the same again: %d %s", same.status, same.raw)
	}
	var told TicketStory
	a := f.admin("GET", "tickets/"+id, nil)
	must(t, json.Unmarshal(a.raw, &told))
	var steps []string
	for _, step := range told.Story {
		steps = append(steps, strings.TrimSpace(step.What+" "+step.Outcome))
	}
	want := []string{"accepted", "taken", "call good", "answered", "rated 4", "requeued"}
	if !slices.Equal(steps, want) || told.Ticket.Message != "<script>alert(1)</script>" || told.Tenant != "shop" || told.Ticket.Rating == nil {
		t.Errorf("story %v, want %v: %s", steps, want, a.raw)
	}
	refused(t, f.admin("POST", "tickets/"+again.text("ticket_id")+"/requeue", why), 409, "open")
	gone := f.admin("POST", "tickets/"+again.text("ticket_id")+"/cancel", why)
	if gone.status != 200 || gone.text("status") != "cancelled" || gone.text("reason") != "operator" {
		t.Errorf("%d %s", gone.status, gone.raw)
	}
	refused(t, f.admin("GET", "tickets/"+chat.NewTicketID(), nil), 404, "not_found")
	refused(t, f.admin("POST", "tickets/x/requeue", why), 404, "not_found")
	entries, err := f.queue.Audits(t.Context(), 0, 1)
	if err != nil || entries[0].Action != "ticket.requeue" && entries[0].Action != "ticket.cancel" {
		t.Errorf("audit %+v (%v)", entries, err)
	}
}

func TestATableHoldsNoFormulas(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	recorded(t, f)
	hostile := []string{
		`=HYPERLINK("http://x","y")`, "+1", "-1", "@SUM(A1)", "\t=1", "＝1", " =1", "plain, \"quoted\"", `<img src=x onerror="alert(1)">`, "多行\n=1",
	}
	for _, text := range hostile {
		f.wonder(text, "")
	}
	f.endAs(chat.Normal, chat.RouteAgent, "")
	a := f.admin("GET", "tickets.csv?tenant=shop", nil)
	rows, err := csv.NewReader(strings.NewReader(string(a.raw))).ReadAll()
	must(t, err)
	if a.status != 200 || len(rows) != len(hostile)+1 || !strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment") || a.header.Get("Content-Type") != "text/csv; charset=utf-8" {
		t.Fatalf("%d %v, %d rows", a.status, a.header, len(rows))
	}
	slices.Reverse(hostile)
	message := slices.Index(exportColumns, "message")
	for i, row := range rows[1:] {
		if got := strings.TrimPrefix(row[message], "'"); got != strings.TrimSpace(hostile[i]) && got != hostile[i] {
			t.Errorf("row %d: %q, want %q", i, got, hostile[i])
		}
		for _, c := range row {
			if strings.IndexAny(strings.TrimLeft(c, " \t"), "=+-@＝") == 0 {
				t.Errorf("a formula: %q", c)
			}
		}
	}
}
