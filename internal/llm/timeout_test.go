package llm

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// hang waits for the client to go, and notes that it did.
func hang(r *http.Request, gone *atomic.Bool) {
	<-r.Context().Done()
	gone.Store(true)
}

func TestEachLimitEndsTheUpstreamCallOnTime(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		vendor func(w http.ResponseWriter, r *http.Request, gone *atomic.Bool)
		whole  bool
		phase  Phase
		after  time.Duration
	}{
		{"no headers", func(_ http.ResponseWriter, r *http.Request, gone *atomic.Bool) {
			hang(r, gone)
		}, false, PhaseFirstToken, 10 * time.Second},
		{"headers, role and comments but no token", func(w http.ResponseWriter, r *http.Request, gone *atomic.Bool) {
			flushed(w, `{"choices":[{"delta":{"role":"assistant","content":""}}]}`)
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, ": keep-alive\n\n")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Second)
			}
			gone.Store(true)
		}, false, PhaseFirstToken, 10 * time.Second},
		{"silence after tokens", func(w http.ResponseWriter, r *http.Request, gone *atomic.Bool) {
			time.Sleep(4 * time.Second)
			flushed(w, text("a"))
			time.Sleep(12 * time.Second)
			flushed(w, text("b"))
			hang(r, gone)
		}, false, PhaseGap, 31 * time.Second},
		{"silence after a tool call", func(w http.ResponseWriter, r *http.Request, gone *atomic.Bool) {
			flushed(w, tool(`{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}`))
			hang(r, gone)
		}, false, PhaseGap, 15 * time.Second},
		{"tokens without end", func(w http.ResponseWriter, r *http.Request, gone *atomic.Bool) {
			for r.Context().Err() == nil {
				flushed(w, text("a"))
				time.Sleep(7 * time.Second)
			}
			gone.Store(true)
		}, false, PhaseStream, 120 * time.Second},
		{"whole answer without headers", func(_ http.ResponseWriter, r *http.Request, gone *atomic.Bool) {
			hang(r, gone)
		}, true, PhaseCall, 60 * time.Second},
		{"whole answer without end", func(w http.ResponseWriter, r *http.Request, gone *atomic.Bool) {
			_, _ = io.WriteString(w, `{"choices":`)
			_ = http.NewResponseController(w).Flush()
			hang(r, gone)
		}, true, PhaseCall, 60 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var gone atomic.Bool
				c := bubbled(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { tc.vendor(w, r, &gone) }))
				var options []llms.CallOption
				if !tc.whole {
					options = append(options, new(heard).option())
				}
				start := time.Now()
				resp, err := c.GenerateContent(t.Context(), prompt("hello"), options...)
				took := time.Since(start)
				if e := wantKind(t, err, Timeout); e.Phase != tc.phase || resp != nil {
					t.Errorf("phase = %q, want %q", e.Phase, tc.phase)
				}
				if took != tc.after {
					t.Errorf("ended after %s, want %s", took, tc.after)
				}
				time.Sleep(8 * time.Second) // the vendor may be between two words
				if !gone.Load() {
					t.Error("the upstream call goes on")
				}
			})
		})
	}
}

func TestConnectLimitEndsADialThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Config{Vendor: "a", BaseURL: "http://vendor.test/v1", Model: "m",
			Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err = ask(t.Context(), c, new(heard))
		if e := wantKind(t, err, Timeout); e.Phase != PhaseConnect || time.Since(start) != 2*time.Second {
			t.Errorf("phase %q after %s", e.Phase, time.Since(start))
		}
	})
}

func TestSlowStreamingFunctionIsNotAGapOfTheVendor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := bubbled(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for range 3 {
				flushed(w, text("a"))
				time.Sleep(time.Second)
			}
			flushed(w, finish("stop"))
			flushed(w, "[DONE]")
		}))
		_, err := c.GenerateContent(t.Context(), prompt("hello"), llms.WithStreamingFunc(func(context.Context, []byte) error {
			time.Sleep(20 * time.Second)
			return nil
		}))
		if err != nil {
			t.Error(err)
		}
	})
}

func TestCallersDeadlineIsNotTheVendorsFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var gone atomic.Bool
		c := bubbled(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			flushed(w, text("a"))
			hang(r, &gone)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		if _, err := ask(ctx, c, new(heard)); err != context.DeadlineExceeded || time.Since(start) != 3*time.Second {
			t.Errorf("error %v after %s", err, time.Since(start))
		}
		synctest.Wait()
		if !gone.Load() {
			t.Error("the upstream call goes on")
		}
	})
}

// A generator that has died behind a proxy that goes on sending: pieces without text, and
// comments, are silence.
func TestEmptyPiecesDoNotEndASilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := bubbled(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			flushed(w, text("a"))
			time.Sleep(3 * time.Second)
			flushed(w, text("b"))
			for r.Context().Err() == nil {
				time.Sleep(100 * time.Millisecond)
				flushed(w, text(""))
				_, _ = io.WriteString(w, ": still here\n\n")
			}
		}))
		ctx, timing := WithTiming(t.Context())
		begun := time.Now()
		_, err := ask(ctx, c, new(heard))
		if e := wantKind(t, err, Timeout); e.Phase != PhaseGap || time.Since(begun) != 18*time.Second {
			t.Errorf("%v after %s, want the gap's limit 15s after the last token", err, time.Since(begun))
		}
		if timing.Gap() != 3*time.Second {
			t.Errorf("longest gap between tokens %s, want 3s", timing.Gap())
		}
		time.Sleep(time.Second) // for the vendor to notice
	})
}
