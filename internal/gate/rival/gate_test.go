//go:build linux

package rival

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/tmc/langchaingo/llms"

	"sluice/internal/chat"
	"sluice/internal/control"
	"sluice/internal/gate"
	"sluice/internal/llm"
	"sluice/internal/queue"
)

// rules are those of vendor a as they are shipped, with every window in force, though so
// wide that no call waits for it: to count costs the same.
func rules() gate.Config {
	return gate.Config{
		Vendors: map[string]gate.Vendor{"a": {
			Limit: limit, Elastic: 18, QPS: 1_000_000, Tokens: 1_000_000_000, Retry: 0.1,
			Breaker: gate.BreakerConfig{
				Window: 10 * time.Second, MinCalls: 10, Failures: 0.5, Slow: 0.3, Cooldown: 30 * time.Second, Probes: 3,
				ProbeFor: 2 * time.Minute,
			},
		}},
		Lanes: map[chat.Lane]gate.Lane{
			chat.High: {Elastic: true}, chat.Normal: {Age: 20 * time.Second}, chat.Low: {Age: 20 * time.Second},
			chat.Deferred: {Age: 5 * time.Minute}, chat.Batch: {Age: 30 * time.Minute, Share: 0.5, Floor: 0.05},
		},
		Predict: true,
	}
}

// startMember runs the embedded default: broker, elected controller and member in this
// process, until the end of t.
func startMember(t testing.TB) *control.Member {
	t.Helper()
	server, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := server.Dial()
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[chat.Lane]int{}
	for _, lane := range chat.Lanes() {
		bounds[lane] = 500
	}
	q, err := queue.Open(t.Context(), nc, queue.Config{Bounds: bounds, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := control.New(q, control.Config{Gate: rules(), Node: "rival", Alone: true, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	m, err := control.NewMember(q, c, control.MemberConfig{Node: "rival", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	ruling, depose := context.WithCancel(context.Background())
	asking, leave := context.WithCancel(context.Background())
	ruled, asked := make(chan error, 1), make(chan error, 1)
	go func() { ruled <- c.Run(ruling) }()
	go func() { asked <- m.Run(asking) }()
	t.Cleanup(func() {
		leave()
		left := <-asked
		depose()
		if err := errors.Join(left, <-ruled); err != nil {
			t.Error(err)
		}
		nc.Close()
		server.Stop()
	})
	<-c.Ready()
	<-m.Ready()
	return m
}

// asker makes asks as a dispatcher does for messages of as many customers. They are of
// the lane that may have every permit.
type asker struct{ last atomic.Int64 }

func (a *asker) next() gate.Ask {
	n := strconv.FormatInt(a.last.Add(1), 10)
	now := time.Now()
	return gate.Ask{
		Tenant: "demo", Session: "s" + n, Ticket: "t" + n, Lane: chat.High, Seq: 1,
		AcceptedAt: now, Deadline: now.Add(time.Minute), Vendors: []string{"a"}, Model: "strong", Tokens: 1500,
	}
}

// gated is the whole gate: permits of the controller, the model that holds one for each
// call, and the spread over the vendor's one endpoint.
type gated struct {
	member *control.Member
	model  *gate.Model
	asks   asker
}

func newGated(t testing.TB, m *control.Member, client llms.Model) *gated {
	t.Helper()
	spread, err := gate.NewSpread([]gate.Endpoint{{Name: "a", Model: client}}, func(err error) bool {
		return llm.OutcomeOf(err) == llm.Failed
	})
	if err != nil {
		t.Fatal(err)
	}
	model, err := gate.NewModel(map[string]gate.Backend{"a": {
		Model: spread, Name: modelName, Models: map[string]string{"strong": modelName},
		ReleaseAfter: 250 * time.Millisecond, Attempts: 2, Watch: watch,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &gated{member: m, model: model}
}

// GenerateContent makes one call on behalf of a message of its own, from the wait for its
// turn and permit to the end of the turn.
func (g *gated) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	a := g.asks.next()
	permit, err := g.member.Ask(ctx, a)
	if err != nil {
		return nil, err
	}
	defer g.member.EndTurn(a.Tenant, a.Session, a.Ticket)
	caller := gate.NewCaller(g.member, a, permit)
	defer caller.Close()
	return g.model.GenerateContent(gate.WithCaller(ctx, caller), messages, options...)
}

// slowAfter is when a vendor's first token, or a gap, is slow.
const slowAfter = 5 * time.Second

// watch tells the gate how calls end, as the program does.
func watch(ctx context.Context) (context.Context, func(*llms.ContentResponse, error) gate.Verdict) {
	ctx, timing := llm.WithTiming(ctx)
	return ctx, func(resp *llms.ContentResponse, err error) gate.Verdict {
		if err != nil {
			return gate.Verdict{}
		}
		usage := llm.UsageOf(resp)
		v := gate.Verdict{
			End: gate.End{Outcome: gate.Good, Tokens: usage.PromptTokens + usage.CompletionTokens},
			Cut: !llm.Drained(resp),
		}
		if max(timing.FirstToken(), timing.Gap()) > slowAfter {
			v.Outcome = gate.Slow
		}
		return v
	}
}
