package llm

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"
)

// embedder serves one answer to every request, and tells what it was asked.
func embedder(t *testing.T, status int, answer string) (*Client, func() (body map[string]any, head http.Header)) {
	t.Helper()
	var body map[string]any
	var head http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err = errors.Join(err, json.Unmarshal(raw, &body)); err != nil || r.URL.Path != "/v1/embeddings" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		head = r.Header
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	c, err := New(Config{Vendor: "a", BaseURL: server.URL + "/v1", Key: "secret", Model: "chat", Extra: map[string]json.RawMessage{"thinking": json.RawMessage("false")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, func() (map[string]any, http.Header) { return body, head }
}

func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	t.Parallel()
	c, asked := embedder(t, http.StatusOK, `{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}],"usage":{"prompt_tokens":7,"total_tokens":7}}`)
	got, err := c.Embed(t.Context(), Embedding{Model: "small", Texts: []string{"one", "two"}, Dimensions: 2})
	if want := (Embedded{Vectors: [][]float32{{1, 0}, {0, 1}}, Tokens: 7}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	body, head := asked()
	want := map[string]any{"model": "small", "input": []any{"one", "two"}, "dimensions": 2.0, "encoding_format": "float"}
	if !reflect.DeepEqual(body, want) || head.Get("Authorization") != "Bearer secret" {
		t.Errorf("asked %v with %q", body, head.Get("Authorization"))
	}
}

func TestAnAnswerWithoutEveryVectorIsNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		answer string
		kind   Kind
	}{
		"too few":          {200, `{"data":[{"index":0,"embedding":[1,0]}]}`, Malformed},
		"one twice":        {200, `{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[1,0]}]}`, Malformed},
		"of two sizes":     {200, `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1]}]}`, Malformed},
		"without numbers":  {200, `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, Malformed},
		"out of place":     {200, `{"data":[{"index":0,"embedding":[1,0]},{"index":7,"embedding":[1,0]}]}`, Malformed},
		"nothing":          {200, `{"data":[]}`, Empty},
		"no JSON":          {200, `<html>`, Malformed},
		"a fault in a 200": {200, `{"error":{"code":"rate_limit_exceeded","message":"slow down"}}`, Malformed},
		"refused":          {404, `{"error":{"code":"model_not_found","message":"no such model"}}`, Rejected},
		"throttled":        {429, `{}`, RateLimited},
	} {
		client, _ := embedder(t, c.status, c.answer)
		_, err := client.Embed(t.Context(), Embedding{Model: "small", Texts: []string{"one", "two"}})
		if e, ok := errors.AsType[*Error](err); !ok || e.Kind != c.kind || e.Vendor != "a" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
