package ledger_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/ledger"
	"sluice/internal/ledger/ledgertest"
)

func TestRecordKeepsEveryField(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(t)
	ended := noon.Add(3 * time.Second)
	row := ledger.TicketRow{
		Tenant: "demo", ID: "t_1", Rev: math.MaxInt64, Session: "s_1", Lane: "high", Status: "answered",
		Intent: "complaint", Urgent: true, Route: "agent", Level: 2, Reason: "level", Vendor: "a", Model: "model-l",
		Attempts: 3, PromptTokens: 1200, CompletionTokens: 80, QueuedMs: 500, HandledMs: 2500,
		AcceptedAt: noon, EndedAt: &ended, Body: json.RawMessage(`{"reply": {"text": "你好 <b>"}}`),
	}
	talk := event(7, noon)
	record(t, l, []ledger.TicketRow{row}, []ledger.EventRow{talk})

	got, err := l.Ticket(t.Context(), "demo", "t_1")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, row) {
		t.Errorf("ticket\n got %+v\nwant %+v", got, row)
	}
	events, err := l.Events(t.Context(), "demo", "s_1", 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(events, []ledger.EventRow{talk}) {
		t.Errorf("events\n got %+v\nwant %+v", events, talk)
	}
}

func TestRecordKeepsTheHighestRevision(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(t)
	check := func(id string, want uint64) {
		t.Helper()
		got, err := l.Ticket(t.Context(), "demo", id)
		if err != nil || got.Rev != want {
			t.Errorf("%s has revision %d, %v; want %d", id, got.Rev, err, want)
		}
	}
	batch := []ledger.TicketRow{ticket("t_1", 3), ticket("t_2", 1), ticket("t_1", 5), ticket("t_1", 4), ticket("t_1", 5)}
	record(t, l, batch, nil)
	check("t_1", 5)
	check("t_2", 1)
	record(t, l, []ledger.TicketRow{ticket("t_1", 4), ticket("t_2", 2)}, nil) // one older, one newer
	check("t_1", 5)
	check("t_2", 2)
	record(t, l, batch, nil) // redelivered
	check("t_1", 5)
	check("t_2", 2)
	if batch[0].Rev != 3 {
		t.Error("the caller's rows were reordered")
	}
}

func TestRecordAnyOrderIsTheSame(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(t)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		session := fmt.Sprintf("s_%d", run)
		latest, talked := map[string]uint64{}, map[uint64]bool{}
		for range rapid.IntRange(1, 4).Draw(rt, "batches") {
			var tickets []ledger.TicketRow
			for range rapid.IntRange(0, 6).Draw(rt, "tickets") {
				row := ticket(fmt.Sprintf("t_%d_%d", run, rapid.IntRange(1, 3).Draw(rt, "id")), rapid.Uint64Range(0, 5).Draw(rt, "rev"))
				latest[row.ID] = max(latest[row.ID], row.Rev)
				tickets = append(tickets, row)
			}
			var events []ledger.EventRow
			for range rapid.IntRange(0, 6).Draw(rt, "events") {
				row := event(rapid.Uint64Range(1, 9).Draw(rt, "seq"), noon)
				row.Session = session
				talked[row.Seq] = true
				events = append(events, row)
			}
			if err := l.Record(t.Context(), tickets, events); err != nil {
				rt.Fatal(err)
			}
		}
		for id, rev := range latest {
			if got, err := l.Ticket(t.Context(), "demo", id); err != nil || got.Rev != rev {
				rt.Fatalf("%s has revision %d, %v; want %d", id, got.Rev, err, rev)
			}
		}
		got, err := l.Events(t.Context(), "demo", session, 0, 100)
		if err != nil || len(got) != len(talked) {
			rt.Fatalf("%d events, %v; want %d", len(got), err, len(talked))
		}
	})
}

func TestRecordByManyRecordersAtOnce(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(t)
	var wait sync.WaitGroup
	for rev := uint64(1); rev <= 8; rev++ {
		wait.Go(func() {
			var tickets []ledger.TicketRow
			for i := range 50 {
				tickets = append(tickets, ticket(fmt.Sprintf("t_%d", i), rev))
			}
			if rev%2 == 0 { // each half meets the other's rows from the far end
				slices.Reverse(tickets)
			}
			if err := l.Record(t.Context(), tickets, []ledger.EventRow{event(1, noon), event(2, noon)}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for i := range 50 {
		if got, err := l.Ticket(t.Context(), "demo", fmt.Sprintf("t_%d", i)); err != nil || got.Rev != 8 {
			t.Errorf("t_%d has revision %d, %v; want 8", i, got.Rev, err)
		}
	}
}

func TestRecordTakesWhatPostgresRefuses(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(t)
	row := ticket("t_1", 1)
	row.Reason = "a\x00b\xff"
	row.Body = json.RawMessage(`{"nul":"a\u0000b","half":"\ud83d","pair":"\ud83d\ude00","path":"C:\\u0000","n":12345678901234567890123,` +
		`"bad":"` + "\xff" + `"}`)
	record(t, l, []ledger.TicketRow{row}, nil)
	got, err := l.Ticket(t.Context(), "demo", "t_1")
	if err != nil {
		t.Fatal(err)
	}
	if got.Reason != "ab\uFFFD" {
		t.Errorf("reason %q", got.Reason)
	}
	var body map[string]any
	if err := json.Unmarshal(got.Body, &body); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"nul": "ab", "half": "\uFFFD", "pair": "😀", "path": `C:\u0000`, "bad": "\uFFFD"} {
		if body[key] != want {
			t.Errorf("%s is %q, want %q", key, body[key], want)
		}
	}
	if !strings.Contains(string(got.Body), "12345678901234567890123") {
		t.Errorf("a long number lost digits: %s", got.Body)
	}
}

func TestRecordBlamesTheRow(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(t)
	for name, spoil := range map[string]func(*ledger.TicketRow){
		"no JSON":         func(r *ledger.TicketRow) { r.Body = json.RawMessage(`{"a":`) },
		"empty body":      func(r *ledger.TicketRow) { r.Body = nil },
		"huge number":     func(r *ledger.TicketRow) { r.Body = json.RawMessage(`1e400000`) },
		"no tenant":       func(r *ledger.TicketRow) { r.Tenant = "" },
		"no id":           func(r *ledger.TicketRow) { r.ID = "\x00" },
		"huge revision":   func(r *ledger.TicketRow) { r.Rev = math.MaxUint64 },
		"no time":         func(r *ledger.TicketRow) { r.AcceptedAt = time.Time{} },
		"huge level":      func(r *ledger.TicketRow) { r.Level = 1 << 20 },
		"key out of size": func(r *ledger.TicketRow) { r.Session = incompressible(20_000) },
	} {
		poison := ticket("t_poison", 1)
		spoil(&poison)
		err := l.Record(t.Context(), []ledger.TicketRow{ticket("t_good", 1), poison}, []ledger.EventRow{event(1, noon)})
		if !ledger.IsData(err) {
			t.Errorf("%s: %v is not the row's fault", name, err)
		}
	}
	late := event(2, time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC))
	if err := l.Record(t.Context(), nil, []ledger.EventRow{late}); !ledger.IsData(err) {
		t.Errorf("event out of time: %v", err)
	}
	// Of a refused call nothing stays.
	if _, err := l.Ticket(t.Context(), "demo", "t_good"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("a ticket of a refused call: %v", err)
	}
	if got := seqs(t, l, 0, 10); len(got) != 0 {
		t.Errorf("events %v of refused calls", got)
	}
}

func incompressible(n int) string {
	var out strings.Builder
	for x := uint64(88172645463325252); out.Len() < n; {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		fmt.Fprintf(&out, "%x", x)
	}
	return out.String()[:n]
}

func TestRecordOfNothingNeedsNoDatabase(t *testing.T) {
	t.Parallel()
	if err := openAt(t, "postgres://nobody@127.0.0.1:1/none").Record(t.Context(), nil, nil); err != nil {
		t.Error(err)
	}
}

func BenchmarkRecord500(b *testing.B) {
	l := ledgertest.New(b)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		var tickets []ledger.TicketRow
		var events []ledger.EventRow
		for range 500 {
			n++
			tickets = append(tickets, ticket(fmt.Sprintf("t_%d", n/5), uint64(n)))
			events = append(events, event(uint64(n), noon))
		}
		if err := l.Record(b.Context(), tickets, events); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
}
