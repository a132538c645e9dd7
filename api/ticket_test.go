package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// shelf is a history that holds one ticket and some events, or is away.
type shelf struct {
	away   error
	ticket chat.Ticket
	events []chat.Event
}

func (s shelf) Ticket(_ context.Context, tenant, id string) (json.RawMessage, error) {
	if s.away != nil || s.ticket.ID != id || s.ticket.Tenant != tenant {
		return nil, fmt.Errorf("ticket %s: %w", id, or(s.away, queue.ErrNotFound))
	}
	return json.Marshal(s.ticket)
}

func (s shelf) Events(_ context.Context, _, _ string, after uint64, _ int) ([]chat.Event, error) {
	var found []chat.Event
	for _, e := range s.events {
		if e.Seq > after {
			found = append(found, e)
		}
	}
	return found, s.away
}

func (s shelf) TicketOf(ctx context.Context, id string) (json.RawMessage, error) {
	return s.Ticket(ctx, s.ticket.Tenant, id)
}

func (s shelf) Search(context.Context, chat.TicketFilter, chat.TicketMark, int) ([]json.RawMessage, error) {
	return nil, s.away
}

func (s shelf) Marks(context.Context, chat.TicketFilter, chat.TicketMark, int) ([]chat.TicketMark, error) {
	return nil, s.away
}

func withHistory(s shelf) func(*Deps, *Config, *queue.Config) {
	return func(d *Deps, _ *Config, _ *queue.Config) { d.History = s }
}

// slowly calls in the background; the answer comes on the channel.
func (f *fixture) slowly(method, path, key string) <-chan answer {
	done := make(chan answer, 1)
	go func() { done <- f.call(method, path, key, nil) }()
	return done
}

// listening returns once n listeners hear a session.
func (f *fixture) listening(tenant, session string, n int) {
	f.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		f.hub.mu.Lock()
		found := len(f.hub.listeners[talk{tenant, session}])
		f.hub.mu.Unlock()
		if found == n {
			return
		}
		if f.t.Context().Err() != nil {
			f.t.Fatal("nobody listens")
		}
	}
}

func TestLongPollReturnsAtTheFinalEvent(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	id := f.submit(map[string]any{"message": "hello", "session_id": "s1"}).text("ticket_id")
	path := "/v1/tickets/" + id
	if a := f.call("GET", path, f.demo.Secret, nil); a.text("status") != "queued" || a.json["position"] != float64(3) {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	began := time.Now()
	waiting := f.slowly("GET", path+"?wait=60s", f.demo.Secret)
	f.listening("demo", "s1", 1)
	job, s := f.take(chat.High)
	must(t, f.queue.SendDelta("demo", "s1", chat.Delta{Ticket: id, Attempt: 1, Text: "It"}))
	f.end(job, s)
	a := <-waiting
	if a.status != http.StatusOK || a.text("status") != "answered" || time.Since(began) > 20*time.Second {
		t.Fatalf("%d %s after %s", a.status, a.raw, time.Since(began))
	}
	reply := a.json["reply"].(map[string]any)
	if reply["text"] != "It is on its way." || a.text("route") != "agent" || a.json["attempts"] != float64(1) {
		t.Errorf("%s", a.raw)
	}
	for _, absent := range []string{"position", "eta_ms", "message", "tenant", "phone", "accepting"} {
		if _, found := a.json[absent]; found {
			t.Errorf("%s is shown", absent)
		}
	}
	if again := f.call("GET", path+"?wait=60s", f.demo.Secret, nil); again.text("status") != "answered" {
		t.Errorf("%d %s", again.status, again.raw)
	}
}

func TestLongPollEndsInTimeAndAtTheStop(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	id := f.submit(map[string]any{"message": "hello", "session_id": "s1"}).text("ticket_id")
	if a := f.call("GET", "/v1/tickets/"+id+"?wait=10ms", f.demo.Secret, nil); a.status != 200 || a.text("status") != "queued" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	waiting := f.slowly("GET", "/v1/tickets/"+id+"?wait=60s", f.demo.Secret)
	f.listening("demo", "s1", 1)
	f.stop()
	if a := <-waiting; a.status != http.StatusOK || a.text("status") != "queued" {
		t.Errorf("at the stop: %d %s", a.status, a.raw)
	}
}

func TestLongPollsAreBounded(t *testing.T) {
	t.Parallel()
	f := setup(t, func(_ *Deps, c *Config, _ *queue.Config) { c.Polls = 1 })
	id := f.submit(map[string]any{"message": "hello", "session_id": "s1"}).text("ticket_id")
	waiting := f.slowly("GET", "/v1/tickets/"+id+"?wait=60s", f.demo.Secret)
	f.listening("demo", "s1", 1)
	refused(t, f.call("GET", "/v1/tickets/"+id+"?wait=1s", f.demo.Secret, nil), http.StatusTooManyRequests, "too_many_polls")
	refused(t, f.call("GET", "/v1/sessions/s1/events?after=1&wait=1s", f.demo.Secret, nil), http.StatusTooManyRequests, "too_many_polls")
	if a := f.call("GET", "/v1/tickets/"+id, f.demo.Secret, nil); a.status != http.StatusOK {
		t.Errorf("without wait: %d %s", a.status, a.raw)
	}
	job, s := f.take(chat.High)
	f.end(job, s)
	<-waiting
}

func TestCancelEndsTheTicketOnce(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	path := "/v1/tickets/" + f.submit(map[string]any{"message": "hello"}).text("ticket_id")
	refused(t, f.call("DELETE", path, f.shop.Secret, nil), http.StatusNotFound, "not_found")
	a := f.call("DELETE", path, f.demo.Secret, nil)
	if a.status != http.StatusOK || a.text("status") != "cancelled" || a.text("reason") != "customer" || a.json["queued_ms"] != nil {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	if n, err := f.queue.Depth(t.Context(), chat.High); err != nil || n != 0 {
		t.Errorf("depth %d, %v", n, err)
	}
	refused(t, f.call("DELETE", path, f.demo.Secret, nil), http.StatusConflict, "ended")
	running := "/v1/tickets/" + f.submit(map[string]any{"message": "bye"}).text("ticket_id")
	f.take(chat.High)
	if a := f.call("DELETE", running, f.demo.Secret, nil); a.status != http.StatusOK || a.text("status") != "cancelled" {
		t.Errorf("running: %d %s", a.status, a.raw)
	}
}

func TestATicketThatDoesWhatCannotBeUndoneIsNotCancelled(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	path := "/v1/tickets/" + f.submit(map[string]any{"message": "yes"}).text("ticket_id")
	_, s := f.take(chat.High)
	if _, err := f.queue.Commit(t.Context(), s, chat.Deed{Tool: "refund_request", Order: "MH1"}); err != nil {
		t.Fatal(err)
	}
	refused(t, f.call("DELETE", path, f.demo.Secret, nil), http.StatusConflict, "in_effect")
}

func TestTicketsOfOthersAndBadIDsAreNotFound(t *testing.T) {
	t.Parallel()
	old := chat.Ticket{ID: chat.NewTicketID(), Tenant: "demo", Session: "s0", Status: chat.Answered, Lane: chat.Low}
	f := setup(t, withHistory(shelf{ticket: old}))
	id := f.submit(map[string]any{"message": "hello"}).text("ticket_id")
	for _, method := range []string{"GET", "DELETE"} {
		for name, path := range map[string]string{
			"another tenant's":             id,
			"nobody's":                     chat.NewTicketID(),
			"another tenant's, in history": old.ID,
			"NUL":                          "t_%00",
			"wildcard":                     "*",
			"greater than":                 "%3E",
			"dots":                         "..%2F..",
			"dot":                          "t_.A",
			"bad UTF-8":                    "%FF%FE",
			"lower case":                   strings.ToLower(id),
			"long":                         strings.Repeat("A", 4000),
			"line end":                     id + "%0A",
		} {
			a := f.call(method, "/v1/tickets/"+path, f.shop.Secret, nil)
			if a.status != http.StatusNotFound {
				t.Errorf("%s %s: %d %s", method, name, a.status, a.raw)
				continue
			}
			refused(t, a, http.StatusNotFound, "not_found")
		}
	}
	for _, wait := range []string{"61s", "-1s", "soon", "20"} {
		refused(t, f.call("GET", "/v1/tickets/"+id+"?wait="+wait, f.demo.Secret, nil), http.StatusBadRequest, "invalid")
	}
	refused(t, f.call("GET", "/v1/tickets/"+id+"?wiat=1s", f.demo.Secret, nil), http.StatusBadRequest, "invalid")
	refused(t, f.call("GET", "/v1/tickets/"+id, "", nil), http.StatusUnauthorized, "unauthorized")
}

func TestOldTicketsComeFromHistory(t *testing.T) {
	t.Parallel()
	at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	old := chat.Ticket{ID: chat.NewTicketID(), Tenant: "demo", Session: "s0", Status: chat.Answered, Lane: chat.Low, AcceptedAt: at, EndedAt: &at}
	f := setup(t, withHistory(shelf{ticket: old}))
	a := f.call("GET", "/v1/tickets/"+old.ID+"?wait=1s", f.demo.Secret, nil)
	if a.status != http.StatusOK || a.text("status") != "answered" || a.text("accepted_at") != "2025-01-02T03:04:05Z" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	refused(t, f.call("DELETE", "/v1/tickets/"+old.ID, f.demo.Secret, nil), http.StatusConflict, "ended")
}

func TestMissingHistoryIsNeverNotFound(t *testing.T) {
	t.Parallel()
	f := setup(t, withHistory(shelf{away: errors.New("connect: refused")}))
	a := f.call("GET", "/v1/tickets/"+chat.NewTicketID(), f.demo.Secret, nil)
	refused(t, a, http.StatusServiceUnavailable, "history_unavailable")
	if strings.Contains(string(a.raw), "connect") {
		t.Errorf("the cause is shown: %s", a.raw)
	}
}
