package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
)

// handedOver answers a message of demo's so that people are asked to take its session over.
func (f *fixture) handedOver(session string) (ticket string) {
	f.t.Helper()
	f.submit(map[string]any{"message": "a person, please", "session_id": session})
	job, s := f.take(chat.High)
	s.Answer(chat.Answer{
		Reply: chat.Reply{Text: "I ask a colleague.", HTML: "<p>I ask a colleague.</p>", Locale: "en"}, Route: chat.RouteAgent, Handoff: chat.HandoffTool,
	}, time.Now().UTC())
	_, err := f.queue.End(f.t.Context(), job, s)
	must(f.t, err)
	return s.ID
}

func TestAPersonTakesASessionOverByHTTP(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	id := f.handedOver("talk")
	take, release, say := "handoffs/"+id+"/take", "handoffs/"+id+"/release", "sessions/demo/talk/messages"
	hello := map[string]any{"text": "Ann here: <b>one</b> moment.", "cmid": "m1"}
	refused(t, f.admin("POST", say, hello), http.StatusConflict, codeNotTaken)

	open := f.submit(map[string]any{"message": "and my order?", "session_id": "talk"}).text("ticket_id")
	taken := f.admin("POST", take, why)
	if taken.status != http.StatusOK || taken.text("owner") != "human" || taken.text("human") != "admin" || taken.text("session_id") != "talk" || taken.json["epoch"] != 2.0 {
		t.Fatalf("%d %s", taken.status, taken.raw)
	}
	if a := f.call("GET", "/v1/tickets/"+open, f.demo.Secret, nil); a.text("status") != "cancelled" || a.text("reason") != "human" {
		t.Errorf("what was open: %s", a.raw)
	}
	if again := f.admin("POST", take, why); again.status != http.StatusOK || again.json["epoch"] != 2.0 {
		t.Errorf("the same operator again: %d %s", again.status, again.raw)
	}
	token := f.admin("POST", "tokens", with(map[string]any{"name": "bob"})).text("token")
	refused(t, f.call("POST", "/admin/api/"+take, token, why), http.StatusConflict, codeTaken)

	refused(t, f.call("POST", "/admin/api/"+say, token, hello), http.StatusConflict, codeTaken)

	first := f.admin("POST", say, hello)
	if again := f.admin("POST", say, hello); first.status != http.StatusCreated || again.status != http.StatusCreated || again.json["seq"] != first.json["seq"] {
		t.Errorf("said: %d %s, then %s", first.status, first.raw, again.raw)
	}
	refused(t, f.admin("POST", say, map[string]any{"text": "Something else.", "cmid": "m1"}), http.StatusConflict, codeIdempotency)
	events, _, _, err := f.queue.Events(t.Context(), "demo", "talk", 0, 100)
	must(t, err)
	if last := events[len(events)-1]; last.Who != chat.ByHuman || last.Text != hello["text"] || last.HTML != "<p>Ann here: &lt;b&gt;one&lt;/b&gt; moment.</p>" || len(events) != 7 {
		t.Errorf("the session holds %d events, the last one %+v", len(events), last)
	}

	for range 2 {
		if a := f.admin("POST", release, why); a.status != http.StatusOK || a.text("owner") != "bot" || a.json["epoch"] != 2.0 || a.text("human") != "" {
			t.Errorf("release: %d %s", a.status, a.raw)
		}
	}
	refused(t, f.admin("POST", say, hello), http.StatusConflict, codeNotTaken)
	audit := string(f.admin("GET", "audit", nil).raw)
	if strings.Contains(audit, "moment") || strings.Count(audit, `"handoff.take"`) != 4 || strings.Count(audit, `"session.message"`) != 10 ||
		!strings.Contains(audit, `"actor":"token:bob"`) || strings.Count(audit, "not done: not_taken") != 2 || strings.Count(audit, "not done: taken") != 2 {
		t.Errorf("audit: %s", audit)
	}
}

func TestBadCallsOfATakeover(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	id := f.handedOver("talk")
	for path, body := range map[string]any{"handoffs/" + id + "/take": why, "handoffs/" + id + "/release": why, "sessions/demo/talk/messages": map[string]any{"text": "Hi"}} {
		refused(t, f.call("POST", "/admin/api/"+path, "", body), http.StatusUnauthorized, "unauthorized")
		refused(t, f.call("POST", "/admin/api/"+path, f.demo.Secret, body), http.StatusUnauthorized, "unauthorized")
		for _, wrong := range []any{map[string]any{}, map[string]any{"reason": "", "text": ""}, with(map[string]any{"text": "Hi", "colour": "red"}), "nonsense"} {
			refused(t, f.admin("POST", path, wrong), http.StatusBadRequest, "invalid")
		}
	}
	for _, path := range []string{"handoffs/" + chat.NewTicketID() + "/take", "handoffs/nobody/take", "handoffs/" + chat.NewTicketID() + "/release"} {
		refused(t, f.admin("POST", path, why), http.StatusNotFound, "not_found")
	}
	for _, path := range []string{"sessions/demo/nobody/messages", "sessions/demo/a.b/messages", "sessions/De%20mo/talk/messages"} {
		refused(t, f.admin("POST", path, map[string]any{"text": "Hi"}), http.StatusNotFound, "not_found")
	}
	refused(t, f.admin("POST", "sessions/demo/talk/messages", map[string]any{"text": strings.Repeat("x", 10_001)}), http.StatusBadRequest, "invalid")
	if rec, err := f.queue.Session(t.Context(), "demo", "talk"); err != nil || rec.Owner != "queue" || rec.Epoch != 1 {
		t.Errorf("after all that: %+v (%v)", rec, err)
	}
}
