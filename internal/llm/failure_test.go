package llm

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// secret stands for what a customer or a model wrote: no error may repeat it.
const secret = "my-order-4711"

// reset breaks the connection off after what body holds.
func reset(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, body)
		if tcp, ok := conn.(*net.TCPConn); ok && strings.HasSuffix(body, "\n") {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

const chunked = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func TestBrokenStreamIsNeverASuccess(t *testing.T) {
	t.Parallel()
	said := text(secret)
	for _, tc := range []struct {
		name   string
		vendor http.HandlerFunc
		kind   Kind
		code   string
	}{
		{"garbage event", events(said, `{"choices":`+secret, finish("stop"), "[DONE]"), Malformed, ""},
		{"event of the wrong type", events(said, `{"choices":[{"delta":{"content":7}}]}`, finish("stop"), "[DONE]"), Malformed, ""},
		{"error event", events(said, `{"error":{"message":"`+secret+`","type":"server_error","code":null}}`, "[DONE]"), Malformed, "server_error"},
		{"error event with number", events(said, `{"error":{"message":"x","code":503}}`), Malformed, "503"},
		{"flat error event", events(said, `{"code":"Throttling","message":"`+secret+`","request_id":"r"}`), Malformed, "Throttling"},
		{"error event as a string", events(said, `{"error":"`+secret+`"}`), Malformed, ""},
		{"EOF without finish", events(said), Truncated, ""},
		{"[DONE] without finish", events(said, "[DONE]"), Truncated, ""},
		{"EOF within an event", raw("text/event-stream", "data: "+said+"\n\ndata: {\"choi"), Truncated, ""},
		{"connection cut between chunks", reset(chunked + "8\r\ndata: {}"), Truncated, ""},
		{"connection lost before headers", reset(""), Unavailable, ""},
		{"not HTTP", reset(secret + "\n"), Unavailable, ""},
		{"no choices", events(`{"choices":[]}`, "[DONE]"), Empty, ""},
		{"finish without text", events(finish("stop"), "[DONE]"), Empty, ""},
		{"only [DONE]", events("[DONE]"), Empty, ""},
		{"token limit before any text", events(finish("length"), "[DONE]"), Empty, "length"},
		{"empty body", raw("text/event-stream", ""), Empty, ""},
		{"empty JSON body", raw("application/json", ""), Malformed, ""},
		{"HTML", raw("text/html", "<html>\n"+secret+"</html>"), Malformed, ""},
		{"HTML as a stream", raw("text/event-stream", "<html>"+secret+"</html>"), Malformed, ""},
		{"JSON instead of a stream", raw("application/json", `{"choices":[{"message":{"content":"`+secret+`"},"finish_reason":"stop"}]}`), Malformed, ""},
		{"JSON error instead of a stream", raw("application/json", `{"error":{"code":"overloaded"}}`), Malformed, "overloaded"},
		{"content filter", events(said, finish("content_filter"), "[DONE]"), Filtered, "content_filter"},
		{"vendor out of resources", events(said, finish("insufficient_system_resource"), "[DONE]"), Truncated, "insufficient_system_resource"},
		{"tool call cut by the token limit", events(tool(`{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a"}}`), finish("length"), "[DONE]"), Truncated, ""},
		{"tool call without a name", events(tool(`{"index":0,"id":"c","function":{"arguments":"{}"}}`), finish("tool_calls"), "[DONE]"), Malformed, ""},
		{"legacy function call", events(`{"choices":[{"delta":{"function_call":{"name":"f"}}}]}`, finish("function_call"), "[DONE]"), Malformed, ""},
		{"legacy finish", events(said, finish("function_call"), "[DONE]"), Malformed, ""},
		{"tool calls without number", events(append(slices.Repeat([]string{tool(`{"id":"c","function":{"name":"f","arguments":"1"}}`)}, maxTools+1), finish("tool_calls"), "[DONE]")...), Malformed, ""},
		{"text without end", events(append(slices.Repeat([]string{text(strings.Repeat("a", 1<<20))}, 8), finish("stop"), "[DONE]")...), Malformed, ""},
		{"line without end", raw("text/event-stream", "data: \""+strings.Repeat("a", maxAnswer)+"\"\n"), Malformed, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var h heard
			resp, err := ask(t.Context(), clientOf(t, tc.vendor, nil), &h)
			e := wantKind(t, err, tc.kind)
			if resp != nil || e.Code != tc.code {
				t.Errorf("response %v, code %q, want none and %q", resp, e.Code, tc.code)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("error quotes the answer: %v", err)
			}
		})
	}
}

func TestConnectionResetInsideAStreamIsUnavailable(t *testing.T) {
	t.Parallel()
	heardOne := make(chan struct{})
	c := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, strings.Replace(chunked, "Transfer-Encoding: chunked\r\n", "", 1)+"data: "+text("a")+"\n\n")
		<-heardOne
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}), nil)
	_, err := c.GenerateContent(t.Context(), prompt("hello"), llms.WithStreamingFunc(func(context.Context, []byte) error {
		close(heardOne)
		return nil
	}))
	wantKind(t, err, Unavailable)
}

func TestBrokenWholeAnswerIsNeverASuccess(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	for _, tc := range []struct {
		name   string
		vendor http.HandlerFunc
		kind   Kind
	}{
		{"HTML", raw("text/html", "<html>"+secret+"</html>"), Malformed},
		{"garbage", raw("application/json", `{"choices":[`+secret), Malformed},
		{"wrong type", raw("application/json", `{"choices":[{"message":{"content":{"`+secret+`":1}}}]}`), Malformed},
		{"null choice", raw("application/json", `{"choices":[null]}`), Malformed},
		{"no message", raw("application/json", `{"choices":[{}]}`), Malformed},
		{"error under 200", raw("application/json", `{"error":{"message":"`+secret+`"}}`), Malformed},
		{"error beside choices", raw("application/json", `{"error":{"message":"x"},"choices":[{"message":{"content":"a"}}]}`), Malformed},
		{"legacy function call", raw("application/json", `{"choices":[{"message":{"content":""},"finish_reason":"function_call"}]}`), Malformed},
		{"event stream", events(text(secret), "[DONE]"), Malformed},
		{"no choices", raw("application/json", `{"choices":[]}`), Empty},
		{"empty text", raw("application/json", `{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`), Empty},
		{"empty body", raw("application/json", ""), Malformed},
		{"content filter", raw("application/json", `{"choices":[{"message":{"content":"a"},"finish_reason":"content_filter"}]}`), Filtered},
		{"too large", raw("application/json", `{"x":"`+strings.Repeat("a", maxAnswer)+`"}`), Malformed},
		{"cut", reset(head + "Content-Length: 100\r\n\r\n{\"choices\":"), Truncated},
		{"no content", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, Malformed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			resp, err := clientOf(t, tc.vendor, nil).GenerateContent(t.Context(), prompt(secret))
			wantKind(t, err, tc.kind)
			if resp != nil || strings.Contains(err.Error(), secret) {
				t.Errorf("response %v, error %v", resp, err)
			}
		})
	}
}

func TestRefusalsAreTyped(t *testing.T) {
	t.Parallel()
	refuse := func(status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, tc := range []struct {
		name   string
		vendor http.HandlerFunc
		want   Error
	}{
		{"rate limit", refuse(429, `{"error":{"code":"Throttling.RateQuota","message":"`+secret+`"}}`, "Retry-After", "17", "X-Request-Id", "req-1"),
			Error{Kind: RateLimited, Status: 429, Code: "Throttling.RateQuota", RetryAfter: 17 * time.Second, RequestID: "req-1"}},
		{"rate limit in ms", refuse(429, "", "Retry-After-Ms", "1500"),
			Error{Kind: RateLimited, Status: 429, RetryAfter: 1500 * time.Millisecond}},
		{"rate limit said twice: the latest wins", refuse(429, "", "Retry-After", "17", "Retry-After-Ms", "1500"),
			Error{Kind: RateLimited, Status: 429, RetryAfter: 17 * time.Second}},
		{"no key", refuse(401, `{"error":{"message":"Incorrect API key `+testKey+`","code":"`+testKey+`"}}`),
			Error{Kind: Rejected, Status: 401}},
		{"server error in HTML", refuse(500, "<html>rate limit 429 "+secret), Error{Kind: Unavailable, Status: 500}},
		{"overloaded", refuse(503, `{"error":"`+secret+`"}`, "Retry-After", "2"), Error{Kind: Unavailable, Status: 503, RetryAfter: 2 * time.Second}},
		{"request time-out", refuse(408, ""), Error{Kind: Unavailable, Status: 408}},
		{"bad request", refuse(400, `{"error":{"type":"invalid_request_error","code":null}}`), Error{Kind: Rejected, Status: 400, Code: "invalid_request_error"}},
		{"filtered prompt", refuse(400, `{"code":"data_inspection_failed","message":"x"}`), Error{Kind: Filtered, Status: 400, Code: "data_inspection_failed"}},
		{"redirect is not followed", refuse(307, "", "Location", "/elsewhere"), Error{Kind: Rejected, Status: 307}},
		{"prose in place of a code", refuse(400, `{"error":{"code":"`+secret+` is bad"}}`), Error{Kind: Rejected, Status: 400}},
	} {
		for _, streamed := range []bool{false, true} {
			name := tc.name
			var options []llms.CallOption
			if streamed {
				name, options = name+", streamed", []llms.CallOption{new(heard).option()}
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				_, err := clientOf(t, tc.vendor, nil).GenerateContent(t.Context(), prompt(secret), options...)
				got := *wantKind(t, err, tc.want.Kind)
				want := tc.want
				want.Vendor = "a"
				if got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
				if s := err.Error(); strings.Contains(s, secret) || strings.Contains(s, testKey) {
					t.Errorf("error leaks: %s", s)
				}
			})
		}
	}
}

func TestRetryAfterIsRead(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		header, value string
		want          time.Duration
	}{
		{"Retry-After", "17", 17 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", now.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		{"Retry-After", now.Add(-time.Hour).Format(http.TimeFormat), 0},
		{"Retry-After", "-3", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", "1e300", maxRetryAfter},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"X-Other", "1", 0},
	} {
		h := http.Header{}
		h.Set(tc.header, tc.value)
		if got := retryAfter(h, now); got != tc.want {
			t.Errorf("%s: %s = %s, want %s", tc.header, tc.value, got, tc.want)
		}
	}
}

func TestTheLatestRetryAfterWins(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := http.Header{}
	for _, step := range []struct {
		header, value string
		want          time.Duration
	}{
		{"Retry-After", "3", 3 * time.Second},
		{"Retry-After-Ms", "2500", 3 * time.Second},
		{"Retry-After", now.Add(20 * time.Second).Format(http.TimeFormat), 20 * time.Second},
		{"Retry-After", "soon", 20 * time.Second},
		{"Retry-After-Ms", "20001", 20_001 * time.Millisecond},
		{"Retry-After", "0", 20_001 * time.Millisecond},
	} {
		h.Add(step.header, step.value)
		if got := retryAfter(h, now); got != step.want {
			t.Errorf("with %s: %s, wait %s, want %s", step.header, step.value, got, step.want)
		}
	}
}

func TestRefusedConnectionIsUnavailable(t *testing.T) {
	t.Parallel()
	c, err := New(Config{Vendor: "a", BaseURL: "http://127.0.0.1:1/v1", Model: "m", Dial: (&net.Dialer{}).DialContext})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.GenerateContent(t.Context(), prompt("hello"))
	e := wantKind(t, err, Unavailable)
	var op *net.OpError
	if !errors.As(e, &op) {
		t.Errorf("error = %v, want the dial error beneath", err)
	}
}
