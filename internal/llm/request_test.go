package llm

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
)

const wholeAnswer = `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`

// sent returns the request that a call makes.
func sent(t *testing.T, change func(*Config), options ...llms.CallOption) (string, http.Header) {
	t.Helper()
	var body string
	var header http.Header
	c := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		body, header = string(b), r.Header
		if r.URL.Path != "/v1/chat/completions" || r.ContentLength != int64(len(b)) {
			t.Errorf("path %s, length %d of %d", r.URL.Path, r.ContentLength, len(b))
		}
		raw("application/json", wholeAnswer)(w, r)
	}), change)
	resp, err := c.GenerateContent(t.Context(), prompt("hello"), options...)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Choices[0].Content != "a" || resp.Choices[0].StopReason != "stop" || UsageOf(resp) != (Usage{5, 1}) || !Drained(resp) {
		t.Errorf("answer = %+v", resp.Choices[0])
	}
	return body, header
}

func TestRequestCarriesExtraFieldsInOrder(t *testing.T) {
	t.Parallel()
	plain, header := sent(t, nil)
	if header.Get("Authorization") != "Bearer "+testKey || header.Get("Openai-Organization") != "" {
		t.Errorf("header = %v", header)
	}
	want := `{"model":"model-l","messages":[{"role":"user","content":"hello"}],"temperature":0}`
	if plain != want {
		t.Errorf("plain request = %s", plain)
	}
	got, _ := sent(t, func(cfg *Config) {
		cfg.Extra = map[string]json.RawMessage{
			"model":           json.RawMessage(`"other"`),
			"temperature":     nil,
			"top_p":           json.RawMessage(`0.9`),
			"enable_thinking": json.RawMessage(`false`),
		}
	})
	want = `{"model":"other","messages":[{"role":"user","content":"hello"}],"enable_thinking":false,"top_p":0.9}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRequestCarriesTheOptionsThatLangchaingoDrops(t *testing.T) {
	t.Parallel()
	body, _ := sent(t, func(cfg *Config) {
		cfg.Extra = map[string]json.RawMessage{"top_p": json.RawMessage(`0.9`)}
	}, llms.WithTopP(0.25), llms.WithMaxTokens(7))
	if !strings.Contains(body, `"top_p":0.25`) || !strings.Contains(body, `"max_completion_tokens":7`) {
		t.Errorf("request = %s", body)
	}
}

func TestLegacyTokenLimitLeavesTheCallersMetadataAlone(t *testing.T) {
	t.Parallel()
	metadata := map[string]any{"ticket": "t_1"}
	body, _ := sent(t, func(cfg *Config) { cfg.LegacyMaxTokens = true }, llms.WithMaxTokens(7), llms.WithMetadata(metadata))
	if !strings.Contains(body, `"max_tokens":7`) || strings.Contains(body, "max_completion_tokens") || !strings.Contains(body, `"metadata":{"ticket":"t_1"}`) {
		t.Errorf("request = %s", body)
	}
	if len(metadata) != 1 {
		t.Errorf("metadata = %v", metadata)
	}
}

func TestClientWithoutAKeySendsNone(t *testing.T) {
	t.Parallel()
	_, header := sent(t, func(cfg *Config) { cfg.Key = "" })
	if got := header.Get("Authorization"); got != "" {
		t.Errorf("Authorization = %q", got)
	}
}

func TestCallPassesTheSameChecks(t *testing.T) {
	t.Parallel()
	c := clientOf(t, raw("application/json", wholeAnswer), nil)
	if got, err := c.Call(t.Context(), "hello"); got != "a" || err != nil {
		t.Errorf("answer %q, error %v", got, err)
	}
	_, err := clientOf(t, raw("application/json", `{"choices":[]}`), nil).Call(t.Context(), "hello")
	wantKind(t, err, Empty)
}

func TestRequestThatCannotBeBuiltIsRejected(t *testing.T) {
	t.Parallel()
	c := clientOf(t, raw("application/json", wholeAnswer), nil)
	_, err := c.GenerateContent(t.Context(), []llms.MessageContent{{Role: "stranger"}})
	wantKind(t, err, Rejected)
}

func TestWholeToolCallsAreCompleted(t *testing.T) {
	t.Parallel()
	c := clientOf(t, raw("application/json", `{"choices":[{"message":{"content":"","tool_calls":[{"function":{"name":"hours","arguments":""}},`+
		`{"id":"c2","type":"function","function":{"name":"order","arguments":"{\"id\":1}"}}]},"finish_reason":"tool_calls"}]}`), nil)
	resp, err := c.GenerateContent(t.Context(), prompt("hello"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := toolsOf(resp), `call_0 function hours({}); c2 function order({"id":1})`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestConfigNamesTheFieldAtFault(t *testing.T) {
	t.Parallel()
	good := Config{Vendor: "a", BaseURL: "https://vendor.test/v1", Model: "m"}
	for _, tc := range []struct {
		field  string
		change func(*Config)
	}{
		{"vendor", func(c *Config) { c.Vendor = "" }},
		{"model", func(c *Config) { c.Model = "" }},
		{"base url", func(c *Config) { c.BaseURL = "vendor.test/v1" }},
		{"base url", func(c *Config) { c.BaseURL = "https://user:pass@vendor.test/v1" }},
		{"max conns", func(c *Config) { c.MaxConns = -1 }},
		{"extra", func(c *Config) { c.Extra = map[string]json.RawMessage{"stream": json.RawMessage("true")} }},
		{"extra", func(c *Config) { c.Extra = map[string]json.RawMessage{"top_p": json.RawMessage("0,9")} }},
		{"gap", func(c *Config) { c.Timeouts.Gap = -time.Second }},
	} {
		cfg := good
		tc.change(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), tc.field) {
			t.Errorf("%s: error = %v", tc.field, err)
		}
	}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}

func TestConfigErrorsDoNotRepeatThePassword(t *testing.T) {
	t.Parallel()
	err := Config{Vendor: "a", BaseURL: "https://user:hunter2@vendor.test/v1", Model: "m"}.Validate()
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error = %v", err)
	}
}

func TestUsageOfNothingIsZero(t *testing.T) {
	t.Parallel()
	if got := UsageOf(nil); got != (Usage{}) {
		t.Errorf("usage = %+v", got)
	}
	if got := UsageOf(&llms.ContentResponse{}); got != (Usage{}) {
		t.Errorf("usage = %+v", got)
	}
}

func ExampleClient_GenerateContent() {
	c, err := New(Config{Vendor: "a", BaseURL: "http://127.0.0.1:9101/v1", Model: "model-l"})
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = c.GenerateContent(context.Background(), prompt("Where is my order?"),
		llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
			_ = chunk // hand it to a bounded queue; never block here
			return nil
		}))
}
