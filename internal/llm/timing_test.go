package llm

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
)

func TestTimingTellsASlowVendorFromALongAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		vendor     func(w http.ResponseWriter)
		first, gap time.Duration
		kind       Kind // of the failure, "" if it is an answer
	}{
		{"long and even", func(w http.ResponseWriter) {
			for range 50 {
				time.Sleep(time.Second)
				flushed(w, text("a"))
			}
		}, time.Second, time.Second, ""},
		{"a role is no token", func(w http.ResponseWriter) {
			flushed(w, `{"choices":[{"delta":{"role":"assistant","content":""}}]}`)
			time.Sleep(6 * time.Second)
			flushed(w, text("a"))
		}, 6 * time.Second, 0, ""},
		{"a silence in the middle", func(w http.ResponseWriter) {
			for _, pause := range []time.Duration{1, 2, 9, 3} {
				time.Sleep(pause * time.Second)
				flushed(w, text("a"))
			}
		}, time.Second, 9 * time.Second, ""},
		{"a silence before the end", func(w http.ResponseWriter) {
			flushed(w, text("a"))
			time.Sleep(4 * time.Second)
		}, 0, 4 * time.Second, ""},
		{"a tool call is a token", func(w http.ResponseWriter) {
			time.Sleep(2 * time.Second)
			flushed(w, tool(`{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}`))
			time.Sleep(3 * time.Second)
			flushed(w, tool(`{"index":0,"function":{"arguments":"}"}}`))
		}, 2 * time.Second, 3 * time.Second, ""},
		{"a failure in the middle", func(w http.ResponseWriter) {
			time.Sleep(time.Second)
			flushed(w, text("a"))
			time.Sleep(5 * time.Second)
			flushed(w, "garbage")
		}, time.Second, 0, Malformed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := bubbled(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					tc.vendor(w)
					flushed(w, finish("stop"))
					flushed(w, "[DONE]")
				}))
				ctx, timing := WithTiming(t.Context())
				_, err := ask(ctx, c, new(heard))
				if tc.kind != "" {
					wantKind(t, err, tc.kind)
				} else if err != nil {
					t.Fatal(err)
				}
				if timing.FirstToken() != tc.first || timing.Gap() != tc.gap {
					t.Errorf("first token %s, gap %s, want %s and %s", timing.FirstToken(), timing.Gap(), tc.first, tc.gap)
				}
				if timing.Endpoint() != "http://vendor.test/v1" {
					t.Errorf("endpoint %q", timing.Endpoint())
				}
			})
		})
	}
}

func TestTimingLeavesOutTheStreamingFunction(t *testing.T) {
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
		ctx, timing := WithTiming(t.Context())
		_, err := c.GenerateContent(ctx, prompt("hello"), llms.WithStreamingFunc(func(context.Context, []byte) error {
			time.Sleep(8 * time.Second)
			return nil
		}))
		if err != nil || timing.FirstToken() != 0 || timing.Gap() > time.Second {
			t.Errorf("error %v, first token %s, gap %s", err, timing.FirstToken(), timing.Gap())
		}
	})
}

func TestTimingOfAWholeAnswerHasNoFirstTokenAndForgetsTheCallBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := bubbled(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(3 * time.Second)
			if r.Header.Get("Accept") == "application/json" {
				raw("application/json", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`)(w, r)
				return
			}
			flushed(w, text("a"))
			flushed(w, finish("stop"))
			flushed(w, "[DONE]")
		}))
		ctx, timing := WithTiming(t.Context())
		if _, err := ask(ctx, c, new(heard)); err != nil || timing.FirstToken() != 3*time.Second {
			t.Fatalf("error %v, first token %s", err, timing.FirstToken())
		}
		resp, err := c.GenerateContent(ctx, prompt("hello"))
		if err != nil || timing.FirstToken() != 0 || timing.Gap() != 0 {
			t.Errorf("error %v, first token %s, gap %s", err, timing.FirstToken(), timing.Gap())
		}
		if u := UsageOf(resp); u != (Usage{PromptTokens: 7, CompletionTokens: 2}) {
			t.Errorf("usage %+v", u)
		}
	})
}
