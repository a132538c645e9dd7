package tool

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

func TestACallIsMadeForTheTicketsCustomer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, look(), func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if string(body) != `{"order":"MH1"}` || r.Header.Get(HeaderCustomer) != "c%20%E5%A4%A9" || r.Header.Get(HeaderTenant) != "demo" ||
			r.Header.Get("Authorization") != "Bearer key-of-the-tool" || r.Header.Get("Accept-Language") != "en" || r.Header.Get("Idempotency-Key") != "" {
			t.Errorf("%s with %v", body, r.Header)
		}
		answer(w, 200, `{ "state": "key-of-the-tool <shipped>" }`)
	})
	got := w.set.Begin(of("c 天"), nil).Call(w.ctx, "look", `{"order":"MH1"}`)
	if got != `{"state":"*** <shipped>"}` {
		t.Errorf("observed %s", got)
	}
	a := w.asked[0]
	if a.Vendors[0] != "tool:look" || !a.Step || a.Model != "" || a.Ticket != "t1" || a.Lane != chat.High || a.Deadline.IsZero() {
		t.Errorf("asked %+v", a)
	}
	if len(w.ended) != 1 || w.ended[0].Outcome != gate.Good || w.released != 1 {
		t.Errorf("ended %+v, %d released", w.ended, w.released)
	}
}

func TestGETPutsTheArgumentsIntoTheQuery(t *testing.T) {
	t.Parallel()
	tool := look()
	tool.Method = http.MethodGet
	w := newWorld(t, tool, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "note=a%26b&order=MH1" {
			t.Errorf("query %s", r.URL.RawQuery)
		}
		answer(w, 200, `{}`)
	})
	w.set.Begin(of("c1"), nil).Call(w.ctx, "look", `{"order":"MH1","note":"a&b"}`)
}

// What never reaches the tool.
func TestAWrongCallIsAnObservation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, look(), func(http.ResponseWriter, *http.Request) { t.Error("the tool was called") })
	for _, c := range []struct{ customer, name, arguments, want string }{
		{"c1", "other", `{}`, "there is no tool named other"},
		{"", "look", `{"order":"MH1"}`, "has not signed in"},
		{"c1", "look", `{"order":1}`, "order: expected string"},
		{"c1", "look", `{}`, "required property order"},
		{"c1", "look", `{"order":"XX"}`, "pattern"},
		{"c1", "look", `{"order":"MH1","customer_id":"c2"}`, `\"customer_id\": there is no such argument`},
		{"c1", "look", `{"order":"MH1","Order":"MH2"}`, `\"Order\": there is no such argument`},
		{"c1", "look", `{"order":"MH1","note":"123456"}`, "length"},
		{"c1", "look", `{"order":"MH1"} {}`, "more than one JSON value"},
		{"c1", "look", `["MH1"]`, "no JSON object"},
		{"c1", "look", `{"order":`, "not valid JSON"},
		{"c1", "look", `{"order":"` + strings.Repeat("1", maxArguments) + `"}`, "longer than"},
	} {
		got := w.set.Begin(of(c.customer), nil).Call(w.ctx, c.name, c.arguments)
		if !strings.HasPrefix(got, `{"error":"`) || !strings.Contains(got, c.want) {
			t.Errorf("%s %.60s: %s, want %s", c.name, c.arguments, got, c.want)
		}
	}
}

// What is wrong with a tool is told to the model and to the breaker, and to nobody else.
func TestATroubledToolIsAnObservation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  string
		end   gate.Outcome
	}{
		"no such order":  {func(w http.ResponseWriter, _ *http.Request) { answer(w, 404, `{"error":"no such order"}`) }, `{"error":"no such order"}`, gate.Ignored},
		"a bare refusal": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, "look refused the request", gate.Ignored},
		"a failure":      {func(w http.ResponseWriter, _ *http.Request) { answer(w, 500, `{}`) }, "look is unavailable", gate.Failed},
		"a wrong key":    {func(w http.ResponseWriter, _ *http.Request) { answer(w, 401, `{}`) }, "look is busy", gate.Failed},
		"throttled":      {func(w http.ResponseWriter, _ *http.Request) { answer(w, 429, `{}`) }, "look is busy", gate.Throttled},
		"a redirect":     {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "look is unavailable", gate.Failed},
		"no JSON":        {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "look is unavailable", gate.Failed},
		"broken JSON":    {func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, `{"a":`) }, "look is unavailable", gate.Failed},
		"far too much": {func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 200, `"`+strings.Repeat("x", maxResponse)+`"`)
		}, "look is unavailable", gate.Failed},
		"too much": {func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 200, `"`+strings.Repeat("天", maxObservation/3)+`"`)
		}, "the result is too long", gate.Good},
		"a hang-up": {func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, "look is unavailable", gate.Failed},
	} {
		var calls atomic.Int32
		w := newWorld(t, look(), func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1); r.URL.Path != "/look" {
				t.Errorf("%s: %s was followed", name, r.URL)
			}
			c.serve(w, r)
		})
		got := w.set.Begin(of("c1"), nil).Call(w.ctx, "look", `{"order":"MH1"}`)
		if !strings.Contains(got, c.want) || len(got) > maxObservation+200 {
			t.Errorf("%s: observed %.200s", name, got)
		}
		if len(w.ended) != 1 || w.ended[0].Outcome != c.end || w.released != 1 || calls.Load() != 1 {
			t.Errorf("%s: %+v after %d calls", name, w.ended, calls.Load())
		}
	}
}

func TestATimeoutIsTheToolsAndACancelIsNobodys(t *testing.T) {
	t.Parallel()
	tool := look()
	tool.Timeout = 30 * time.Millisecond
	w := newWorld(t, tool, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body); <-r.Context().Done() })
	if got := w.set.Begin(of("c1"), nil).Call(w.ctx, "look", `{"order":"MH1"}`); !strings.Contains(got, "unavailable") || w.ended[0].Outcome != gate.Failed {
		t.Errorf("%s, %+v", got, w.ended)
	}
	arrived := make(chan struct{})
	w = newWorld(t, look(), func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		close(arrived)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(w.ctx)
	go func() { <-arrived; cancel() }()
	w.set.Begin(of("c1"), nil).Call(ctx, "look", `{"order":"MH1"}`)
	if w.ended[0].Outcome != gate.Ignored || w.released != 1 {
		t.Errorf("%+v", w.ended)
	}
}

func TestASlowCallIsSlow(t *testing.T) {
	t.Parallel()
	tool := look()
	tool.SlowAfter = time.Nanosecond
	w := newWorld(t, tool, func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, `{}`) })
	if got := w.set.Begin(of("c1"), nil).Call(w.ctx, "look", `{"order":"MH1"}`); got != "{}" || w.ended[0].Outcome != gate.Slow {
		t.Errorf("%s, %+v", got, w.ended)
	}
}

func TestWithoutAPermitTheToolIsBusy(t *testing.T) {
	t.Parallel()
	w := newWorld(t, look(), func(http.ResponseWriter, *http.Request) { t.Error("the tool was called") })
	for _, err := range []error{&gate.Refusal{Reason: gate.ReasonUnavailable}, context.DeadlineExceeded, errors.New("closed")} {
		w.refusal = err
		if got := w.set.Begin(of("c1"), nil).Call(w.ctx, "look", `{"order":"MH1"}`); !strings.Contains(got, "look is busy") {
			t.Errorf("%v: %s", err, got)
		}
	}
}

func TestCallsOfOneAnswerAreBounded(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	w := newWorld(t, look(), func(w http.ResponseWriter, _ *http.Request) { calls.Add(1); answer(w, 200, `{}`) })
	r := w.set.Begin(of("c1"), nil)
	for i := range 5 {
		got := r.Call(w.ctx, "look", `{"order":"MH1"}`)
		if (i >= 3) != strings.Contains(got, "often enough") {
			t.Errorf("call %d: %s", i+1, got)
		}
	}
	if calls.Load() != 3 {
		t.Errorf("%d calls", calls.Load())
	}
}

func TestDefinitionsSpeakTheLanguageAndSayWhatIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, look(), nil)
	q := of("c1")
	if got := w.set.Begin(q, nil).Definitions(nil)[0].Function; got.Name != "look" || got.Description != "Looks." {
		t.Errorf("%+v", got)
	}
	if r := w.set.Begin(of(""), nil); len(r.Definitions(nil)) != 0 || !r.Anonymous() {
		t.Error("a tool is offered to a model whose customer has not signed in")
	}
	q.Ticket.Language = chat.Chinese
	if got := w.set.Begin(q, nil).Definitions(map[string]bool{"look": true})[0].Function; !strings.HasPrefix(got.Description, "查。（该服务目前繁忙") {
		t.Errorf("%+v", got)
	}
}

func FuzzArguments(f *testing.F) {
	a, err := newArguments([]byte(orderSchema))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"order":"MH1"}`)
	f.Add(`{"order":["MH1"]}`)
	f.Add(`{"note":{"order":1}}`)
	f.Fuzz(func(t *testing.T, text string) {
		if object, err := a.read(text); err == nil {
			if order, ok := object["order"].(string); !ok || !strings.HasPrefix(order, "MH") {
				t.Errorf("%q was accepted", text)
			}
		}
	})
}
