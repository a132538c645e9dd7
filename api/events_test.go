package api

import (
	"net/http"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

func seqs(a answer) []uint64 {
	found := []uint64{}
	events, _ := a.json["events"].([]any)
	for _, e := range events {
		found = append(found, uint64(e.(map[string]any)["seq"].(float64)))
	}
	return found
}

func TestEventsAreReadInOrderAndAwaited(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	const path = "/v1/sessions/s1/events"
	if a := f.call("GET", path, f.demo.Secret, nil); a.status != 404 {
		t.Errorf("unknown session: %d %s", a.status, a.raw)
	}
	f.submit(map[string]any{"message": "hello", "session_id": "s1"})
	if a := f.call("GET", path+"?wait=60s", f.demo.Secret, nil); len(seqs(a)) != 1 || a.json["head"] != float64(1) {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	waiting := f.slowly("GET", path+"?after=1&wait=60s", f.demo.Secret)
	f.listening("demo", "s1", 1)
	job, s := f.take(chat.High)
	f.end(job, s)
	a := <-waiting
	if got := seqs(a); len(got) != 1 || got[0] != 2 {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	event := a.json["events"].([]any)[0].(map[string]any)
	if event["who"] != "bot" || event["status"] != "answered" || event["text"] != "It is on its way." {
		t.Errorf("%s", a.raw)
	}
	if a := f.call("GET", path, f.demo.Secret, nil); len(seqs(a)) != 2 {
		t.Errorf("all: %s", a.raw)
	}
	if a := f.call("GET", path+"?after=2&wait=10ms", f.demo.Secret, nil); a.status != 200 || len(seqs(a)) != 0 {
		t.Errorf("none: %d %s", a.status, a.raw)
	}
	if a := f.call("GET", path+"?after=99&wait=60s", f.demo.Secret, nil); len(seqs(a)) != 2 || a.json["recovered"] != false {
		t.Errorf("after what never was: %d %s", a.status, a.raw)
	}
	if a := f.call("GET", path, f.shop.Secret, nil); a.status != 404 {
		t.Errorf("another tenant's session of that name: %d %s", a.status, a.raw)
	}
}

func TestBadEventRequests(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for path, status := range map[string]int{
		"s1/events?after=-1": 400, "s1/events?after=x": 400, "s1/events?after=18446744073709551616": 400,
		"s1/events?wait=2m": 400, "s1/events?limit=5": 400,
		"%00/events": 404, "a.b/events": 404, "*/events": 404, "%3E/events": 404, "a%20b/events": 404,
	} {
		a := f.call("GET", "/v1/sessions/"+path, f.demo.Secret, nil)
		if a.status != status {
			t.Errorf("%s: %d %s", path, a.status, a.raw)
		}
	}
}

func TestSessionTokenOpensItsEventsOnly(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	f.submit(map[string]any{"message": "hello", "session_id": "s1"})
	f.submit(map[string]any{"message": "hello", "session_id": "s2"})
	token, hash := newSessionToken("demo")
	_, err := f.queue.ChangeSession(t.Context(), "demo", "s1", func(s *queue.Session) bool { s.TokenHash = hash; return true })
	must(t, err)
	if a := f.call("GET", "/v1/sessions/s1/events", token, nil); a.status != http.StatusOK || len(seqs(a)) != 1 {
		t.Errorf("%d %s", a.status, a.raw)
	}
	stranger, _ := newSessionToken("demo")
	elsewhere, _ := newSessionToken("nobody")
	for name, a := range map[string]answer{
		"another session": f.call("GET", "/v1/sessions/s2/events", token, nil),
		"no session":      f.call("GET", "/v1/sessions/s3/events", token, nil),
		"bad session":     f.call("GET", "/v1/sessions/*/events", token, nil),
		"another token":   f.call("GET", "/v1/sessions/s1/events", stranger, nil),
		"another tenant":  f.call("GET", "/v1/sessions/s1/events", elsewhere, nil),
		"tickets":         f.call("GET", "/v1/tickets/"+chat.NewTicketID(), token, nil),
		"publishable":     f.call("GET", "/v1/sessions/s1/events", f.demo.Publishable, nil),
	} {
		t.Run(name, func(t *testing.T) { refused(t, a, http.StatusUnauthorized, "unauthorized") })
	}
}

func TestPagesOfAnyOriginMayPoll(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	a := f.call("OPTIONS", "/v1/sessions/s1/events", "", nil, "Origin", "https://shop.example",
		"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization")
	if a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Access-Control-Allow-Headers") != "Authorization" {
		t.Errorf("%d %v", a.status, a.header)
	}
	if a := f.call("GET", "/v1/sessions/s1/events", f.demo.Secret, nil); a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v", a.header)
	}
	if a := f.call("GET", "/v1/tickets/x", f.demo.Secret, nil); a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v", a.header)
	}
}

func TestHistoryFillsTheGapOfExpiredEvents(t *testing.T) {
	t.Parallel()
	old := []chat.Event{{Seq: 1, Text: "old"}, {Seq: 2, Text: "old"}, {Seq: 3, Text: "both"}}
	kept := Events{Events: []chat.Event{{Seq: 3, Text: "kept"}, {Seq: 4, Text: "kept"}}, Head: 4}
	for name, c := range map[string]struct {
		old   []chat.Event
		after uint64
		want  []string
		whole bool
	}{
		"whole":      {old, 0, []string{"old", "old", "kept", "kept"}, true},
		"after one":  {old, 1, []string{"old", "kept", "kept"}, true},
		"with a gap": {old[:1], 0, []string{"old", "kept", "kept"}, false},
		"nothing":    {nil, 0, []string{"kept", "kept"}, false},
	} {
		a := &API{deps: Deps{History: shelf{events: c.old}}}
		got, err := a.older(t.Context(), talk{"demo", "s1"}, c.after, kept)
		must(t, err)
		if len(got.Events) != len(c.want) || got.Recovered != c.whole || got.Head != 4 {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i, e := range got.Events {
			if e.Text != c.want[i] {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

func TestListenerThatFallsBehindIsClosedAndKnowsIt(t *testing.T) {
	t.Parallel()
	h := newHub(nil)
	slow, quick := h.listen("demo", "s1", 1), h.listen("demo", "s1", 4)
	other := h.listen("demo", "s2", 1)
	for seq := range uint64(3) {
		h.give(talk{"demo", "s1"}, item{Event: &chat.Event{Seq: seq + 1}})
	}
	<-slow.Bell
	if items, open := slow.take(); open || len(items) != 1 || items[0].Event.Seq != 1 || !slow.overflowed() {
		t.Errorf("the slow listener has %v, open: %v", items, open)
	}
	<-quick.Bell
	items, open := quick.take()
	if !open || quick.overflowed() || len(items) != 3 || items[2].Event.Seq != 3 {
		t.Errorf("the quick listener has %v, open: %v", items, open)
	}
	if items, open := other.take(); !open || len(items) != 0 {
		t.Errorf("the other session's listener has %v, open: %v", items, open)
	}
	slow.close()
	quick.close()
	quick.close()
	if quick.overflowed() {
		t.Error("closed by itself, and marked")
	}
	h.end()
	<-other.Bell
	if _, open := other.take(); open || !other.overflowed() {
		t.Error("open after the hub's end")
	}
	if late := h.listen("demo", "s1", 1); !late.overflowed() {
		t.Error("opened after the hub's end")
	}
	if len(h.listeners) != 0 {
		t.Errorf("left: %v", h.listeners)
	}
}

func TestLocksAreFreedAndGivenUp(t *testing.T) {
	t.Parallel()
	ls := newLocks()
	unlock, err := ls.lock(t.Context(), "a")
	must(t, err)
	free, err := ls.lock(t.Context(), "b")
	must(t, err)
	free()
	got := make(chan func(), 1)
	go func() {
		next, _ := ls.lock(t.Context(), "a")
		got <- next
	}()
	select {
	case <-got:
		t.Error("locked twice")
	case <-time.After(5 * time.Millisecond):
	}
	unlock()
	(<-got)()
	if len(ls.held) != 0 {
		t.Errorf("left: %v", ls.held)
	}
}
