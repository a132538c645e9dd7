package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

type callKey struct{}

// call is what the guard and the doer share about one call; it travels in the request's context, since langchaingo
// drops most of what it is told. Its methods are safe for concurrent use.
type call struct {
	streamed bool
	timing   *Timing                    // nil: nobody wants to know
	extra    map[string]json.RawMessage // fields langchaingo would not send
	check    func(body []byte) *Error   // of an answer that is no chat; nil: it is one

	hookErr error // the caller's goroutine only

	sent     atomic.Bool  // the request reached the doer
	cut      atomic.Bool  // the body was closed before its EOF
	toolFrom atomic.Int64 // ordinal of the first chunk that holds tool calls, 0 if none

	mu   sync.Mutex
	fail *Error
}

func newCall(asked llms.CallOptions) *call {
	k := &call{streamed: asked.StreamingFunc != nil || asked.StreamingReasoningFunc != nil}
	if asked.TopP > 0 {
		if topP, err := json.Marshal(asked.TopP); err == nil {
			k.extra = map[string]json.RawMessage{"top_p": topP}
		}
	}
	return k
}

func withCall(ctx context.Context, k *call) context.Context {
	return context.WithValue(ctx, callKey{}, k)
}

// callOf returns the call of a request; a request that was not made by a Client gets one of its own.
func callOf(ctx context.Context) *call {
	if k, ok := ctx.Value(callKey{}).(*call); ok {
		return k
	}
	return &call{}
}

// failed records the first failure. langchaingo hides some errors and swallows others; this one counts.
func (k *call) failed(err *Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail == nil {
		k.fail = err
	}
}

func (k *call) failure() *Error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.fail
}

// options are appended to the caller's and so win over them.
func (k *call) options(asked llms.CallOptions, legacyMaxTokens bool) []llms.CallOption {
	var own []llms.CallOption
	if k.streamed {
		own = append(own,
			llms.WithStreamingFunc(nil), // one hook serves both, or each chunk would count twice
			llms.WithStreamingReasoningFunc(k.hook(asked)),
		)
	}
	if legacyMaxTokens {
		// The option writes into the map that is there: the caller's own, perhaps shared with other calls.
		metadata := maps.Clone(asked.Metadata)
		own = append(own, llms.WithMetadata(metadata), openai.WithLegacyMaxTokensField())
	}
	return own
}

// hook is called once per chunk that the stream emits, in order.
func (k *call) hook(asked llms.CallOptions) func(ctx context.Context, reasoning, text []byte) error {
	var n int64
	return func(ctx context.Context, reasoning, text []byte) error {
		n++
		if from := k.toolFrom.Load(); from > 0 && n >= from {
			return nil // langchaingo passes the JSON of tool calls off as text
		}
		k.hookErr = deliver(ctx, asked, reasoning, text)
		if k.hookErr == nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return k.hookErr
	}
}

func deliver(ctx context.Context, asked llms.CallOptions, reasoning, text []byte) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("%w: %w", ErrStreamingFunc, v)
		default:
			err = fmt.Errorf("%w: %T", ErrStreamingFunc, v) // the value may quote the customer
		}
	}()
	if asked.StreamingFunc != nil && len(text) > 0 {
		if err := asked.StreamingFunc(ctx, text); err != nil {
			return err
		}
	}
	if asked.StreamingReasoningFunc != nil && len(text)+len(reasoning) > 0 {
		return asked.StreamingReasoningFunc(ctx, reasoning, text)
	}
	return nil
}
