package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fast answers at once.
var fast = Behaviour{FirstToken: Fixed(0), Call: Fixed(0)}

// steady answers from 200 ms to 1 s after the call.
var steady = Behaviour{FirstToken: Fixed(200 * time.Millisecond), Call: Fixed(time.Second)}

func newVendor(t testing.TB, cfg Config) *Vendor {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "a"
	}
	v, err := NewVendor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// bubble is a vendor on an in-memory listener, for use inside synctest.Test.
type bubble struct {
	*Vendor
	client *http.Client
	stop   func()
}

func inBubble(t *testing.T, cfg Config) *bubble {
	t.Helper()
	v := newVendor(t, cfg)
	port := NewPipeListener()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, v, port, nil) }()
	b := &bubble{Vendor: v, client: port.Client()}
	b.stop = func() {
		b.client.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	}
	return b
}

// post sends a chat request and returns the response with its body unread.
func (b *bubble) post(ctx context.Context, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return b.client.Do(req)
}

// ask sends a chat request and returns status and body.
func (b *bubble) ask(t *testing.T, body string) (int, string) {
	t.Helper()
	res, err := b.post(t.Context(), body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(raw)
}

func plainQuestion(text string) string { return chatBody(map[string]any{}, text) }
func streamQuestion(text string) string {
	return chatBody(map[string]any{"stream": true, "stream_options": map[string]any{"include_usage": true}}, text)
}

// chatBody makes a request of alternating user and assistant messages.
func chatBody(fields map[string]any, texts ...string) string {
	messages := []map[string]any{{"role": "system", "content": "You serve customers."}}
	for i, s := range texts {
		messages = append(messages, map[string]any{"role": []string{"user", "assistant"}[i%2], "content": s})
	}
	fields["model"], fields["messages"] = "model-l", messages
	raw, _ := json.Marshal(fields)
	return string(raw)
}

// events returns the data of every server-sent event.
func events(t *testing.T, stream string) []string {
	t.Helper()
	var out []string
	lines := bufio.NewScanner(bytes.NewBufferString(stream))
	for lines.Scan() {
		line := lines.Text()
		if line == "" {
			continue
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			t.Fatalf("line %q is not an event", line)
		}
		out = append(out, data)
	}
	return out
}

// parsed is a stream put together again.
type parsed struct {
	role, content, finish string
	calls                 []ToolCall
	usage                 *Usage
	done                  bool
	bad, errors           int
}

func parse(t *testing.T, stream string) parsed {
	t.Helper()
	var p parsed
	for _, e := range events(t, stream) {
		if e == "[DONE]" {
			p.done = true
			continue
		}
		var c struct {
			Choices []struct {
				Delta        delta   `json:"delta"`
				FinishReason *string `json:"finish_reason"`
			} `json:"choices"`
			Usage *Usage       `json:"usage"`
			Error *errorDetail `json:"error"`
		}
		if json.Unmarshal([]byte(e), &c) != nil {
			p.bad++
			continue
		}
		if c.Error != nil {
			p.errors++
		}
		if c.Usage != nil {
			p.usage = c.Usage
		}
		for _, choice := range c.Choices {
			p.role += choice.Delta.Role
			if choice.Delta.Content != nil {
				p.content += *choice.Delta.Content
			}
			if choice.FinishReason != nil {
				p.finish = *choice.FinishReason
			}
			for _, d := range choice.Delta.ToolCalls {
				if d.ID != "" {
					p.calls = append(p.calls, ToolCall{ID: d.ID, Type: d.Type, Function: FunctionCall{Name: d.Function.Name}})
				}
				p.calls[d.Index].Function.Arguments += d.Function.Arguments
			}
		}
	}
	return p
}
