package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// ndjson makes a batch of n lines, but for those that are replaced.
func ndjson(n int, replaced map[int]string) string {
	var b strings.Builder
	for line := 1; line <= n; line++ {
		text := replaced[line]
		if text == "" {
			text = fmt.Sprintf(`{"message":"Where is order %d?","custom_id":"c-%d"}`, line, line)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

func (f *fixture) sendBatch(body string, headers ...string) answer {
	f.t.Helper()
	return f.call("POST", "/v1/batches", f.demo.Secret, body, append([]string{"Content-Type", "application/x-ndjson"}, headers...)...)
}

// batch hands in a batch that must be accepted.
func (f *fixture) batch(body string, headers ...string) string {
	f.t.Helper()
	a := f.sendBatch(body, headers...)
	if a.status != http.StatusAccepted && a.status != http.StatusOK {
		f.t.Fatalf("batch: %d %s", a.status, a.raw)
	}
	return a.text("batch_id")
}

func (f *fixture) counts(id string) Batch {
	f.t.Helper()
	a := f.call("GET", "/v1/batches/"+id, f.demo.Secret, nil)
	var b Batch
	if err := json.Unmarshal(a.raw, &b); a.status != http.StatusOK || err != nil {
		f.t.Fatalf("get batch: %d %s", a.status, a.raw)
	}
	return b
}

// results reads the results after a line.
func (f *fixture) results(id string, after int) (all []Ticket) {
	f.t.Helper()
	a := f.call("GET", fmt.Sprintf("/v1/batches/%s/results?after=%d", id, after), f.demo.Secret, nil)
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/x-ndjson" {
		f.t.Fatalf("results: %d %s", a.status, a.raw)
	}
	in := bufio.NewScanner(bytes.NewReader(a.raw))
	for in.Scan() {
		var t Ticket
		must(f.t, json.Unmarshal(in.Bytes(), &t))
		all = append(all, t)
	}
	return all
}

// fed returns once so many lines of a batch have tickets.
func (f *fixture) fed(id string, lines int) {
	f.t.Helper()
	f.until("lines are fed", func() bool {
		b, err := f.queue.Batch(f.t.Context(), id)
		must(f.t, err)
		return b.Cursor >= lines
	})
}

func (f *fixture) until(what string, is func() bool) {
	f.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(20 * time.Second); !is(); <-tick.C {
		if time.Now().After(limit) {
			f.t.Fatal("not in time: ", what)
		}
	}
}

func TestABatchIsAnsweredLineByLine(t *testing.T) {
	t.Parallel()
	ended := make(chan queue.Batch, 4)
	f := setup(t, func(d *Deps, _ *Config, _ *queue.Config) {
		d.BatchEnded = func(_ context.Context, b queue.Batch) error { ended <- b; return nil }
	})
	id := f.batch(ndjson(3, map[int]string{2: `{"message":"Where is order 2?","custom_id":"c-2","metadata":{"shop":"north"}}`}))
	f.fed(id, 3)
	if b := f.counts(id); b.Status != chat.BatchInProgress || b.Total != 3 || b.Queued != 3 || b.ETAMS <= 0 || b.CompletedAt != nil {
		t.Errorf("at first: %+v", b)
	}
	stale, err := f.queue.Batch(t.Context(), id)
	must(t, err)
	first, one := f.take(chat.Batch)
	second, two := f.take(chat.Batch)
	if b := f.counts(id); b.Queued != 1 || b.Running != 2 {
		t.Errorf("two run: %+v", b)
	}
	f.end(second, two)
	if got := f.results(id, 0); len(got) != 0 {
		t.Errorf("results begin before their first line has ended: %+v", got)
	}
	f.end(first, one)
	got := f.results(id, 0)
	if len(got) != 2 || got[0].CustomID != "c-1" || got[1].CustomID != "c-2" || got[1].Line != 2 || got[0].Reply == nil || got[0].BatchID != id {
		t.Errorf("while it runs: %+v", got)
	} else if shown := f.call("GET", "/v1/tickets/"+got[1].TicketID, f.demo.Secret, nil); got[1].Metadata["shop"] != "north" || !strings.Contains(string(shown.raw), `"metadata":{"shop":"north"}`) {
		t.Errorf("line 2 comes back with %v; read by itself: %s", got[1].Metadata, shown.raw)
	}
	third, three := f.take(chat.Batch)
	f.end(third, three)
	b := f.counts(id)
	if b.Status != chat.BatchCompleted || b.Answered != 3 || b.Queued+b.Running+b.Failed+b.Cancelled != 0 || b.CompletedAt == nil || b.ETAMS != 0 {
		t.Errorf("at the end: %+v", b)
	}
	if rest := f.results(id, 2); len(rest) != 1 || rest[0].CustomID != "c-3" {
		t.Errorf("after line 2: %+v", rest)
	}
	if told := <-ended; told.ID != id || told.Before.Answered != 3 {
		t.Errorf("told of %+v", told)
	}
	refused(t, f.call("DELETE", "/v1/batches/"+id, f.demo.Secret, nil), http.StatusConflict, "ended")
	if events, _, _, err := f.queue.Events(t.Context(), "demo", got[0].SessionID, 0, 10); err != nil || len(events) != 0 {
		t.Errorf("a line has events: %v %v", events, err)
	}
	f.until("the batch is closed", func() bool {
		open, err := f.queue.OpenBatches(t.Context())
		return err == nil && len(open) == 0
	})
	if len(ended) != 0 {
		t.Error("it was told of twice")
	}
	if b, counts, err := f.queue.SettleBatch(t.Context(), stale, time.Now()); err != nil || b.EndedAt == nil || counts.Answered != 3 || counts.Queued != 0 {
		t.Errorf("counted by a reader who comes late: %+v, %+v (%v)", b, counts, err)
	}
	if b := f.counts(id); b.Status != chat.BatchCompleted || b.Answered != 3 {
		t.Errorf("once it is closed: %+v", b)
	}
}

func TestABadLineRefusesTheWholeBatch(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	bad := map[int]string{
		2: `{"message":""}`, 4: `{"message":"x","lane":"high"}`, 5: `nonsense`, 6: `{"message":"x","custom_id":"c-1"}`,
		7: "{\"message\":\"\xff\"}", 8: ` `, 9: `{"message":"x","colour":"red"}`, 10: `{"message":7}`,
		11: `{"message":"` + strings.Repeat("x", maxBody) + `"}`, 12: `{"message":"x","Message":"y"}`,
	}
	lines := make([]string, 12)
	for i := range lines {
		lines[i] = strings.TrimSuffix(ndjson(i+1, bad), "\n")[strings.LastIndex(strings.TrimSuffix(ndjson(i+1, bad), "\n"), "\n")+1:]
	}
	for form, body := range map[string]string{
		"lines": strings.Join(lines, "\n"),
		"items": `{"items": [` + strings.Join(lines, ",\n") + `]}`,
	} {
		a := f.sendBatch(body)
		refused(t, a, http.StatusBadRequest, "invalid")
		var p Problem
		must(t, json.Unmarshal(a.raw, &p))
		var at []int
		for _, fault := range p.Errors {
			at = append(at, fault.Line)
		}
		if fmt.Sprint(at) != "[2 4 5 6 7 8 9 10 11 12]" {
			t.Errorf("%s: lines %v are named: %s", form, at, a.raw)
		}
	}
	for name, body := range map[string]string{
		"nothing": "", "no items": `{"items":[]}`, "no end": `{"items":[{"message":"x"}`, "no end of the object": `{"items":[{"message":"x"}]`,
		"more": `{"items":[{"message":"x"}], "more": 1}`, "trailing comma": `{"items":[{"message":"x"},]}`,
	} {
		if a := f.sendBatch(body); a.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	refused(t, f.call("POST", "/v1/batches", f.demo.Secret, ndjson(1, nil), "Content-Type", "text/plain"), http.StatusUnsupportedMediaType, "unsupported_media_type")
	refused(t, f.call("POST", "/v1/batches", "", ndjson(1, nil)), http.StatusUnauthorized, "unauthorized")
	f.nothingSpooled()
	if open, err := f.queue.OpenBatches(t.Context()); err != nil || len(open) != 0 {
		t.Errorf("open: %v %v", open, err)
	}
}

// nothingSpooled asks the engine itself.
func (f *fixture) nothingSpooled() {
	f.t.Helper()
	f.until("the spool is empty", func() bool {
		msg, err := f.engine.Request("$JS.API.STREAM.INFO.SPOOL", nil, time.Second)
		var info struct{ State struct{ Messages int } }
		return err == nil && json.Unmarshal(msg.Data, &info) == nil && info.State.Messages == 0
	})
}

func TestTheSameKeyIsTheSameBatch(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	body := ndjson(2, nil)
	id := f.batch(body, "Idempotency-Key", "k1")
	items := `{"items":[` + strings.ReplaceAll(strings.TrimSpace(body), "\n", ",") + `]}`
	for _, again := range []string{body, items} {
		if a := f.sendBatch(again, "Idempotency-Key", "k1"); a.status != http.StatusOK || a.text("batch_id") != id || a.json["total"] != float64(2) {
			t.Errorf("again: %d %s", a.status, a.raw)
		}
	}
	refused(t, f.sendBatch(ndjson(3, nil), "Idempotency-Key", "k1"), http.StatusConflict, "idempotency_conflict")
	f.fed(id, 2)
	f.nothingSpooled()
	if n, err := f.queue.Depth(t.Context(), chat.Batch); err != nil || n != 2 {
		t.Errorf("depth %d (%v), want 2", n, err)
	}
	for _, path := range []string{"/v1/batches/" + id, "/v1/batches/" + id + "/results", "/v1/batches/b_.A", "/v1/batches/" + chat.NewBatchID()} {
		refused(t, f.call("GET", path, f.shop.Secret, nil), http.StatusNotFound, "not_found")
	}
	refused(t, f.call("DELETE", "/v1/batches/"+id, f.shop.Secret, nil), http.StatusNotFound, "not_found")
}

func TestACancelledBatchKeepsWhatHasEnded(t *testing.T) {
	t.Parallel()
	f := setup(t, func(_ *Deps, _ *Config, c *queue.Config) { c.Bounds[chat.Batch] = 4 })
	id := f.batch(ndjson(520, nil)) // two parts; the lane takes four
	f.fed(id, 4)
	job, s := f.take(chat.Batch)
	f.end(job, s)
	open := queue.Batch{Total: 520, Stop: chat.ReasonCustomer, CreatedAt: time.Now(), Deadline: time.Now().Add(time.Hour)}
	if eta := (&API{}).etaOf(&open, queue.LineCounts{Queued: 1}, time.Now()); eta <= 0 {
		t.Errorf("a line is open, and the batch ends in %s", eta)
	}
	a := f.call("DELETE", "/v1/batches/"+id, f.demo.Secret, nil)
	if a.status != http.StatusOK || a.text("status") != "cancelled" || a.json["cancelled"] != float64(519) || a.json["answered"] != float64(1) ||
		a.json["queued"] != float64(0) || a.json["completed_at"] == nil {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	got := f.results(id, 0)
	if len(got) != 520 {
		t.Fatalf("%d results", len(got))
	}
	for i, r := range got {
		want := chat.Cancelled
		if i == 0 {
			want = chat.Answered
		}
		if r.Line != i+1 || r.CustomID != fmt.Sprintf("c-%d", i+1) || r.Status != want {
			t.Fatalf("result %d: %+v", i, r)
		}
	}
	if n, err := f.queue.Depth(t.Context(), chat.Batch); err != nil || n != 0 {
		t.Errorf("depth %d (%v)", n, err)
	}
	f.nothingSpooled()
}
