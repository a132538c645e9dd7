package api

import (
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
)

// promised ends the ticket of a message with a promise, and returns both tickets' ids.
func (f *fixture) promised(text string) (parent, followUp string) {
	f.t.Helper()
	parent = f.submit(map[string]any{"message": text, "session_id": "owed", "phone": "+8613800138000"}).text("ticket_id")
	job, s := f.take(chat.High)
	id, made, err := f.queue.Promise(f.t.Context(), &s.Ticket, time.Now().UTC(), time.Hour, chat.TextCaps{PerNumber: 100, PerTenant: 100})
	must(f.t, err)
	s.Answer(chat.Answer{
		Reply: chat.Reply{Text: "Later.", HTML: "<p>Later.</p>", Locale: "en"}, Route: chat.RouteTemplate, Reason: chat.ReasonOverdue, FollowUp: id, Promise: &made,
	}, time.Now().UTC())
	_, err = f.queue.End(f.t.Context(), job, s)
	must(f.t, err)
	return parent, id
}

// wantStatus asks for a promise on both tickets.
func (f *fixture) wantStatus(parent, followUp string, want chat.PromiseStatus) {
	f.t.Helper()
	for _, id := range []string{parent, followUp} {
		a := f.call("GET", "/v1/tickets/"+id, f.demo.Secret, nil)
		p, _ := a.json["promise"].(map[string]any)
		if p["status"] != string(want) || p["channel"] != "sms" || p["due_at"] == "" {
			f.t.Errorf("%s: %s, want the promise %s", id, a.raw, want)
		}
		if id == parent && a.text("follow_up") != followUp || id == followUp && (a.text("parent") != parent || a.text("lane") != "deferred") {
			f.t.Errorf("%s: %s", id, a.raw)
		}
	}
}

func TestBothTicketsShowThePromise(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	parent, followUp := f.promised("Where is my order?")
	f.wantStatus(parent, followUp, chat.Promised)
	f.end(f.take(chat.Deferred))
	_, err := f.queue.SettlePromise(t.Context(), followUp, chat.PromiseSent, "", time.Now().UTC())
	must(t, err)
	f.wantStatus(parent, followUp, chat.PromiseSent)
	events, _ := f.call("GET", "/v1/sessions/owed/events?after=0", f.demo.Secret, nil).json["events"].([]any)
	var told []string
	for _, e := range events {
		if e := e.(map[string]any); e["kind"] == "promise" {
			told = append(told, e["promise"].(map[string]any)["status"].(string))
		}
	}
	if got := strings.Join(told, " "); got != "promised sent" {
		t.Errorf("the session was told %q", got)
	}
}

func TestAPromiseIsCalledOff(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for _, whole := range []bool{true, false} {
		parent, followUp := f.promised("Where is my order?")
		id := parent
		if !whole {
			id = followUp
		}
		if a := f.call("DELETE", "/v1/tickets/"+id, f.demo.Secret, nil); a.status != 200 {
			t.Fatalf("call off: %d %s", a.status, a.raw)
		}
		f.wantStatus(parent, followUp, chat.PromiseCancelled)
		refused(t, f.call("DELETE", "/v1/tickets/"+parent, f.demo.Secret, nil), 409, codeEnded)
		refused(t, f.call("DELETE", "/v1/tickets/"+followUp, f.demo.Secret, nil), 409, codeEnded)
	}
}

func TestOperatorsSeePromisesAndNotices(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	_, sent := f.promised("Where is my order?")
	_, broken := f.promised("And the other one?")
	for id, status := range map[string]chat.PromiseStatus{sent: chat.PromiseSent, broken: chat.PromiseBroken} {
		_, err := f.queue.SettlePromise(t.Context(), id, status, chat.ReasonOverdue, time.Now().UTC())
		must(t, err)
	}
	list := func(path, field string) []any {
		t.Helper()
		a := f.admin("GET", path, nil)
		all, _ := a.json[field].([]any)
		if a.status != 200 || len(all) != 1 {
			t.Fatalf("%s: %d %s", path, a.status, a.raw)
		}
		if strings.Contains(string(a.raw), "13800138000") {
			t.Errorf("%s shows the number: %s", path, a.raw)
		}
		return all
	}
	p := list("promises", "promises")[0].(map[string]any)
	if p["ticket_id"] != broken || p["status"] != "broken" || p["reason"] != "overdue" || p["code"] != chat.ShortCode(broken) {
		t.Errorf("broken: %v", p)
	}
	if p := list("promises?status=sent", "promises")[0].(map[string]any); p["ticket_id"] != sent {
		t.Errorf("sent: %v", p)
	}
	if n := list("sms", "notices")[0].(map[string]any); n["ticket_id"] != sent || n["to"] != "…8000" {
		t.Errorf("notice: %v", n)
	}
	refused(t, f.admin("GET", "promises?status=lost", nil), 400, codeInvalid)
}

func TestWhatASocketSaysIsReadIsNoted(t *testing.T) {
	t.Parallel()
	r := newSocketRig(t, SocketConfig{})
	c, welcome := r.hello(nil)
	session := welcome.text("session")
	c.say(frame{"type": "send", "cmid": "a", "text": "Where is my order?"})
	c.hear("event")
	upTo := func(want uint64) {
		t.Helper()
		s, err := r.queue.Session(t.Context(), "demo", session)
		must(t, err)
		if s.Read != want {
			t.Errorf("read up to %d, want %d", s.Read, want)
		}
	}
	upTo(0)
	c.say(frame{"type": "read", "seq": 7}) // more than it was given
	r.await("the first word", func() bool {
		s, err := r.queue.Session(t.Context(), "demo", session)
		return err == nil && s.Read == 1
	})
	// What comes within the second is written when the socket ends, if not before.
	r.end(r.take(chat.High))
	c.hear("event")
	c.say(frame{"type": "read", "seq": 1})
	c.say(frame{"type": "read", "seq": 2})
	c.say(frame{"type": "ping"})
	c.hear("pong")
	must(t, c.conn.CloseNow())
	r.await("the last word", func() bool {
		s, err := r.queue.Session(t.Context(), "demo", session)
		return err == nil && s.Read == 2
	})
	late, _ := r.hello(again(welcome, 0))
	late.say(frame{"type": "read"})
	late.closedWith(closeBadFrame)
}
