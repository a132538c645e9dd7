package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// bulk reads a bulk action that must be there.
func (f *fixture) bulk(id string) Bulk {
	f.t.Helper()
	var b Bulk
	a := f.admin("GET", "bulk/"+id, nil)
	if a.status != 200 {
		f.t.Fatalf("%d %s", a.status, a.raw)
	}
	must(f.t, json.Unmarshal(a.raw, &b))
	return b
}

// ended waits for the end of a bulk action.
func (f *fixture) ended(id string) Bulk {
	f.t.Helper()
	f.await("the end of the bulk action", func() bool { return f.bulk(id).State != queue.BulkRunning })
	return f.bulk(id)
}

func TestABulkCancelEndsWhatIsOpenAndMatches(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	var ids []string
	for i := range 70 { // more than one step
		ids = append(ids, f.wonder(fmt.Sprint("please ", i), ""))
	}
	other := f.submit(map[string]any{"message": "another tenant's"}).text("ticket_id")
	wish := with(map[string]any{"action": "cancel", "filter": map[string]any{"tenant": "shop"}})
	wish["dry_run"] = true
	if a := f.admin("POST", "bulk", wish); a.status != 200 || a.json["matched"] != 70.0 || a.json["dry_run"] != true || a.json["id"] != nil {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	if _, s := f.take(chat.Normal); s.ID != ids[0] {
		t.Fatal("another one runs")
	}
	f.endAs(chat.Normal, chat.RouteAgent, "")
	delete(wish, "dry_run")
	a := f.admin("POST", "bulk", wish)
	if a.status != 202 || a.json["matched"] != 69.0 || a.text("state") != "running" {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	late := f.wonder("after the wish", "")
	b := f.ended(a.text("id"))
	if b.State != queue.BulkDone || b.Done != 69 || b.Skipped != 0 || b.Failed != 0 || len(b.Errors) != 0 || b.EndedAt == nil || b.Actor != "admin" {
		t.Errorf("%+v", b)
	}
	for _, open := range []string{other, late} {
		if s, err := f.queue.Ticket(t.Context(), open); err != nil || s.Status != chat.Queued {
			t.Errorf("%s is %s (%v)", open, s.Status, err)
		}
	}
	for i, id := range ids {
		s, err := f.queue.Ticket(t.Context(), id)
		if ended := i == 1; err != nil || (s.Status == chat.Cancelled) == ended || !ended && s.Reason != chat.ReasonOperator {
			t.Errorf("ticket %d is %s %s (%v)", i, s.Status, s.Reason, err)
		}
	}
	refused(t, f.admin("POST", "bulk/"+b.ID+"/stop", why), 409, "ended")
	refused(t, f.admin("GET", "bulk/nobody", nil), 404, "not_found")
	for name, body := range map[string]map[string]any{
		"no filter":      with(map[string]any{"action": "cancel", "filter": map[string]any{}}),
		"no such action": with(map[string]any{"action": "delete", "filter": map[string]any{"tenant": "shop"}}),
		"unknown field":  with(map[string]any{"action": "cancel", "filter": map[string]any{"cat": "shop"}}),
		"no reason":      {"action": "cancel", "filter": map[string]any{"tenant": "shop"}},
		"an id":          with(map[string]any{"action": "cancel", "filter": map[string]any{"id": other}}),
	} {
		if a := f.admin("POST", "bulk", body); a.status != 400 {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	entries, err := f.queue.Audits(t.Context(), 0, 10)
	if err != nil || len(entries) < 2 || entries[1].Action != "bulk.cancel" && entries[2].Action != "bulk.cancel" {
		t.Errorf("audit %+v (%v)", entries, err)
	}
}

func TestABulkRequeueOutlivesItsProcessAndDoesNothingTwice(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2)
	one, two := all[0], all[1]
	recorded(t, two)
	one.deps.History = two.deps.History
	var ids []string
	for i := range 8 {
		one.wonder(fmt.Sprint("please ", i), "")
		ids = append(ids, one.endAs(chat.Normal, chat.RouteTemplate, chat.ReasonOverdue))
	}
	one.settled()
	// What a process leaves that dies in the middle: four tickets in hand, two of them requeued,
	// nothing of it counted.
	slices.Reverse(ids)
	now := time.Now().UTC()
	for _, id := range ids[:2] {
		ended, err := one.anyTicket(t.Context(), id)
		must(t, err)
		_, _, err = one.intake.requeueEnded(t.Context(), ended)
		must(t, err)
	}
	last, err := one.anyTicket(t.Context(), ids[3])
	must(t, err)
	b, err := one.queue.AddBulk(t.Context(), queue.Bulk{
		ID: "bulk_of_the_dead", Action: queue.BulkRequeue, Actor: "admin", Reason: "a test", At: now, State: queue.BulkRunning, Holder: "dead",
		Filter:  chat.TicketFilter{Tenant: "shop", Route: chat.RouteTemplate, To: now, Life: chat.LifeEnded},
		Matched: 8, Step: ids[:4], Cursor: chat.MarkOf(&last),
	})
	must(t, err)
	got := two.ended(b.ID)
	if got.State != queue.BulkDone || got.Done != 8 || got.Skipped != 0 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
	if n, err := two.queue.Depth(t.Context(), chat.Normal); err != nil || n != 8 {
		t.Errorf("%d tickets wait (%v), want each once", n, err)
	}
	again, _ := two.found("state=queued", 200)
	for _, id := range again {
		s, err := two.queue.Ticket(t.Context(), id)
		if err != nil || !slices.Contains(ids, s.RetryOf) {
			t.Errorf("%s asks %s again (%v)", id, s.RetryOf, err)
		}
	}
	// A filter of the same again finds what is there now, and each has been requeued before.
	a := two.admin("POST", "bulk", with(map[string]any{"action": "requeue", "filter": map[string]any{"state": "answered"}}))
	if b := two.ended(a.text("id")); b.Done != 0 || b.Skipped != 8 || b.Matched != 8 {
		t.Errorf("%+v", b)
	}
	if n, err := two.queue.Depth(t.Context(), chat.Normal); err != nil || n != 8 {
		t.Errorf("%d tickets wait (%v), want no more than before", n, err)
	}
}

func TestABulkActionWaitsForRoomAndStopsAtAWord(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	recorded(t, f)
	f.wonder("please", "")
	f.endAs(chat.Normal, chat.RouteTemplate, chat.ReasonOverdue)
	f.settled()
	f.admin("POST", "lanes/normal/drain", why)
	f.await("the drain", func() bool { return f.deps.Lanes.State(chat.Normal) == chat.LaneDraining })
	wish := with(map[string]any{"action": "requeue", "filter": map[string]any{"tenant": "shop"}})
	var running []string
	for range queue.MaxBulks {
		running = append(running, f.admin("POST", "bulk", wish).text("id"))
	}
	refused(t, f.admin("POST", "bulk", wish), 429, "rate_limited")
	f.await("a wait", func() bool { return f.bulk(running[0]).Waits == "draining" })
	a := f.admin("POST", "bulk/"+running[0]+"/stop", why)
	if a.status != 200 || a.text("state") != "stopped" || a.json["done"] != 0.0 {
		t.Errorf("%d %s", a.status, a.raw)
	}
	f.admin("POST", "lanes/normal/undrain", why)
	done := 0
	for _, id := range running[1:] {
		b := f.ended(id)
		if done += b.Done; b.State != queue.BulkDone || b.Done+b.Skipped != 1 || b.Failed != 0 {
			t.Errorf("%+v", b)
		}
	}
	if done != 1 {
		t.Errorf("%d of the actions say that they requeued it, want one", done)
	}
	if n, err := f.queue.Depth(t.Context(), chat.Normal); err != nil || n != 1 {
		t.Errorf("%d tickets wait (%v), want one for all of them", n, err)
	}
	list := f.admin("GET", "bulk", nil)
	if got, _ := list.json["bulk"].([]any); len(got) != queue.MaxBulks {
		t.Errorf("%s", list.raw)
	}
}
