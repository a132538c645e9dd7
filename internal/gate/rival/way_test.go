//go:build linux

package rival

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/llm"
)

// modelName is the vendor's name of its model.
const modelName = "model-l"

// generator is what all ways offer.
type generator interface {
	GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error)
}

// way is one way from a caller to the vendor.
type way struct {
	name  string
	model generator
	child *child // stands between; nil: all of it is in this process
	// inside says that something stands between in this process.
	inside bool
}

// The names of the ways.
const (
	direct = "direct"
	byGate = "gate"
	plain  = "reverseproxy"
	ha     = "haproxy"
)

// startWays opens all ways to a vendor that can be had, the direct one first. missing says
// which cannot.
func (r *rig) startWays(t testing.TB, vendor string) (all []way, missing string) {
	t.Helper()
	to := r.vendors.url(vendor)
	all = []way{
		{name: direct, model: newClient(t, to)},
		{name: byGate, model: newGated(t, r.member, newClient(t, to)), inside: true},
	}
	c, base := startProxy(t, to)
	all = append(all, way{name: plain, model: newClient(t, base), child: c})
	program, found := haproxyProgram()
	if !found {
		return all, noHAProxy
	}
	c, base = startHAProxy(t, program, to)
	return append(all, way{name: ha, model: newClient(t, base), child: c}), ""
}

func newClient(t testing.TB, base string) llms.Model {
	t.Helper()
	c, err := llm.New(llm.Config{
		Vendor: "a", BaseURL: base, Model: modelName, MaxConns: 2 * limit,
		// A busy machine may take its time.
		Timeouts: llm.Timeouts{Acquire: time.Minute, Connect: time.Minute, FirstToken: time.Minute, Gap: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return clocked{c}
}

// clocked tells for how long a call was with the vendor's client: the rest of it is what
// stands before.
type clocked struct{ llms.Model }

type clockKey struct{}

// withClock returns a context under which a call adds to spent.
func withClock(ctx context.Context, spent *time.Duration) context.Context {
	return context.WithValue(ctx, clockKey{}, spent)
}

func (c clocked) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	begun := time.Now()
	resp, err := c.Model.GenerateContent(ctx, messages, options...)
	if spent, ok := ctx.Value(clockKey{}).(*time.Duration); ok {
		*spent += time.Since(begun)
	}
	return resp, err
}

// conversation is a prompt of 3 KiB: what a customer asks after some talk.
func conversation() []llms.MessageContent {
	return []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, strings.Repeat("Answer briefly, say only what you know. ", 10)),
		llms.TextParts(llms.ChatMessageTypeHuman, "I ordered two lamps and one came broken."+strings.Repeat(" It was in the box.", 60)),
		llms.TextParts(llms.ChatMessageTypeAI, strings.Repeat("Please send a photo of it, we will see. ", 40)),
		llms.TextParts(llms.ChatMessageTypeHuman, "Done. When does the new one arrive?"),
	}
}

// once makes one call; stream: the answer comes piece by piece, as customers get it.
func (w way) once(ctx context.Context, messages []llms.MessageContent, stream bool) error {
	options := []llms.CallOption{llms.WithMaxTokens(800)}
	if stream {
		options = append(options, llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	}
	_, err := w.model.GenerateContent(ctx, messages, options...)
	return err
}

// said is what the process between has said, if there is one.
func (w way) said() string {
	if w.child == nil {
		return ""
	}
	return w.child.said.String()
}
