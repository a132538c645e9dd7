package api

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestACrowdInASession(t *testing.T) {
	t.Parallel()
	c := newCrowd(func() float64 { return 1 })
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	one := &chat.Ticket{Tenant: "demo", Session: "s", Urgent: true}
	for n, after := range []time.Duration{0, 10 * time.Second, 20 * time.Second} {
		if now := at.Add(after); c.full(one, now) {
			t.Errorf("number %d is one too many", n+1)
		} else {
			c.count(one, now)
		}
	}
	other := &chat.Ticket{Tenant: "demo", Session: "other", Urgent: true}
	for after, want := range map[time.Duration]bool{30 * time.Second: true, 59 * time.Second: true, time.Minute: false} {
		if got := c.full(one, at.Add(after)); got != want {
			t.Errorf("the fourth after %s: %v", after, got)
		}
		if c.full(other, at.Add(after)) {
			t.Error("another session is full too")
		}
	}
}

func TestACrowdOfATenant(t *testing.T) {
	t.Parallel()
	c := newCrowd(func() float64 { return 0.5 })
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	urgent := func(n int) *chat.Ticket {
		return &chat.Ticket{Tenant: "demo", Session: fmt.Sprint("u", n), Urgent: true}
	}
	for n := range 19 {
		if c.full(urgent(n), at) {
			t.Fatalf("%d messages tell no share", n)
		}
		c.count(urgent(n), at)
	}
	if !c.full(urgent(20), at) {
		t.Error("20 of 20 are urgent, and one more may be")
	}
	for n := range 20 {
		c.count(&chat.Ticket{Tenant: "demo", Session: fmt.Sprint("p", n)}, at)
	}
	if c.full(urgent(20), at) {
		t.Error("20 of 40 may be urgent")
	}
	c.count(urgent(20), at)
	if !c.full(urgent(21), at) {
		t.Error("21 of 41 may not")
	}
	if c.full(&chat.Ticket{Tenant: "rival", Session: "x", Urgent: true}, at) {
		t.Error("another tenant is full too")
	}
	if c.full(urgent(21), at.Add(5*time.Minute)) {
		t.Error("five minutes later it still counts")
	}
}

// TestACrowdIsBounded sends more tenants and sessions than there is place for, and waits
// until they are forgotten.
func TestACrowdIsBounded(t *testing.T) {
	t.Parallel()
	c := newCrowd(func() float64 { return 0.5 })
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for n := range crowdSessions + 10 {
		c.count(&chat.Ticket{Tenant: fmt.Sprint("t", n%(crowdTenants+5)), Session: fmt.Sprint(n), Urgent: true}, at)
	}
	if len(c.tenants) != crowdTenants || len(c.sessions) != crowdSessions {
		t.Errorf("%d tenants and %d sessions are kept", len(c.tenants), len(c.sessions))
	}
	c.count(&chat.Ticket{Tenant: "new", Session: "new", Urgent: true}, at.Add(10*time.Minute))
	if len(c.tenants) != 1 || len(c.sessions) != 1 {
		t.Errorf("%d tenants and %d sessions are left", len(c.tenants), len(c.sessions))
	}
}

// TestTheFourthUrgentMessageOfAMinuteKeepsItsLane goes the whole way in.
func TestTheFourthUrgentMessageOfAMinuteKeepsItsLane(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	for n, want := range []string{"high", "high", "high", "normal"} {
		got := f.send(f.shop.Secret, map[string]any{"session_id": "s", "message": fmt.Sprint("refund number ", n)})
		if got.status != http.StatusAccepted || got.text("lane") != want || got.json["urgent"] != true {
			t.Errorf("number %d: %d in %s, %s", n+1, got.status, got.text("lane"), got.raw)
		}
	}
}

func TestHandoffsAreListed(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	id := f.send(f.shop.Secret, map[string]any{"session_id": "s", "message": "refund!"}).text("ticket_id")
	_, s := f.take(chat.High)
	_, err := f.deps.Queue.Hand(t.Context(), s, chat.Reply{Text: "people have it"}, time.Now(), time.Now().Add(time.Minute))
	must(t, err)
	got := f.admin("GET", "handoffs", nil)
	list, _ := got.json["handoffs"].([]any)
	if got.status != http.StatusOK || len(list) != 1 || list[0].(map[string]any)["ticket_id"] != id {
		t.Errorf("%d %s", got.status, got.raw)
	}
	events := f.call("GET", "/v1/sessions/s/events", f.shop.Secret, nil)
	all, _ := events.json["events"].([]any)
	if len(all) != 3 || all[2].(map[string]any)["owner"] != "queue" || all[1].(map[string]any)["who"] != "system" {
		t.Errorf("events: %s", events.raw)
	}
}
