package gate

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// question is what one GenerateContent asks, however often it is tried.
type question struct {
	messages []llms.MessageContent
	options  []llms.CallOption
	tokens   int
	heard    atomic.Bool // something of an answer has reached the caller
}

// ask returns a question that notes when its answer begins to reach the caller: from
// then on another try would splice two answers.
func ask(messages []llms.MessageContent, options []llms.CallOption) *question {
	q := &question{messages: messages, options: options[:len(options):len(options)]}
	var set llms.CallOptions
	for _, option := range options {
		option(&set)
	}
	q.tokens = Estimate(messages) + offered(set.Tools) + set.MaxTokens
	if stream := set.StreamingFunc; stream != nil {
		q.options = append(q.options, llms.WithStreamingFunc(func(ctx context.Context, piece []byte) error {
			if len(piece) > 0 {
				q.heard.Store(true)
			}
			return stream(ctx, piece)
		}))
	}
	return q
}

// bytesPerToken is on the safe side: a Chinese character has three bytes and is about a
// token; English text has four characters to a token.
const bytesPerToken = 3

// Estimate returns how many tokens messages have, rather too many than too few. The
// vendor's own count replaces it at the end of the call.
func Estimate(messages []llms.MessageContent) int {
	size := 0
	for _, m := range messages {
		for _, part := range m.Parts {
			switch part := part.(type) {
			case llms.TextContent:
				size += len(part.Text)
			case llms.ToolCallResponse:
				size += len(part.Content)
			case llms.ToolCall:
				if part.FunctionCall != nil {
					size += len(part.FunctionCall.Name) + len(part.FunctionCall.Arguments)
				}
			}
		}
	}
	return (size + bytesPerToken - 1) / bytesPerToken
}

// offered returns how many tokens the definitions of tools have.
func offered(tools []llms.Tool) int {
	size := 0
	for _, t := range tools {
		if t.Function == nil {
			continue
		}
		size += len(t.Function.Name) + len(t.Function.Description)
		if schema, ok := t.Function.Parameters.(json.RawMessage); ok {
			size += len(schema)
		}
	}
	return (size + bytesPerToken - 1) / bytesPerToken
}

// again gets a permit for another try: at once at a vendor of the chain that was not yet
// tried, however many there are, or else at the same one, so many times as it allows and
// when it has forgotten the failed call, in place of whose permit it then stands: one
// count for both fails while there are vendors that are well (bifrost#5876). The failed
// call's permit goes back on every path.
func (m *Model) again(ctx context.Context, caller *Caller, failed Permit, where Again, tried map[string]int, tokens int) (Permit, bool) {
	backend := m.backend(failed.Vendor)
	stays := backend.ReleaseAfter
	var others []string
	for _, vendor := range caller.ask.Vendors {
		if tried[vendor] == 0 {
			others = append(others, vendor)
		}
	}
	if len(others) > 0 {
		if p, err := caller.retry(ctx, others, 0, tokens); err == nil {
			caller.granter.Release(failed, stays)
			return p, true
		}
	}
	if where != Anywhere || tried[failed.Vendor] >= backend.Attempts {
		caller.granter.Release(failed, stays)
		return Permit{}, false
	}
	pause(ctx, stays+time.Duration(rand.Float64()*float64(stays)))
	if ctx.Err() != nil {
		caller.granter.Release(failed, stays)
		return Permit{}, false
	}
	p, err := caller.retry(ctx, []string{failed.Vendor}, failed.ID, tokens)
	caller.granter.Release(failed, 0)
	return p, err == nil
}

// pause waits on a timer or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
