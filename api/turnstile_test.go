package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/control"
	"sluice/internal/gate"
	"sluice/internal/queue"
)

// turnstileLine is a line with a controller's turnstile.
type turnstileLine struct {
	frontLine
	member atomic.Pointer[control.Member]
	room   time.Duration // 0: nobody knows
}

func (l *turnstileLine) Enter(ctx context.Context, a chat.Arrival) (func(), error) {
	return l.member.Load().Enter(ctx, a)
}

func (l *turnstileLine) Room(chat.Lane) (time.Duration, bool) { return l.room, l.room > 0 }

// limited starts the stage behind a controller that lets in what the limits say.
func limited(t *testing.T, in gate.Intake, room time.Duration, bound int) *fixture {
	t.Helper()
	line := &turnstileLine{room: room}
	f := setup(t, func(d *Deps, _ *Config, q *queue.Config) {
		d.Line = line
		q.Bounds[chat.High] = bound
	})
	c, err := control.New(f.queue, control.Config{
		Gate: gate.Config{Vendors: map[string]gate.Vendor{"a": {Limit: 1}}, Intake: in},
		Node: "test", Alone: true, Log: zerolog.Nop(),
	})
	must(t, err)
	m, err := control.NewMember(f.queue, c, control.MemberConfig{Node: "test", Log: zerolog.Nop()})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = c.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	<-c.Ready()
	line.member.Store(m)
	return f
}

func (f *fixture) ask(body map[string]any, headers ...string) answer {
	f.t.Helper()
	return f.call("POST", "/v1/tickets", f.demo.Secret, body, headers...)
}

func TestTooManyMessagesAreRateLimited(t *testing.T) {
	t.Parallel()
	f := limited(t, gate.Intake{Tenants: map[string]gate.Allowance{"demo": {QPS: 1, Burst: 40}}}, 0, 500)
	var calls sync.WaitGroup
	answers := make([]answer, 80)
	for i := range answers {
		calls.Go(func() { answers[i] = f.ask(map[string]any{"message": fmt.Sprint("hello ", i)}) })
	}
	begun := time.Now()
	calls.Wait()
	took := int(time.Since(begun)/time.Second) + 1
	in := 0
	for _, a := range answers {
		if a.status == http.StatusAccepted {
			in++
			continue
		}
		refused(t, a, http.StatusTooManyRequests, "rate_limited")
		if ms := a.json["retry_after_ms"].(float64); ms < 1 || ms > 1000 || a.header.Get("Retry-After") != "1" || a.text("reply") == "" {
			t.Errorf("retry after %v ms, %q, with the reply %q", ms, a.header.Get("Retry-After"), a.text("reply"))
		}
	}
	if in < 40 || in > 40+took {
		t.Errorf("%d of 80 came in, want the burst of 40 and one more a second", in)
	}
	if n, err := f.queue.Depth(t.Context(), chat.High); err != nil || n != in {
		t.Errorf("%d are in the lane (%v), want %d", n, err, in)
	}
	if a := f.call("POST", "/v1/tickets", f.shop.Secret, map[string]any{"message": "hello"}); a.status != http.StatusAccepted {
		t.Errorf("another tenant: %d %s", a.status, a.raw)
	}
}

func TestRepeatsCostNothingAndMeetTheirTicket(t *testing.T) {
	t.Parallel()
	f := limited(t, gate.Intake{Tenant: gate.Allowance{Daily: 2}}, 0, 500)
	first := f.ask(map[string]any{"message": "hello", "session_id": "s1"}, "Idempotency-Key", "k1")
	for range 5 {
		for _, again := range []answer{
			f.ask(map[string]any{"message": "hello", "session_id": "s1"}, "Idempotency-Key", "k1"),
			f.ask(map[string]any{"message": "hello", "session_id": "s1"}),
		} {
			if again.status != http.StatusOK || again.text("ticket_id") != first.text("ticket_id") {
				t.Fatalf("a repeat: %d %s, want ticket %s", again.status, again.raw, first.raw)
			}
		}
	}
	if a := f.ask(map[string]any{"message": "other", "session_id": "s1"}, "Idempotency-Key", "k1"); a.status != http.StatusConflict {
		t.Errorf("the key with another body: %d %s", a.status, a.raw)
	}
	second := f.ask(map[string]any{"message": "bye"}, "Idempotency-Key", "k2")
	if second.status != http.StatusAccepted {
		t.Fatalf("the second of two a day: %d %s", second.status, second.raw)
	}
	refused(t, f.ask(map[string]any{"message": "more"}, "Idempotency-Key", "k3"), http.StatusTooManyRequests, "quota_exceeded")
	again := f.ask(map[string]any{"message": "bye"}, "Idempotency-Key", "k2")
	if again.status != http.StatusOK || again.text("ticket_id") != second.text("ticket_id") {
		t.Errorf("a repeat when nothing is left: %d %s", again.status, again.raw)
	}
	if a := f.ask(map[string]any{"message": "other"}, "Idempotency-Key", "k2"); a.status != http.StatusConflict {
		t.Errorf("the key with another body when nothing is left: %d %s", a.status, a.raw)
	}
}

func TestTokensAreThoseOfOneCustomer(t *testing.T) {
	t.Parallel()
	f := limited(t, gate.Intake{UserTokens: 10}, 0, 500)
	ask := func(customer, session, text string) answer {
		body := map[string]any{"message": text}
		if customer != "" {
			body["customer"] = map[string]any{"id": customer}
		}
		if session != "" {
			body["session_id"] = session
		}
		return f.ask(body)
	}
	accepted := func(a answer) {
		t.Helper()
		if a.status != http.StatusAccepted {
			t.Errorf("%d %s", a.status, a.raw)
		}
	}
	long := strings.Repeat("x", 30)
	accepted(ask("7", "s1", long))
	for language, text := range map[string]string{"en": "a", "zh": "我的订单"} {
		a := ask("7", "s2", text)
		refused(t, a, http.StatusTooManyRequests, "quota_exceeded")
		if han := strings.ContainsFunc(a.text("reply"), func(r rune) bool { return unicode.Is(unicode.Han, r) }); han != (language == "zh") || a.text("reply") == "" {
			t.Errorf("the reply to %q: %q", text, a.text("reply"))
		}
		if ms := a.json["retry_after_ms"].(float64); ms < 50_000 || ms > 65_000 {
			t.Errorf("retry after %v ms, want about a minute", ms)
		}
	}
	accepted(ask("8", "s4", "c"+long)) // another customer
	accepted(ask("", "s5", "a"+long))
	refused(t, ask("", "s5", "b"), http.StatusTooManyRequests, "quota_exceeded") // who writes in a session is one
	accepted(ask("", "s3", long))
	for range 3 {
		accepted(ask("", "", long)) // nobody who could be known again
	}
	if a := f.call("POST", "/v1/tickets", f.shop.Secret, map[string]any{"message": long, "session_id": "s1"}); a.status != http.StatusAccepted {
		t.Errorf("the same session at another tenant: %d %s", a.status, a.raw)
	}
}

func TestAFullLaneCostsNothingAndTellsWhenItHasAPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		room time.Duration
		want float64
	}{{100 * time.Millisecond, 1000}, {7300 * time.Millisecond, 7300}, {time.Minute, 30_000}, {0, 1500}} {
		f := limited(t, gate.Intake{Tenant: gate.Allowance{Daily: 2}}, c.room, 1)
		if a := f.ask(map[string]any{"message": "first"}); a.status != http.StatusAccepted {
			t.Fatalf("%d %s", a.status, a.raw)
		}
		for range 5 {
			a := f.ask(map[string]any{"message": "second"})
			refused(t, a, http.StatusServiceUnavailable, "queue_full")
			if a.json["retry_after_ms"] != c.want {
				t.Errorf("a place in %s: retry after %v ms, want %v", c.room, a.json["retry_after_ms"], c.want)
			}
		}
		f.end(f.take(chat.High))
		if a := f.ask(map[string]any{"message": "second"}); a.status != http.StatusAccepted {
			t.Errorf("once there is a place: %d %s", a.status, a.raw)
		}
		refused(t, f.ask(map[string]any{"message": "third"}), http.StatusTooManyRequests, "quota_exceeded")
	}
}

func TestASocketIsToldWhenToSendAgain(t *testing.T) {
	t.Parallel()
	r := socketRigOn(limited(t, gate.Intake{Tenant: gate.Allowance{Daily: 1}}, 0, 500), nil, SocketConfig{})
	c, _ := r.hello(nil)
	c.say(frame{"type": "send", "cmid": "a", "text": "hello"})
	ack := c.hear("ack")
	c.say(frame{"type": "send", "cmid": "b", "text": "one more"})
	if e := c.hear("error"); e.text("code") != codeQuota || e.text("cmid") != "b" || e["temporary"] != true || e.number("retry_after_ms") < 1 {
		t.Errorf("got %v, want quota_exceeded of b until midnight", e)
	}
	c.say(frame{"type": "send", "cmid": "a", "text": "hello"})
	if again := c.hear("ack"); again.text("ticket") != ack.text("ticket") || again["dup"] != true {
		t.Errorf("the same cmid again: %v, want %v with dup", again, ack)
	}
}

// The hash tells customers of one tenant apart, and from sessions of the same name.
func TestCustomersAreKnownOnlyByAHash(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, tenant := range []string{"demo", "shop"} {
		for name, m := range map[string]Message{
			"customer": {Customer: &chat.Customer{ID: "13800138000"}, Session: "13800138000"},
			"session":  {Customer: &chat.Customer{Name: "Ann"}, Session: "13800138000"},
			"other":    {Session: "13800138001"},
		} {
			a := arrival(m, &chat.Ticket{Tenant: tenant, Message: "你好", Lane: chat.Low, Urgent: true})
			where := tenant + " " + name
			if before, found := seen[a.Customer]; found || len(a.Customer) != 22 || strings.Contains(a.Customer, "138") {
				t.Errorf("%s has the hash %q, as %s", where, a.Customer, before)
			}
			seen[a.Customer] = where
			if a.Tenant != tenant || a.Lane != chat.Low || !a.Urgent || a.Bytes != 6 {
				t.Errorf("%s: %+v", where, a)
			}
		}
	}
	if a := arrival(Message{}, &chat.Ticket{Tenant: "demo", Session: "new"}); a.Customer != "" {
		t.Errorf("whoever opens a session has the hash %q", a.Customer)
	}
}
