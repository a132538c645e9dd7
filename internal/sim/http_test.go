package sim

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

func do(t *testing.T, method, url, key, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(raw)
}

func TestMistakesOfTheCallerAreNamed(t *testing.T) {
	t.Parallel()
	v := newVendor(t, Config{Key: "secret", Behaviour: fast})
	server := httptest.NewServer(v.Handler())
	defer server.Close()
	chat := server.URL + "/v1/chat/completions"
	for _, c := range []struct {
		name, url, key, body string
		status               int
		want                 string
	}{
		{"no key", chat, "", plainQuestion("hi"), 401, "invalid_api_key"},
		{"wrong key", chat, "secreT", plainQuestion("hi"), 401, "invalid_api_key"},
		{"not JSON", chat, "secret", "{", 400, "invalid_request"},
		{"no messages", chat, "secret", `{"model":"m","messages":[]}`, 400, "messages: must hold"},
		{"no model", chat, "secret", `{"messages":[]}`, 400, "model: must be set"},
		{"bad role", chat, "secret", `{"model":"m","messages":[{"role":"boss","content":"x"}]}`, 400, "boss"},
		{"two choices", chat, "secret", `{"model":"m","n":2,"messages":[{"role":"user","content":"x"}]}`, 400, "n: 2"},
		{"bad UTF-8", chat, "secret", "{\"model\":\"\xff\"}", 400, "UTF-8"},
		{"too large", chat, "secret", plainQuestion(strings.Repeat("x", maxBody)), 413, "request_too_large"},
		{"unknown path", server.URL + "/v1/images", "secret", "{}", 404, "not_found"},
		{"no input", server.URL + "/v1/embeddings", "secret", `{"model":"m","input":[]}`, 400, "input: must hold"},
		{"token input", server.URL + "/v1/embeddings", "secret", `{"model":"m","input":[[1]]}`, 400, "invalid_request"},
	} {
		status, _, body := do(t, http.MethodPost, c.url, c.key, c.body)
		var e errorBody
		if err := json.Unmarshal([]byte(body), &e); err != nil || e.Error.Type == "" {
			t.Errorf("%s: not an error in the protocol's shape: %s", c.name, body)
		}
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
	}
	if s := v.Stats(); s.Invalid != 11 || s.Calls != 11 || s.InFlight != 0 {
		t.Errorf("stats %+v", s)
	}
	if status, _, body := do(t, http.MethodPost, chat, "secret", `{"model":"never-heard-of","messages":[{"role":"user","content":"hi"}]}`); status != 200 {
		t.Errorf("unknown model: %d %s", status, body)
	}
	if status, _, body := do(t, http.MethodGet, server.URL+"/v1/models", "secret", ""); status != 200 || !strings.Contains(body, `"model-l"`) {
		t.Errorf("models: %d %s", status, body)
	}
}

func TestPromptsAreKeptOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{false, true} {
		v := newVendor(t, Config{Behaviour: fast, Record: on})
		server := httptest.NewServer(v.Handler())
		body := chatBody(map[string]any{"tools": tools("query_order")}, "first", "answer", "second")
		do(t, http.MethodPost, server.URL+"/v1/chat/completions", "", body)
		server.Close()
		got := v.Prompts()
		if !on {
			if len(got) != 0 {
				t.Errorf("kept %+v", got)
			}
			continue
		}
		if len(got) != 1 || len(got[0].Messages) != 4 || got[0].Messages[1].Content != "first" || got[0].Tools[0] != "query_order" {
			t.Errorf("prompts %+v", got)
		}
	}
}

func TestPromptsAreBounded(t *testing.T) {
	t.Parallel()
	r := &record{}
	for i := range maxPrompts + 10 {
		r.add(Prompt{Model: fmt.Sprint(i), bytes: 1})
	}
	if got := r.read(); len(got) != maxPrompts || got[0].Model != "10" {
		t.Errorf("%d prompts from %s", len(got), got[0].Model)
	}
	r.add(Prompt{Model: "large", bytes: maxPromptBytes})
	if got := r.read(); len(got) != 1 || got[0].Model != "large" {
		t.Errorf("%d prompts beside a large one", len(got))
	}
}

func TestSimilarTextsHaveNearEmbeddings(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newVendor(t, Config{Behaviour: fast}).Handler())
	defer server.Close()
	var got struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Usage Usage `json:"usage"`
	}
	_, _, body := do(t, http.MethodPost, server.URL+"/v1/embeddings", "",
		`{"model":"e","input":["我的快递什么时候到","快递什么时候能到","怎么开发票","How do I reset my password","I want to reset the password","Do you ship to France"],"dimensions":384}`)
	if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Data) != 6 {
		t.Fatalf("%v: %s", err, body)
	}
	near := func(i, j int) float64 { return dot(got.Data[i].Embedding, got.Data[j].Embedding) }
	if near(0, 1) < near(0, 2)+0.3 || near(3, 4) < near(3, 5)+0.2 || math.Abs(near(0, 0)-1) > 1e-5 {
		t.Errorf("zh %.2f against %.2f, en %.2f against %.2f", near(0, 1), near(0, 2), near(3, 4), near(3, 5))
	}
	if len(got.Data[5].Embedding) != 384 || got.Data[5].Index != 5 || got.Usage.PromptTokens == 0 {
		t.Errorf("data %+v", got.Usage)
	}
	_, _, body = do(t, http.MethodPost, server.URL+"/v1/embeddings", "", `{"model":"e","input":"x y","encoding_format":"base64"}`)
	var one struct {
		Data []struct {
			Embedding string `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &one); err != nil {
		t.Fatal(err)
	}
	if raw, err := base64.StdEncoding.DecodeString(one.Data[0].Embedding); err != nil || len(raw) != 4*defaultDimensions {
		t.Errorf("base64: %d bytes, %v", len(raw), err)
	}
}

func TestControlSteersAVendor(t *testing.T) {
	t.Parallel()
	v := newVendor(t, Config{Quota: 5, Behaviour: fast})
	server := httptest.NewServer(v.Control())
	defer server.Close()
	behaviour := server.URL + "/sim/behaviour"
	do(t, http.MethodPut, behaviour, "", `{"first_token":{"kind":"fixed","mean":"80ms"},"error_share":0.5}`)
	do(t, http.MethodPatch, behaviour, "", `{"slow":2}`)
	got := v.Behaviour()
	if got.FirstToken != Fixed(80*time.Millisecond) || got.ErrorShare != 0.5 || got.Slow != 2 {
		t.Errorf("behaviour %+v", got)
	}
	status, header, body := do(t, http.MethodPut, behaviour, "", `{"first_token":{"knd":"fixed"}}`)
	want := `{"type":"about:blank","title":"Bad Request","status":400,"detail":"first_token.knd: unknown field",` +
		`"code":"invalid_behaviour","errors":[{"field":"first_token.knd","detail":"unknown field"}]}` + "\n"
	if status != 400 || header.Get("Content-Type") != "application/problem+json" || body != want {
		t.Errorf("%d %s", status, body)
	}
	if v.Behaviour() != got {
		t.Error("a refused document changed something")
	}
	if status, _, body := do(t, http.MethodPut, behaviour, "", `{`); status != 400 || !strings.Contains(body, "JSON object") {
		t.Errorf("%d %s", status, body)
	}
	if _, _, body := do(t, http.MethodPost, server.URL+"/sim/reset", "", ""); !strings.Contains(body, `"calls":0`) {
		t.Errorf("reset: %s", body)
	}
	if v.Behaviour() != fast.filled() {
		t.Errorf("after reset %+v", v.Behaviour())
	}
	_, _, body = do(t, http.MethodGet, server.URL+"/sim/stats", "", "")
	for _, name := range []string{`"vendor":"a"`, `"quota":5`, `"in_flight":0`, `"max_in_flight":0`, `"refused":0`, `"cancelled":0`} {
		if !strings.Contains(body, name) {
			t.Errorf("stats without %s: %s", name, body)
		}
	}
}

// The client that Sluice uses must read what the simulator writes.
func TestLangchaingoReadsTheAnswers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newVendor(t, Config{Key: "k", Behaviour: fast}).Handler())
	defer server.Close()
	client, err := openai.New(openai.WithToken("k"), openai.WithModel("model-l"), openai.WithBaseURL(server.URL+"/v1"),
		openai.WithHTTPClient(server.Client()))
	if err != nil {
		t.Fatal(err)
	}
	var streamed strings.Builder
	ask := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "我要退款")}
	res, err := client.GenerateContent(t.Context(), ask, llms.WithStreamingFunc(func(_ context.Context, part []byte) error {
		streamed.Write(part)
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	c := res.Choices[0]
	if c.Content == "" || c.Content != streamed.String() || c.StopReason != "stop" || c.GenerationInfo["CompletionTokens"] == 0 {
		t.Errorf("streamed %+v", c)
	}
	ask = []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "order MH2611230002 and MH2611150017")}
	order := llms.Tool{Type: "function", Function: &llms.FunctionDefinition{Name: "query_order", Parameters: map[string]any{
		"type": "object", "properties": map[string]any{"order_no": map[string]any{"type": "string"}}, "required": []string{"order_no"},
	}}}
	res, err = client.GenerateContent(t.Context(), ask, llms.WithTools([]llms.Tool{order}))
	if err != nil {
		t.Fatal(err)
	}
	calls := res.Choices[0].ToolCalls
	if len(calls) != 2 || calls[1].FunctionCall.Arguments != `{"order_no":"MH2611150017"}` {
		t.Errorf("calls %+v", calls)
	}
}
