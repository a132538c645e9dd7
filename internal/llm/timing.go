package llm

import (
	"context"
	"sync/atomic"
	"time"
)

// Timing is how a call went, as far as it came: what tells a slow vendor from a long answer. The zero value knows
// nothing. It is safe for concurrent use, and serves one call at a time.
type Timing struct {
	first    atomic.Int64
	gap      atomic.Int64
	endpoint atomic.Pointer[string]
}

type timingKey struct{}

// WithTiming returns a context under which the next call of a Client is timed.
func WithTiming(ctx context.Context) (context.Context, *Timing) {
	t := &Timing{}
	return context.WithValue(ctx, timingKey{}, t), t
}

// FirstToken is the time from when the call had a connection, or began to open one, to its first text, reasoning or tool
// call. It is 0 if none came, and for a call that is not streamed: that has no first token, only a whole answer.
func (t *Timing) FirstToken() time.Duration { return time.Duration(t.first.Load()) }

// Gap is the longest silence between two tokens, measured as the limit of that name does.
func (t *Timing) Gap() time.Duration { return time.Duration(t.gap.Load()) }

// Endpoint is the base URL that was called, "" before any call.
func (t *Timing) Endpoint() string {
	if s := t.endpoint.Load(); s != nil {
		return *s
	}
	return ""
}

// timed returns the timing of ctx, which forgets what it knew; nil if there is none.
func (c *Client) timed(ctx context.Context) *Timing {
	t, ok := ctx.Value(timingKey{}).(*Timing)
	if !ok {
		return nil
	}
	t.first.Store(0)
	t.gap.Store(0)
	t.endpoint.Store(&c.endpoint)
	return t
}

func (t *Timing) firstToken(d time.Duration) {
	if t != nil {
		t.first.Store(int64(d))
	}
}

// silent notes a silence; only the reader of the stream calls it.
func (t *Timing) silent(d time.Duration) {
	if t != nil && int64(d) > t.gap.Load() {
		t.gap.Store(int64(d))
	}
}
