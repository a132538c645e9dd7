package gate

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
)

// besides is a vendor of ten permits and a tool of two.
func besides() Config {
	cfg := limited(map[string]int{"a": 10})
	cfg.Vendors["tool:x"] = Vendor{Limit: 2, Tool: true, Breaker: BreakerConfig{Window: 10 * time.Second, MinCalls: 2, Cooldown: 30 * time.Second}}
	return cfg
}

func wantsTool(id uint64, wait time.Duration, now time.Time) Ask {
	return Ask{ID: id, Ticket: "t", Session: "s", Lane: chat.Normal, Step: true, AcceptedAt: begin, Deadline: now.Add(wait), Vendors: []string{"tool:x"}}
}

func TestAToolHasPermitsOfItsOwnAndNeedsNoTurn(t *testing.T) {
	t.Parallel()
	tb := NewTable(besides())
	crowd(t, tb, 1, 10, Ask{Lane: chat.Normal}, begin)
	tb.Grants(begin) // the vendor is full
	for id := range uint64(3) {
		if err := tb.Join(wantsTool(100+id, time.Second, begin), begin); err != nil {
			t.Fatal(err)
		}
	}
	all := tb.Grants(begin)
	if len(all) != 2 || all[0].Turn || all[0].Permit.Vendor != "tool:x" {
		t.Fatalf("granted %+v", all)
	}
	if used, _ := tb.InUse("a", begin); used != 10 {
		t.Errorf("%d in use at the vendor", used)
	}
	tb.Release(all[0].Permit.ID, begin)
	if got := tb.Grants(begin); len(got) != 1 {
		t.Errorf("%d granted after one came back", len(got))
	}
}

// Prediction, the retries' budget and what runs are of calls of models.
func TestCallsOfToolsAreNoCallsOfModels(t *testing.T) {
	t.Parallel()
	tb := NewTable(besides())
	crowd(t, tb, 1, 4, Ask{Lane: chat.Normal}, begin)
	tb.Grants(begin)
	calls, shares := tb.calls, tb.shares.above(0)
	for id := range uint64(50) {
		if err := tb.Join(wantsTool(100+id, time.Second, begin), begin); err != nil {
			t.Fatal(err)
		}
		for _, g := range tb.Grants(begin) {
			tb.Release(g.Permit.ID, begin)
		}
	}
	if err := tb.Join(wantsTool(999, time.Second, begin), begin); err != nil {
		t.Fatal(err)
	}
	tb.Grants(begin)
	if tb.calls != calls || tb.shares.above(0) != shares {
		t.Errorf("calls %+v, shares above %v; before %+v, %v", tb.calls, tb.shares.above(0), calls, shares)
	}
	if got := tb.Running()[chat.Normal]; got != 4 {
		t.Errorf("%d run", got)
	}
}

func TestAToolWithAnOpenBreakerIsRefusedAtOnceAndProbedLater(t *testing.T) {
	t.Parallel()
	tb := NewTable(besides())
	for id := range uint64(2) {
		if err := tb.Join(wantsTool(1+id, time.Second, begin), begin); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range tb.Grants(begin) {
		tb.End(g.Permit.ID, End{Outcome: Failed}, begin)
		tb.Release(g.Permit.ID, begin)
	}
	var refusal *Refusal
	if err := tb.Join(wantsTool(10, time.Second, begin), begin); !errors.As(err, &refusal) || refusal.Reason != ReasonUnavailable || tb.Waiting() != 0 {
		t.Fatalf("%v, %d wait", err, tb.Waiting())
	}
	later := begin.Add(37 * time.Second) // the cooldown and its jitter
	if err := tb.Join(wantsTool(11, time.Second, later), later); err != nil || len(tb.Grants(later)) != 1 {
		t.Errorf("no probe: %v", err)
	}
}

// askedOnce is a granter that notes an ask and how its permit ended.
type askedOnce struct {
	Granter
	ask   Ask
	until time.Time
	ends  []End
	back  int
}

func (g *askedOnce) Ask(ctx context.Context, a Ask) (Permit, error) {
	g.ask = a
	g.until, _ = ctx.Deadline()
	return Permit{Vendor: a.Vendors[0]}, nil
}
func (g *askedOnce) End(_ Permit, e End) bool      { g.ends = append(g.ends, e); return true }
func (g *askedOnce) Release(Permit, time.Duration) { g.back++ }

func TestACallerEntersAToolAsAStepOfItsTicket(t *testing.T) {
	t.Parallel()
	if _, err := Enter(t.Context(), "tool:x", time.Second); !errors.Is(err, ErrNoCaller) {
		t.Errorf("without a caller: %v", err)
	}
	g := &askedOnce{}
	ctx := WithCaller(t.Context(), NewCaller(g, Ask{Ticket: "t", Lane: chat.High, Vendors: []string{"a", "b"}, Model: "strong"}, Permit{}))
	before := time.Now()
	e, err := Enter(ctx, "tool:x", time.Minute)
	if err != nil || len(g.ask.Vendors) != 1 || g.ask.Vendors[0] != "tool:x" || !g.ask.Step || g.ask.Model != "" || g.ask.Ticket != "t" ||
		g.ask.Deadline.Before(before.Add(time.Minute)) || g.until.Before(before.Add(time.Minute)) {
		t.Fatalf("%+v, %v", g.ask, err)
	}
	e.Done(End{Outcome: Good})
	if len(g.ends) != 1 || g.ends[0].Outcome != Good || g.back != 1 {
		t.Errorf("%+v, %d back", g.ends, g.back)
	}
}

func TestOfferedToolsAreReserved(t *testing.T) {
	t.Parallel()
	tools := []llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: "look", Description: "Looks.", Parameters: json.RawMessage(`{"type":"object"}`),
	}}, {}}
	messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hello!")}
	if got := ask(messages, []llms.CallOption{llms.WithTools(tools), llms.WithMaxTokens(100)}).tokens; got != 2+9+100 {
		t.Errorf("%d tokens", got)
	}
}
