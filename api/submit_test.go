package api

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

func TestSubmitAnswersWithTheTicketAndItsPlace(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	a := f.submit(map[string]any{
		"message": "Where is my order?", "session_id": "s-1", "lane": "low", "max_wait": "12s", "phone": "+8613800138000",
		"callback_url": "https://shop.example/cb", "locale": "en-GB", "customer": map[string]any{"id": "7", "name": "Ann"},
		"metadata": map[string]any{"order": "10042"},
	})
	if a.status != http.StatusAccepted || a.text("session_id") != "s-1" || a.text("lane") != "low" ||
		a.text("status") != "queued" || a.text("intent") != "other" || a.json["urgent"] != false ||
		a.json["position"] != float64(3) || a.json["eta_ms"] != float64(1500) {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	id := a.text("ticket_id")
	if a.header.Get("Location") != "/v1/tickets/"+id {
		t.Errorf("location %q", a.header.Get("Location"))
	}
	s, err := f.queue.Ticket(t.Context(), id)
	must(t, err)
	if wait := s.Deadline.Sub(s.AcceptedAt); wait != 12*time.Second {
		t.Errorf("deadline %s after acceptance", wait)
	}
	if s.Tenant != "demo" || s.Customer.Name != "Ann" || s.Metadata["order"] != "10042" || s.Phone != "+8613800138000" || s.Seq != 1 {
		t.Errorf("stored %+v", s.Ticket)
	}
}

func TestUrgentMessageGoesToHighByItself(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	a := f.call("POST", "/v1/tickets", f.shop.Secret, map[string]any{"message": "I want a refund", "max_wait": "10s"})
	if a.status != http.StatusAccepted || a.text("lane") != "high" || a.json["urgent"] != true {
		t.Fatalf("%d %s", a.status, a.raw)
	}
}

// badMessages is every way to get the body wrong that is told by 400.
func badMessages() map[string]any {
	with := func(field string, value any) map[string]any {
		return map[string]any{"message": "hello", field: value}
	}
	pairs := map[string]any{}
	for key := range strings.SplitSeq("a b c d e f g h i j k l m n o p q", " ") {
		pairs[key] = "v"
	}
	return map[string]any{
		"no body":                  "",
		"no JSON":                  "{",
		"rest after JSON":          `{"message":"hello"} x`,
		"not an object":            `["hello"]`,
		"null":                     `null`,
		"number too large":         `{"message":"hello","max_wait":1e999}`,
		"bad UTF-8":                "{\"message\":\"a\xffb\"}",
		"lone high surrogate":      `{"message":"a\ud800b"}`,
		"lone low surrogate":       `{"message":"\udc00"}`,
		"two high surrogates":      `{"message":"\ud800\ud800"}`,
		"lone surrogate in a key":  `{"message":"hello","metadata":{"\ud800":"v"}}`,
		"message missing":          map[string]any{"session_id": "s1"},
		"message null":             map[string]any{"message": nil},
		"message not text":         map[string]any{"message": 5},
		"message empty":            map[string]any{"message": ""},
		"message white":            map[string]any{"message": " \t\n　 "},
		"message too long":         map[string]any{"message": strings.Repeat("好", 10_001)},
		"message with NUL":         map[string]any{"message": "a\x00b"},
		"message with carriage":    map[string]any{"message": "a\rb"},
		"message with C1":          map[string]any{"message": "a\u0085b"},
		"unknown field":            with("colour", "red"),
		"unknown customer field":   with("customer", map[string]any{"id": "7", "vip": true}),
		"customer not an object":   with("customer", "Ann"),
		"customer id too long":     with("customer", map[string]any{"id": strings.Repeat("x", 129)}),
		"customer name with NUL":   with("customer", map[string]any{"name": "a\x00"}),
		"session with a dot":       with("session_id", "a.b"),
		"session with a wildcard":  with("session_id", "*"),
		"session with NUL":         with("session_id", "a\x00"),
		"session too long":         with("session_id", strings.Repeat("a", 65)),
		"lane unknown":             with("lane", "express"),
		"max_wait no duration":     with("max_wait", "soon"),
		"max_wait number":          with("max_wait", 5),
		"max_wait too short":       with("max_wait", "999ms"),
		"max_wait zero":            with("max_wait", "0s"),
		"max_wait negative":        with("max_wait", "-5s"),
		"max_wait past the lane's": with("max_wait", "10001ms"),
		"phone without plus":       with("phone", "8613800138000"),
		"phone with spaces":        with("phone", "+86 138 0013 8000"),
		"phone too short":          with("phone", "+86123"),
		"phone no country":         with("phone", "+9991234567890"),
		"phone words":              with("phone", "call me"),
		"callback relative":        with("callback_url", "/cb"),
		"callback other scheme":    with("callback_url", "ftp://shop.example/cb"),
		"callback without host":    with("callback_url", "https:///cb"),
		"callback with user":       with("callback_url", "https://u:p@shop.example/"),
		"callback with space":      with("callback_url", "https://shop.example/a b"),
		"callback too long":        with("callback_url", "https://shop.example/"+strings.Repeat("a", 2048)),
		"locale no tag":            with("locale", "en_GB"),
		"locale with NUL":          with("locale", "en\x00"),
		"metadata no map":          with("metadata", []string{"a"}),
		"metadata too many":        with("metadata", pairs),
		"metadata empty key":       with("metadata", map[string]any{"": "v"}),
		"metadata key too long":    with("metadata", map[string]any{strings.Repeat("k", 65): "v"}),
		"metadata value too long":  with("metadata", map[string]any{"k": strings.Repeat("v", 513)}),
		"metadata value no text":   with("metadata", map[string]any{"k": 1}),
		"metadata with control":    with("metadata", map[string]any{"k": "a\x1bb"}),
	}
}

func TestBadMessagesAreRefusedWithTheField(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for name, body := range badMessages() {
		a := f.call("POST", "/v1/tickets", f.demo.Secret, body, "Idempotency-Key", "k")
		if a.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
			continue
		}
		refused(t, a, http.StatusBadRequest, "invalid")
		faults, _ := a.json["errors"].([]any)
		for _, fault := range faults {
			if m := fault.(map[string]any); m["field"] == "" || m["detail"] == "" || len(m) != 2 {
				t.Errorf("%s: %s", name, a.raw)
			}
		}
		if name != "no body" && len(faults) == 0 {
			t.Errorf("%s: no field is named in %s", name, a.raw)
		}
	}
	if n, err := f.queue.Depth(t.Context(), chat.High); err != nil || n != 0 {
		t.Errorf("depth %d, %v", n, err)
	}
}

func TestFaultsNameTheirFields(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	for field, body := range map[string]string{
		"message":     `{}`,
		"colour":      `{"message":"a","colour":1}`,
		"customer.id": `{"message":"a","customer":{"id":5}}`,
		"phone":       `{"message":"a","phone":"5"}`,
		"max_wait":    `{"message":"a","max_wait":"1h"}`,
		"body":        `{`,
	} {
		a := f.call("POST", "/v1/tickets", f.demo.Secret, body)
		faults, _ := a.json["errors"].([]any)
		if len(faults) != 1 || faults[0].(map[string]any)["field"] != field {
			t.Errorf("%s: %s", field, a.raw)
		}
	}
}

func TestRefusalsOfOtherKinds(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	hello := map[string]any{"message": "hello"}
	large := map[string]any{"message": strings.Repeat("a", 64<<10)}
	for _, c := range []struct {
		name         string
		answer       answer
		status       int
		code, header string
	}{
		{"no key", f.call("POST", "/v1/tickets", "", hello), 401, "unauthorized", "WWW-Authenticate"},
		{"unknown key", f.call("POST", "/v1/tickets", "sk_NOBODY", hello), 401, "unauthorized", "WWW-Authenticate"},
		{"key before body", f.call("POST", "/v1/tickets", "sk_NOBODY", "{"), 401, "unauthorized", "WWW-Authenticate"},
		{"publishable key", f.call("POST", "/v1/tickets", f.demo.Publishable, hello), 401, "unauthorized", "WWW-Authenticate"},
		{"lane above", f.call("POST", "/v1/tickets", f.shop.Secret, map[string]any{"message": "a", "lane": "high"}), 403, "lane_not_allowed", ""},
		{"too large", f.call("POST", "/v1/tickets", f.demo.Secret, large), 413, "too_large", ""},
		{"too large and no JSON", f.call("POST", "/v1/tickets", f.demo.Secret, strings.Repeat("{", 65537)), 413, "too_large", ""},
		{"other media", f.call("POST", "/v1/tickets", f.demo.Secret, "a=b", "Content-Type", "application/x-www-form-urlencoded"), 415, "unsupported_media_type", ""},
		{"key too long", f.call("POST", "/v1/tickets", f.demo.Secret, hello, "Idempotency-Key", strings.Repeat("k", 256)), 400, "invalid", ""},
		{"key not printable", f.call("POST", "/v1/tickets", f.demo.Secret, hello, "Idempotency-Key", "ké"), 400, "invalid", ""},
		{"unknown path", f.call("GET", "/v1/nothing", "", nil), 404, "not_found", ""},
		{"other method", f.call("PUT", "/v1/tickets", f.demo.Secret, hello), 405, "method_not_allowed", "Allow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused(t, c.answer, c.status, c.code)
			if c.header != "" && c.answer.header.Get(c.header) == "" {
				t.Errorf("header %s is missing", c.header)
			}
		})
	}
	a := f.call("POST", "/v1/tickets", f.demo.Publishable, hello)
	if !strings.Contains(a.text("detail"), "publishable") || !strings.Contains(a.text("detail"), "sk_") {
		t.Errorf("the detail does not say which key is needed: %s", a.raw)
	}
}

func TestLargestBodyIsRead(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	body := `{"message":"hello"}`
	a := f.call("POST", "/v1/tickets", f.demo.Secret, body+strings.Repeat(" ", 64<<10-len(body)))
	if a.status != http.StatusAccepted {
		t.Fatalf("%d %s", a.status, a.raw)
	}
}

func TestSameKeyInParallelMakesOneTicket(t *testing.T) {
	t.Parallel()
	for name, session := range map[string]string{"new session": "", "named session": "s-par"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, nil)
			body := map[string]any{"message": "hello"}
			if session != "" {
				body["session_id"] = session
			}
			const n = 50
			var calls sync.WaitGroup
			answers := make([]answer, n)
			for i := range n {
				calls.Go(func() { answers[i] = f.submit(body, "Idempotency-Key", "order-1") })
			}
			calls.Wait()
			accepted := 0
			for _, a := range answers {
				if a.status == http.StatusAccepted {
					accepted++
				}
				if a.text("ticket_id") != answers[0].text("ticket_id") || a.text("session_id") != answers[0].text("session_id") {
					t.Fatalf("two tickets: %s and %s", answers[0].raw, a.raw)
				}
			}
			if accepted != 1 {
				t.Errorf("%d times 202", accepted)
			}
			if depth, err := f.queue.Depth(t.Context(), chat.High); err != nil || depth != 1 {
				t.Errorf("depth %d, %v", depth, err)
			}
			events, _, _, err := f.queue.Events(t.Context(), "demo", answers[0].text("session_id"), 0, 10)
			if err != nil || len(events) != 1 {
				t.Errorf("events %v, %v", events, err)
			}
		})
	}
}

func TestSameKeyWithAnotherBodyIsAConflict(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	first := f.submit(map[string]any{"message": "hello", "locale": "en"}, "Idempotency-Key", "k 1")
	again := f.call("POST", "/v1/tickets", f.demo.Secret, ` { "locale":"en", "message":"hello" } `, "Idempotency-Key", "k 1")
	if again.status != http.StatusOK || again.text("ticket_id") != first.text("ticket_id") {
		t.Errorf("same request: %d %s", again.status, again.raw)
	}
	other := f.call("POST", "/v1/tickets", f.demo.Secret, map[string]any{"message": "bye", "locale": "en"}, "Idempotency-Key", "k 1")
	refused(t, other, http.StatusConflict, "idempotency_conflict")
	theirs := f.call("POST", "/v1/tickets", f.shop.Secret, map[string]any{"message": "bye"}, "Idempotency-Key", "k 1")
	if theirs.status != http.StatusAccepted {
		t.Errorf("another tenant's same key: %d %s", theirs.status, theirs.raw)
	}
}

func TestSameQuestionIsTheSameTicketWhileItIsOpen(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ask := func(text string, headers ...string) answer {
		return f.submit(map[string]any{"message": text, "session_id": "s1"}, headers...)
	}
	first := ask("hello")
	if again := ask("hello"); again.status != http.StatusOK || again.text("ticket_id") != first.text("ticket_id") {
		t.Errorf("asked again: %d %s", again.status, again.raw)
	}
	keyed := ask("hello", "Idempotency-Key", "k2")
	if keyed.status != http.StatusOK || keyed.text("ticket_id") != first.text("ticket_id") {
		t.Errorf("asked again with a key: %d %s", keyed.status, keyed.raw)
	}
	job, s := f.take(chat.High)
	if running := ask("hello"); running.status != http.StatusOK || running.text("status") != "running" {
		t.Errorf("asked again while it runs: %d %s", running.status, running.raw)
	}
	if running := ask("hello", "Idempotency-Key", "k3"); running.status != http.StatusOK || running.text("status") != "running" {
		t.Errorf("asked with a new key while it runs: %d %s", running.status, running.raw)
	}
	f.end(job, s)
	if kept := ask("hello", "Idempotency-Key", "k2"); kept.status != http.StatusOK || kept.text("ticket_id") != first.text("ticket_id") {
		t.Errorf("same key after the end: %d %s", kept.status, kept.raw)
	}
	second := ask("hello")
	if second.status != http.StatusAccepted || second.text("ticket_id") == first.text("ticket_id") {
		t.Errorf("after the end: %d %s", second.status, second.raw)
	}
	ask("something else")
	if third := ask("hello"); third.status != http.StatusAccepted {
		t.Errorf("no longer the session's last: %d %s", third.status, third.raw)
	}
}

func TestDoubleClickMakesOneTicket(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	var calls sync.WaitGroup
	answers := make([]answer, 20)
	for i := range answers {
		calls.Go(func() { answers[i] = f.submit(map[string]any{"message": "hello", "session_id": "s1"}) })
	}
	calls.Wait()
	for _, a := range answers {
		if a.text("ticket_id") != answers[0].text("ticket_id") {
			t.Fatalf("two tickets: %s and %s", answers[0].raw, a.raw)
		}
	}
}

func TestFullLaneRefusesWithAFriendlyReply(t *testing.T) {
	t.Parallel()
	f := setup(t, func(_ *Deps, _ *Config, q *queue.Config) { q.Bounds[chat.High] = 1 })
	f.submit(map[string]any{"message": "first"})
	for body, chinese := range map[string]bool{`{"message":"我的订单在哪里"}`: true, `{"message":"where is it"}`: false, `{"message":"?","locale":"zh-CN"}`: true} {
		a := f.call("POST", "/v1/tickets", f.demo.Secret, body)
		refused(t, a, http.StatusServiceUnavailable, "queue_full")
		reply := a.text("reply")
		if reply == "" || strings.ContainsFunc(reply, func(r rune) bool { return unicode.Is(unicode.Han, r) }) != chinese {
			t.Errorf("reply %q to %s", reply, body)
		}
		if a.header.Get("Retry-After") != "2" || a.json["retry_after_ms"] != float64(1500) {
			t.Errorf("retry after %q, %v", a.header.Get("Retry-After"), a.json["retry_after_ms"])
		}
	}
}

func TestDrainRefusesIntakeOnly(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	id := f.submit(map[string]any{"message": "hello"}).text("ticket_id")
	f.Drain()
	refused(t, f.call("POST", "/v1/tickets", f.demo.Secret, map[string]any{"message": "bye"}), http.StatusServiceUnavailable, "draining")
	if a := f.call("GET", "/v1/tickets/"+id, f.demo.Secret, nil); a.status != http.StatusOK {
		t.Errorf("read while draining: %d %s", a.status, a.raw)
	}
	if a := f.call("GET", "/readyz", "", nil); a.status != http.StatusServiceUnavailable || a.text("status") != "draining" {
		t.Errorf("readyz while draining: %d %s", a.status, a.raw)
	}
}

func TestRaisedTicketKeepsWithinItsNewLane(t *testing.T) {
	t.Parallel()
	in := &Intake{classify: classifyByWord, crowd: newCrowd(func() float64 { return 1 })}
	m := Message{Text: "refund", Lane: chat.Low, MaxWait: 14 * time.Second}
	tk := in.ticket(m, time.Now())
	_, open := in.enter(&tk)
	if wait := m.wait(10 * time.Second); !open || tk.Lane != chat.High || wait != 10*time.Second {
		t.Errorf("%s for %s", tk.Lane, wait)
	}
}

// TestASessionIsOneCustomers: whoever else names it hears nothing of its history.
func TestASessionIsOneCustomers(t *testing.T) {
	t.Parallel()
	f := setup(t, nil)
	ask := func(text, customer string) answer {
		body := map[string]any{"message": text, "session_id": "s1"}
		if customer != "" {
			body["customer"] = map[string]any{"id": customer}
		}
		return f.call("POST", "/v1/tickets", f.demo.Secret, body)
	}
	for i, c := range []string{"", "c1", "c1", ""} { // who is known later is the same one
		if got := ask(fmt.Sprintf("question %d", i), c); got.status != http.StatusAccepted {
			t.Errorf("message %d: %d %s", i, got.status, got.raw)
		}
	}
	refused(t, ask("and me?", "c2"), http.StatusConflict, "session_conflict")
	events, _, _, err := f.queue.Events(t.Context(), "demo", "s1", 0, 100)
	if err != nil || len(events) != 4 {
		t.Errorf("%d events (%v), want the four questions", len(events), err)
	}
}
