package llm

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// endless streams until its client has gone, fast or (hung) after a few events not at all.
func endless(hung bool, gone chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer func() { gone <- struct{}{} }()
		for i := 0; r.Context().Err() == nil; i++ {
			if hung && i == 8 {
				<-r.Context().Done()
				return
			}
			flushed(w, text("word "))
		}
	}
}

func TestCancelledStreamIsNeverASuccessAndClosesUpstream(t *testing.T) {
	t.Parallel()
	stop := errors.New("customer left")
	for name, hung := range map[string]bool{"fast": false, "hung": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gone := make(chan struct{}, 1)
			c := clientOf(t, endless(hung, gone), nil)
			for i := range 200 {
				ctx, cancel := context.WithCancelCause(t.Context())
				at := make(chan struct{})
				go func() {
					<-at
					cancel(stop)
				}()
				n := 0
				resp, err := c.GenerateContent(ctx, prompt("hello"), llms.WithStreamingFunc(func(context.Context, []byte) error {
					if n++; n == 1+i%8 {
						close(at)
					}
					return nil
				}))
				if resp != nil || err != stop {
					t.Fatalf("run %d: response %v, error %v", i, resp, err)
				}
				select {
				case <-gone:
				case <-time.After(10 * time.Second):
					t.Fatalf("run %d: the upstream call goes on", i)
				}
			}
		})
	}
}

func TestDeadlineInsideAStreamIsNeverASuccess(t *testing.T) {
	t.Parallel()
	const runs = 50
	c := clientOf(t, endless(false, make(chan struct{}, runs)), nil)
	for i := range runs {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%5)*time.Millisecond)
		_, err := ask(ctx, c, new(heard))
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("run %d: error %v", i, err)
		}
	}
}

func TestCancelBeforeHeadersReturnsTheCause(t *testing.T) {
	t.Parallel()
	stop := errors.New("customer left")
	for name, options := range map[string][]llms.CallOption{"whole": nil, "streamed": {new(heard).option()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			c := clientOf(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				cancel(stop)
				<-r.Context().Done()
			}), nil)
			if _, err := c.GenerateContent(ctx, prompt("hello"), options...); err != stop {
				t.Errorf("error = %v", err)
			}
			if _, err := c.GenerateContent(ctx, prompt("hello"), options...); err != stop {
				t.Errorf("with a context that is done: error = %v", err)
			}
		})
	}
}

func TestSlowStreamingFunctionDoesNotOutliveItsContext(t *testing.T) {
	t.Parallel()
	c := clientOf(t, events(text("a"), text("b"), finish("stop"), "[DONE]"), nil)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := c.GenerateContent(ctx, prompt("hello"), llms.WithStreamingFunc(func(context.Context, []byte) error {
		calls++
		cancel() // as if its time had passed inside
		return nil
	}))
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("error %v after %d calls", err, calls)
	}
}

func TestStreamingFunctionFailuresEndTheCall(t *testing.T) {
	t.Parallel()
	own := errors.New("socket closed")
	for _, tc := range []struct {
		name string
		fail func() error
		want error
		not  string
	}{
		{"error", func() error { return own }, own, ""},
		{"panic", func() error { panic(secret) }, ErrStreamingFunc, secret},
		{"runtime panic", func() error { return []error{}[len(secret)] }, ErrStreamingFunc, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			gone := make(chan struct{}, 1)
			c := clientOf(t, endless(false, gone), nil)
			resp, err := c.GenerateContent(t.Context(), prompt("hello"), llms.WithStreamingFunc(func(context.Context, []byte) error {
				return tc.fail()
			}))
			if resp != nil || !errors.Is(err, tc.want) {
				t.Fatalf("response %v, error %v", resp, err)
			}
			var e *Error
			if errors.As(err, &e) {
				t.Errorf("the vendor is blamed: %v", err)
			}
			if tc.not != "" && strings.Contains(err.Error(), tc.not) {
				t.Errorf("error quotes the panic: %v", err)
			}
			<-gone
		})
	}
}

func TestClientServesManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	var inFlight, most atomic.Int64
	c := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := inFlight.Add(1)
		defer inFlight.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		events(text("a"), tool(`{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}`), text("b"), finish("stop"), "[DONE]")(w, r)
	}), nil)
	fails := make(chan error)
	for range 64 {
		go func() {
			var h heard
			resp, err := ask(t.Context(), c, &h)
			if err == nil && (h.text.String() != "ab" || toolsOf(resp) != "c1 function f({})") {
				err = errors.New("mixed up: " + h.text.String())
			}
			fails <- err
		}()
	}
	for range 64 {
		if err := <-fails; err != nil {
			t.Error(err)
		}
	}
}
