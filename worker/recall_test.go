package worker

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"github.com/tmc/langchaingo/llms"

	"sluice/internal/cache"
	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/tool"
)

// remembering is what keeps answers in an engine of its own, for an hour.
func remembering(t *testing.T) *Memory {
	t.Helper()
	nc, err := nats.Connect("", nats.InProcessServer(queuetest.Serve(t, &server.Options{DontListen: true})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = 10
	}
	q, err := queue.Open(t.Context(), nc, queue.Config{Bounds: bounds, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	return &Memory{
		Answers: q, Fold: strings.ToLower,
		Keep: func() time.Duration { return time.Hour }, Jitter: func() time.Duration { return time.Minute },
		Models: func(chat.Effort) string { return "m" }, Knowledge: func() string { return cache.None },
	}
}

// general is a question that many ask, in a session of its own.
func general() *chat.Ticket {
	return &chat.Ticket{
		ID: chat.NewTicketID(), Tenant: "demo", Session: chat.NewSessionID(), Seq: 1, Lane: chat.Normal, Intent: "delivery_info",
		Message: "Do you deliver to islands?", Language: chat.English, Deadline: time.Now().Add(time.Minute),
	}
}

var agentRoute = chat.Effort{Route: chat.RouteAgent}

func TestOnlyWhatRestsOnTheQuestionAloneIsGivenToOthers(t *testing.T) {
	t.Parallel()
	memory := remembering(t)
	shop := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(shop.Close)
	set, err := tool.New(tool.Config{Transport: http.DefaultTransport, Tools: []tool.Tool{{
		Name: "look", URL: shop.URL, Method: http.MethodPost, Schema: json.RawMessage(`{"type":"object"}`),
		Timeout: 5 * time.Second, SlowAfter: time.Second, PerAnswer: 20,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	good := llms.ContentChoice{Content: "Yes, in **3** days."}
	for name, c := range map[string]struct {
		steps []llms.ContentChoice
		away  map[string]bool
		how   chat.Effort
		kept  bool
	}{
		"a good answer":       {steps: []llms.ContentChoice{good}, how: agentRoute, kept: true},
		"a tool was called":   {steps: []llms.ContentChoice{wishes("", "look"), good}, how: agentRoute},
		"a tool was away":     {steps: []llms.ContentChoice{good}, away: map[string]bool{"look": true}, how: agentRoute},
		"it was cut off":      {steps: []llms.ContentChoice{{Content: "Yes, in", StopReason: "length"}}, how: agentRoute},
		"it has a blank":      {steps: []llms.ContentChoice{{Content: "Dear [name], yes."}}, how: agentRoute},
		"it speaks of a load": {steps: []llms.ContentChoice{good}, how: chat.Effort{Route: chat.RouteAgent, Light: true, Bare: true}},
	} {
		m := &script{steps: c.steps}
		w := newWorker(t, m, Config{
			Memory: memory, Tools: func() *tool.Set { return set }, Away: func() map[string]bool { return c.away },
			Prompts: map[string]string{chat.English: name}, // so that no case finds another's answer
		})
		ctx := gate.WithCaller(t.Context(), gate.NewCaller(free{}, gate.Ask{}, gate.Permit{}))
		first := general()
		got := w.Recall(ctx, first, c.how, nil)
		if got.Answer != nil || (got.End == nil) != c.how.Bare {
			t.Fatalf("%s: %+v before anybody asked", name, got)
		}
		ans, err := w.Answer(ctx, chat.Question{Ticket: *first}, c.how, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		if got.End != nil {
			got.End(false)
		}
		next := w.Recall(ctx, general(), c.how, nil)
		if (next.Answer != nil) != c.kept || next.End != nil {
			t.Errorf("%s: the next one gets %+v", name, next)
		}
		if c.kept && (next.Answer.Reply.HTML != ans.Reply.HTML || next.Answer.Route != chat.RouteCache || next.Renew) {
			t.Errorf("%s: the next one is answered %+v", name, next.Answer)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func TestAKeptAnswerServesLesserRungsToo(t *testing.T) {
	t.Parallel()
	w := newWorker(t, &model{pieces: []string{"Yes."}}, Config{Memory: remembering(t)})
	lesser := []chat.Effort{{Route: chat.RouteRAG, Light: true}, {Route: chat.RouteAgent, Light: true, Bare: true}, {Route: chat.RouteFAQ}, {Route: chat.RouteTemplate}}
	for _, how := range lesser {
		got := w.Recall(t.Context(), general(), how, nil)
		if got.Answer != nil || (got.End != nil) != (how.Route == chat.RouteRAG) {
			t.Errorf("%+v: %+v", how, got)
		}
		if got.End != nil {
			got.End(true)
		}
	}
	if _, err := w.Answer(t.Context(), chat.Question{Ticket: *general()}, agentRoute, func(string) {}); err != nil {
		t.Fatal(err)
	}
	for _, how := range lesser {
		if got := w.Recall(t.Context(), general(), how, nil); got.Answer == nil || got.Answer.Reply.Text != "Yes." || got.End != nil {
			t.Errorf("%+v: %+v", how, got)
		}
	}
}

func TestASessionIsReadOnlyWhereItMatters(t *testing.T) {
	t.Parallel()
	w := newWorker(t, &model{pieces: []string{"Yes."}}, Config{Memory: remembering(t)})
	if _, err := w.Answer(t.Context(), chat.Question{Ticket: *general()}, agentRoute, func(string) {}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*chat.Ticket)
		past   []chat.Event
		free   bool
		read   bool
		found  bool
	}{
		"the first message":              {nil, nil, false, false, true},
		"one that is personal":           {func(t *chat.Ticket) { t.Message, t.Seq = "Where is 10042?", 2 }, nil, true, false, false},
		"one after an answer":            {func(t *chat.Ticket) { t.Seq = 3 }, []chat.Event{asked("t1", "a?"), replied("t1", "a.")}, true, true, false},
		"one after an open question":     {func(t *chat.Ticket) { t.Seq = 2 }, []chat.Event{asked("t1", "a?")}, false, true, false},
		"one after a cancelled one":      {func(t *chat.Ticket) { t.Seq = 3 }, []chat.Event{asked("t1", "a?")}, true, true, true},
		"a job of a batch":               {func(t *chat.Ticket) { t.Lane, t.Seq = chat.Batch, 0 }, nil, true, false, true},
		"one whose time is all but over": {func(t *chat.Ticket) { t.Deadline = time.Now().Add(followMargin / 2) }, nil, true, false, false},
	} {
		ticket := general()
		if c.change != nil {
			c.change(ticket)
		}
		read := false
		got := w.Recall(t.Context(), ticket, agentRoute, func() ([]chat.Event, bool) {
			read = true
			return c.past, c.free
		})
		if (got.Answer != nil) != c.found || read != c.read || got.End != nil {
			t.Errorf("%s: read %v, %+v", name, read, got)
		}
	}
}

func TestWithoutATimeNothingIsKeptOrGiven(t *testing.T) {
	t.Parallel()
	memory := remembering(t)
	keep := time.Duration(0)
	memory.Keep = func() time.Duration { return keep }
	w := newWorker(t, &model{pieces: []string{"Yes."}}, Config{Memory: memory})
	for _, keep = range []time.Duration{0, time.Hour, 0} {
		if got := w.Recall(t.Context(), general(), agentRoute, nil); got.Answer != nil || (got.End != nil) != (keep > 0) {
			t.Errorf("kept for %s: %+v", keep, got)
		} else if got.End != nil {
			got.End(true)
		}
		if _, err := w.Answer(t.Context(), chat.Question{Ticket: *general()}, agentRoute, func(string) {}); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.Recalls(); got.Hit != 0 || got.Miss != 1 {
		t.Errorf("%+v", got)
	}
}

func TestAShorterTimeHoldsAtOnce(t *testing.T) {
	t.Parallel()
	memory := remembering(t)
	keep := time.Hour
	memory.Keep = func() time.Duration { return keep }
	w := newWorker(t, &model{pieces: []string{"Yes."}}, Config{Memory: memory})
	if _, err := w.Answer(t.Context(), chat.Question{Ticket: *general()}, agentRoute, func(string) {}); err != nil {
		t.Fatal(err)
	}
	keep = time.Nanosecond
	for i := range 3 {
		got := w.Recall(t.Context(), general(), agentRoute, nil)
		if got.Answer == nil || got.Renew != (i == 0) || (got.End != nil) != got.Renew {
			t.Errorf("use %d: %+v", i+1, got)
		}
		if got.Renew {
			defer got.End(true)
		}
	}
}
