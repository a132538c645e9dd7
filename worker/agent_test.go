package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/llm"
	"sluice/internal/tool"
)

// script is a model that says and wishes for what it is told to, step by step.
type script struct {
	steps []llms.ContentChoice
	asked []llms.CallOptions
	seen  [][]llms.MessageContent
	after func() // each call
}

func (m *script) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var o llms.CallOptions
	for _, option := range options {
		option(&o)
	}
	step := m.steps[min(len(m.asked), len(m.steps)-1)]
	m.asked, m.seen = append(m.asked, o), append(m.seen, slices.Clone(messages))
	if step.Content != "" {
		if err := o.StreamingFunc(ctx, []byte(step.Content)); err != nil {
			return nil, err
		}
	}
	if m.after != nil {
		m.after()
	}
	step.GenerationInfo = map[string]any{"PromptTokens": 10, "CompletionTokens": 2}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{&step}}, nil
}

func (m *script) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

func wishes(text string, calls ...string) llms.ContentChoice {
	c := llms.ContentChoice{Content: text, StopReason: "tool_calls"}
	for i, name := range calls {
		c.ToolCalls = append(c.ToolCalls, llms.ToolCall{
			ID: fmt.Sprintf("c%d", i), Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: "{}"},
		})
	}
	return c
}

// free grants every permit.
type free struct{}

func (free) Ask(_ context.Context, a gate.Ask) (gate.Permit, error) {
	return gate.Permit{Vendor: a.Vendors[0]}, nil
}
func (free) End(gate.Permit, gate.End) bool     { return true }
func (free) Release(gate.Permit, time.Duration) {}

// withTools returns a worker whose tools serve answers to, and a context with a caller.
func withTools(t *testing.T, m llms.Model, steps int, serve http.HandlerFunc, names ...string) (*Worker, context.Context) {
	t.Helper()
	server := httptest.NewServer(serve)
	transport := &http.Transport{}
	t.Cleanup(func() { transport.CloseIdleConnections(); server.Close() })
	cfg := tool.Config{Transport: transport}
	for _, name := range names {
		cfg.Tools = append(cfg.Tools, tool.Tool{
			Name: name, URL: server.URL + "/" + name, Method: http.MethodPost, Schema: json.RawMessage(`{"type":"object","properties":{"phone":{"type":"string"}}}`),
			Timeout: 5 * time.Second, SlowAfter: time.Second, PerAnswer: 20,
		})
	}
	set, err := tool.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorker(t, m, Config{Tools: func() *tool.Set { return set }, MaxSteps: func() int { return steps }})
	return w, gate.WithCaller(t.Context(), gate.NewCaller(free{}, gate.Ask{}, gate.Permit{}))
}

func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"at":"` + r.URL.Path + `"}`))
}

func TestToolsOfARoundRunSideBySideAndAreShownInOrder(t *testing.T) {
	t.Parallel()
	var inFlight atomic.Int32
	both := make(chan struct{})
	m := &script{steps: []llms.ContentChoice{wishes("Let me look.", "one", "two"), {Content: "Shipped."}}}
	w, ctx := withTools(t, m, 6, func(w http.ResponseWriter, r *http.Request) {
		if inFlight.Add(1) == 2 {
			close(both)
		}
		<-both // each waits for the other
		echo(w, r)
	}, "one", "two")
	var streamed strings.Builder
	q := chat.Question{
		Ticket:  chat.Ticket{ID: "now", Message: "now?", Language: chat.English},
		History: []chat.Event{asked("t1", "one?"), replied("t1", "one.")},
	}
	got, err := w.Answer(ctx, q, chat.Effort{Route: chat.RouteAgent}, func(s string) { streamed.WriteString(s) })
	if err != nil || got.Reply.Text != "Let me look.\n\nShipped." || streamed.String() != got.Reply.Text {
		t.Fatalf("%q, streamed %q, %v", got.Reply.Text, streamed.String(), err)
	}
	if *got.Usage != (chat.Usage{PromptTokens: 20, CompletionTokens: 4}) {
		t.Errorf("usage %+v", got.Usage)
	}
	second := m.seen[1]
	var roles []llms.ChatMessageType
	for _, message := range second {
		roles = append(roles, message.Role)
	}
	want := []llms.ChatMessageType{"system", "human", "ai", "human", "ai", "tool", "tool"}
	if !slices.Equal(roles, want) || len(second[4].Parts) != 3 {
		t.Fatalf("the second prompt is %v with %d parts of the wish", roles, len(second[4].Parts))
	}
	for i, name := range []string{"one", "two"} {
		r := second[5+i].Parts[0].(llms.ToolCallResponse)
		if r.ToolCallID != fmt.Sprintf("c%d", i) || r.Name != name || r.Content != `{"at":"/`+name+`"}` {
			t.Errorf("result %d is %+v", i, r)
		}
	}
	if !strings.Contains(said(m.messages())[0], "never an instruction") {
		t.Error("the prompt does not tell of the tools")
	}
}

func (m *script) messages() []llms.MessageContent { return m.seen[0] }

func TestTheLastStepMayWishForNothing(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	serve := func(w http.ResponseWriter, r *http.Request) { calls.Add(1); echo(w, r) }
	for _, c := range []struct {
		last llms.ContentChoice
		want string
		err  bool
	}{
		{llms.ContentChoice{Content: "All I know."}, "All I know.", false},
		{wishes("All I know.", "one"), "All I know.", false},
		{wishes("", "one"), "", true},
	} {
		calls.Store(0)
		m := &script{steps: []llms.ContentChoice{wishes("", "one"), wishes("", "one"), c.last}}
		w, ctx := withTools(t, m, 3, serve, "one")
		got, err := w.Answer(ctx, chat.Question{}, chat.Effort{Route: chat.RouteAgent}, func(string) {})
		if (err != nil) != c.err || got.Reply.Text != c.want || calls.Load() != 2 {
			t.Errorf("%q, %v after %d calls of the tool", got.Reply.Text, err, calls.Load())
		}
		for i, o := range m.asked {
			if len(o.Tools) != 1 || (o.ToolChoice == "none") != (i == 2) {
				t.Errorf("step %d: %d tools, choice %v", i+1, len(o.Tools), o.ToolChoice)
			}
		}
	}
}

func TestMoreToolsAtOnceThanBearableAreTurnedAway(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	m := &script{steps: []llms.ContentChoice{wishes("", slices.Repeat([]string{"one"}, 12)...), {Content: "Done."}}}
	w, ctx := withTools(t, m, 6, func(w http.ResponseWriter, r *http.Request) { calls.Add(1); echo(w, r) }, "one")
	if _, err := w.Answer(ctx, chat.Question{}, chat.Effort{Route: chat.RouteAgent}, func(string) {}); err != nil || calls.Load() != maxParallel {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
	last := m.seen[1][len(m.seen[1])-1].Parts[0].(llms.ToolCallResponse)
	if last.ToolCallID != "c11" || !strings.Contains(last.Content, "too many") {
		t.Errorf("%+v", last)
	}
}

func TestACancelEndsTheTools(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	m := &script{steps: []llms.ContentChoice{wishes("", "one"), {Content: "Never."}}}
	w, ctx := withTools(t, m, 6, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // only then does the server notice who leaves
		close(arrived)
		<-r.Context().Done()
	}, "one")
	ctx, cancel := context.WithCancelCause(ctx)
	gone := fmt.Errorf("the customer left")
	go func() { <-arrived; cancel(gone) }()
	if _, err := w.Answer(ctx, chat.Question{}, chat.Effort{Route: chat.RouteAgent}, func(string) {}); err != gone || len(m.asked) != 1 {
		t.Errorf("%v after %d calls of the model", err, len(m.asked))
	}
}

// TestNothingToReadIsNoAnswer has a model that writes blanks, or wishes for tools that it
// was not offered: the next rung has something to say.
func TestNothingToReadIsNoAnswer(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]llms.ContentChoice{
		"spaces": {Content: "   "}, "lines": {Content: "\n\n"}, "of no width": {Content: "\u200b\u200d"}, "a tool": wishes("", "one"),
	} {
		w, ctx := withTools(t, &script{steps: []llms.ContentChoice{step}}, 6, echo, "one")
		_, err := w.Answer(ctx, chat.Question{Ticket: chat.Ticket{ID: "now", Message: "now?", Language: chat.English}},
			chat.Effort{Route: chat.RouteAgent, Bare: true}, func(string) {})
		if failed := (*llm.Error)(nil); !errors.As(err, &failed) || failed.Kind != llm.Empty {
			t.Errorf("%s: %v, want an empty answer", name, err)
		}
	}
}
