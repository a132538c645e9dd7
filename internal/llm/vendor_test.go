package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-test-0123456789"

// events is a vendor that streams one answer: each string is the data of an event, and nothing is added.
func events(data ...string) http.HandlerFunc {
	var body strings.Builder
	for _, d := range data {
		body.WriteString("data: " + d + "\n\n")
	}
	return raw("text/event-stream", body.String())
}

func raw(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

func text(s string) string {
	return `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":` +
		string(quote(s)) + `},"finish_reason":null}]}`
}

func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

// tool is a delta of tool calls as a vendor sends it.
func tool(calls string) string {
	return `{"choices":[{"index":0,"delta":{"tool_calls":[` + calls + `]},"finish_reason":null}]}`
}

// flushed writes an event and sends it off.
func flushed(w http.ResponseWriter, data string) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	_, _ = io.WriteString(w, "data: "+data+"\n\n")
	_ = http.NewResponseController(w).Flush()
}

// attentive reads the request first: a server notices that its client has gone only once it has.
func attentive(vendor http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		vendor.ServeHTTP(w, r)
	})
}

// patient are limits for tests in real time, which are not about limits: a busy machine may take its time.
var patient = Timeouts{Acquire: time.Minute, Connect: time.Minute, FirstToken: time.Minute, Gap: time.Minute, Call: time.Minute}

// clientOf returns a client of a vendor on the loopback interface.
func clientOf(t testing.TB, vendor http.Handler, change func(*Config)) *Client {
	t.Helper()
	srv := httptest.NewServer(attentive(vendor))
	cfg := Config{Vendor: "a", BaseURL: srv.URL + "/v1", Key: testKey, Model: "model-l", Timeouts: patient}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		srv.Close()
	})
	return c
}

// memory is a listener without a network, for synctest bubbles.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemory() *memory {
	return &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case conn := <-m.conns:
		return conn, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-m.closed:
		return nil, errors.New("listener is closed")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// bubbled returns a client of a vendor inside the bubble that t runs in, with the default time-outs.
func bubbled(t *testing.T, vendor http.Handler) *Client {
	t.Helper()
	return bubbledWith(t, vendor, func(*Config) {})
}

func bubbledWith(t *testing.T, vendor http.Handler, change func(*Config)) *Client {
	t.Helper()
	l := newMemory()
	srv := &http.Server{Handler: attentive(vendor)}
	var serving sync.WaitGroup
	serving.Go(func() { _ = srv.Serve(l) })
	cfg := Config{Vendor: "a", BaseURL: "http://vendor.test/v1", Key: testKey, Model: "model-l", Dial: l.dial}
	change(&cfg)
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		_ = srv.Close()
		serving.Wait()
	})
	return c
}

func prompt(s string) []llms.MessageContent {
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, s)}
}

// heard collects what a streaming function is given.
type heard struct {
	text   strings.Builder
	chunks int
	empty  int
}

func (h *heard) option() llms.CallOption {
	return llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
		h.chunks++
		if len(chunk) == 0 {
			h.empty++
		}
		h.text.Write(chunk)
		return nil
	})
}

// ask makes a streamed call.
func ask(ctx context.Context, c *Client, h *heard) (*llms.ContentResponse, error) {
	return c.GenerateContent(ctx, prompt("hello"), h.option())
}

// toolsOf renders tool calls for comparison.
func toolsOf(resp *llms.ContentResponse) string {
	var all []string
	for _, call := range resp.Choices[0].ToolCalls {
		all = append(all, fmt.Sprintf("%s %s %s(%s)", call.ID, call.Type, call.FunctionCall.Name, call.FunctionCall.Arguments))
	}
	return strings.Join(all, "; ")
}

// wantKind returns the vendor error of the kind, or fails.
func wantKind(t *testing.T, err error, kind Kind) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v, want an *Error of kind %s", err, kind)
	}
	if e.Kind != kind {
		t.Fatalf("error = %v, want kind %s", err, kind)
	}
	if e.Vendor != "a" {
		t.Errorf("vendor = %q", e.Vendor)
	}
	return e
}
