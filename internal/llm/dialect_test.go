package llm

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
)

const twoCalls = `c1 function order({"id":1}); c2 function stock({"no":2})`

func TestStreamedToolCallsAreAssembledInEveryDialect(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		deltas []string
		want   string
	}{
		{"one after the other", []string{
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":""}}`),
			tool(`{"index":0,"function":{"arguments":"{\"id\":"}}`),
			tool(`{"index":0,"function":{"arguments":"1}"}}`),
			tool(`{"index":1,"id":"c2","type":"function","function":{"name":"stock","arguments":""}}`),
			tool(`{"index":1,"function":{"arguments":"{\"no\":2}"}}`),
		}, twoCalls},
		{"interleaved", []string{
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":""}}`),
			tool(`{"index":1,"id":"c2","type":"function","function":{"name":"stock","arguments":""}}`),
			tool(`{"index":0,"function":{"arguments":"{\"id\":"}},{"index":1,"function":{"arguments":"{\"no\":"}}`),
			tool(`{"index":1,"function":{"arguments":"2}"}}`),
			tool(`{"index":0,"function":{"arguments":"1}"}}`),
		}, twoCalls},
		{"type repeated, empty id and null name", []string{
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":""}}`),
			tool(`{"index":0,"id":"","type":"function","function":{"name":null,"arguments":"{\"id\":"}}`),
			tool(`{"index":0,"id":"","type":"function","function":{"name":"","arguments":"1}"}}`),
			tool(`{"index":1,"id":"c2","type":"function","function":{"name":"stock","arguments":"{\"no\":2}"}}`),
		}, twoCalls},
		{"id, type and name repeated", []string{
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":"{\"id\":"}}`),
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":"1}"}}`),
			tool(`{"index":1,"id":"c2","type":"function","function":{"name":"stock","arguments":"{\"no\":2}"}}`),
			tool(`{"index":1,"id":"c2","type":"function","function":{"name":"stock","arguments":""}}`),
		}, twoCalls},
		{"no type on the first delta", []string{
			tool(`{"index":0,"id":"c1","function":{"name":"order","arguments":"{\"id\":1}"}}`),
			tool(`{"index":1,"id":"c2","function":{"name":"stock","arguments":"{\"no\":2}"}}`),
		}, twoCalls},
		{"trailing delta with empty arguments", []string{
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":"{\"id\":1}"}}`),
			tool(`{"index":1,"id":"c2","type":"function","function":{"name":"stock","arguments":"{\"no\":2}"}}`),
			tool(`{"index":1,"type":"function","function":{"arguments":""}}`),
			tool(`{"index":2,"id":"","type":"function","function":{"name":"","arguments":""}}`),
			tool(`{"index":3,"id":"c9","type":"function","function":{"name":"","arguments":""}}`),
		}, twoCalls},
		{"index 0 for each parallel call", []string{
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":"{\"id\":1}"}}`),
			tool(`{"index":0,"id":"c2","type":"function","function":{"name":"stock","arguments":"{\"no\":"}}`),
			tool(`{"index":0,"function":{"arguments":"2}"}}`),
		}, twoCalls},
		{"index 0 and one tool twice", []string{
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":"{\"id\":1}"}}`),
			tool(`{"index":0,"id":"c2","type":"function","function":{"name":"order","arguments":"{\"id\":2}"}}`),
		}, `c1 function order({"id":1}); c2 function order({"id":2})`},
		{"index 0 and no id", []string{
			tool(`{"index":0,"function":{"name":"order","arguments":"{\"id\":1}"}}`),
			tool(`{"index":0,"function":{"name":"order","arguments":"{\"id\":2}"}}`),
		}, `call_0 function order({"id":1}); call_1 function order({"id":2})`},
		{"index drifts within a call", []string{
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":""}}`),
			tool(`{"index":1,"function":{"arguments":"{\"id\":"}}`),
			tool(`{"index":2,"function":{"arguments":"1}"}}`),
			tool(`{"index":3,"id":"c2","type":"function","function":{"name":"stock","arguments":"{\"no\":2}"}}`),
		}, twoCalls},
		{"index drifts, id repeated", []string{
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":"{\"id\":"}}`),
			tool(`{"index":1,"id":"c1","type":"function","function":{"arguments":"1}"}}`),
			tool(`{"index":2,"id":"c2","type":"function","function":{"name":"stock","arguments":"{\"no\":2}"}}`),
		}, twoCalls},
		{"id drifts within a call", []string{
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":"{\"id\":"}}`),
			tool(`{"index":0,"id":"x7","type":"function","function":{"arguments":"1}"}}`),
		}, `c1 function order({"id":1})`},
		{"one id for two calls", []string{
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":"{\"id\":1}"}}`),
			tool(`{"index":1,"id":"c1","type":"function","function":{"name":"order","arguments":"{\"id\":2}"}}`),
		}, `c1 function order({"id":1}); c1_2 function order({"id":2})`},
		{"no index", []string{
			tool(`{"id":"c1","type":"function","function":{"name":"order","arguments":"{\"id\":"}}`),
			tool(`{"function":{"arguments":"1}"}}`),
			tool(`{"id":"c2","type":"function","function":{"name":"stock","arguments":"{\"no\":2}"}}`),
		}, twoCalls},
		{"arguments as an object, or none", []string{
			tool(`{"index":0,"id":"c1","function":{"name":"order","arguments":{"id":1}}}`),
			tool(`{"index":1,"id":"c2","function":{"name":"hours"}}`),
		}, `c1 function order({"id":1}); c2 function hours({})`},
		{"all in one delta", []string{
			tool(`{"index":0,"id":"c1","type":"function","function":{"name":"order","arguments":"{\"id\":1}"}},` +
				`{"index":1,"id":"c2","type":"function","function":{"name":"stock","arguments":"{\"no\":2}"}}`),
		}, twoCalls},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			data := append([]string{text("one moment")}, tc.deltas...)
			data = append(data, finish("tool_calls"), `{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`, "[DONE]")
			var h heard
			resp, err := ask(t.Context(), clientOf(t, events(data...), nil), &h)
			if err != nil {
				t.Fatal(err)
			}
			if got := toolsOf(resp); got != tc.want {
				t.Errorf("tool calls\n got %s\nwant %s", got, tc.want)
			}
			if got := h.text.String(); got != "one moment" || h.empty > 0 {
				t.Errorf("streamed %q with %d empty chunks", got, h.empty)
			}
			if got := resp.Choices[0].StopReason; got != "tool_calls" {
				t.Errorf("stop reason = %q", got)
			}
			if got, want := UsageOf(resp), (Usage{PromptTokens: 11, CompletionTokens: 7}); got != want {
				t.Errorf("usage = %+v, want %+v", got, want)
			}
		})
	}
}

func TestStreamedTextArrivesWhole(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("退款已受理。x", 10240) // a line of 194 KiB
	usage := `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	for _, tc := range []struct {
		name, want, stop string
		data             []string
	}{
		{"role, text, finish, usage", "ab", "stop", []string{
			`{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
			text("a"), text("b"), finish("stop"), usage, "[DONE]"}},
		{"finish then a null chunk", "a", "stop", []string{text("a"), finish("stop"), text(""), usage, "[DONE]"}},
		{"finish with the last text", "ab", "stop", []string{
			text("a"), `{"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"stop"}]}`, "[DONE]"}},
		{"usage in each chunk", "a", "stop", []string{
			`{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`,
			finish("stop"), usage, "[DONE]"}},
		{"no [DONE]", "a", "stop", []string{text("a"), finish("stop"), usage}},
		{"token limit", "a", "length", []string{text("a"), finish("length"), "[DONE]"}},
		{"line over 64 KiB", long, "stop", []string{text(long), finish("stop"), "[DONE]"}},
		{"spaces after colons", "a", "stop", []string{
			`{"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": null}]}`, finish("stop"), "[DONE]"}},
		{"a second candidate is not mixed in", "a", "stop", []string{
			text("a"), `{"choices":[{"index":1,"delta":{"content":"no"}}]}`, finish("stop"), "[DONE]"}},
		{"text that looks like a tool call", `[{"function":{"name":"f"}}]`, "stop", []string{
			text(`[{"function":{"name":"f"}}]`), finish("stop"), "[DONE]"}},
		{"null and empty reasons", "a", "stop", []string{
			`{"choices":[{"delta":{"content":"a"},"finish_reason":""}]}`,
			`{"choices":[{"delta":{},"finish_reason":"null"}]}`, finish("stop"), "[DONE]"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var h heard
			resp, err := ask(t.Context(), clientOf(t, events(tc.data...), nil), &h)
			if err != nil {
				t.Fatal(err)
			}
			if h.text.String() != tc.want || resp.Choices[0].Content != tc.want || h.empty > 0 {
				t.Errorf("streamed %d bytes, answered %d, want %d; %d empty chunks",
					h.text.Len(), len(resp.Choices[0].Content), len(tc.want), h.empty)
			}
			if resp.Choices[0].StopReason != tc.stop {
				t.Errorf("stop reason = %q, want %q", resp.Choices[0].StopReason, tc.stop)
			}
			if strings.Contains(strings.Join(tc.data, ""), usage) && UsageOf(resp) != (Usage{3, 2}) {
				t.Errorf("usage = %+v", UsageOf(resp))
			}
			if !Drained(resp) {
				t.Error("the body was not read to its EOF")
			}
		})
	}
}

func TestFramingOfEventsDoesNotMatter(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"crlf and comments": ": keep-alive\r\n\r\nevent: message\r\nid: 1\r\ndata: " + text("a") + "\r\n\r\ndata: " + finish("stop") + "\r\n\r\ndata: [DONE]\r\n\r\n",
		"no space":          "data:" + text("a") + "\n\ndata:" + finish("stop") + "\n\ndata:[DONE]\n\n",
		"no blank lines":    "data: " + text("a") + "\ndata: " + finish("stop") + "\ndata: [DONE]\n",
		"no last newline":   "data: " + text("a") + "\n\ndata: " + finish("stop"),
	} {
		for _, contentType := range []string{"text/event-stream; charset=utf-8", "text/plain"} {
			t.Run(name+" as "+contentType, func(t *testing.T) {
				t.Parallel()
				var h heard
				if _, err := ask(t.Context(), clientOf(t, raw(contentType, body), nil), &h); err != nil || h.text.String() != "a" {
					t.Errorf("streamed %q, error %v", h.text.String(), err)
				}
			})
		}
	}
}

func TestLongToolArgumentsArriveWhole(t *testing.T) {
	t.Parallel()
	arguments := `{"note":"` + strings.Repeat("长", 50_000) + `"}`
	delta := fmt.Sprintf(`{"index":0,"id":"c1","function":{"name":"order","arguments":%s}}`, quote(arguments))
	var h heard
	resp, err := ask(t.Context(), clientOf(t, events(tool(delta), finish("tool_calls"), "[DONE]"), nil), &h)
	if err != nil {
		t.Fatal(err)
	}
	if got := toolsOf(resp); got != "c1 function order("+arguments+")" {
		t.Errorf("got %d bytes", len(got))
	}
	if h.chunks > 0 {
		t.Errorf("the customer got %q", h.text.String())
	}
}

func TestReasoningReachesOnlyItsOwnFunction(t *testing.T) {
	t.Parallel()
	c := clientOf(t, events(
		`{"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"hm"},"finish_reason":null}]}`,
		text("a"), finish("stop"), "[DONE]"), nil)
	var h heard
	var reasoning, also strings.Builder
	resp, err := c.GenerateContent(t.Context(), prompt("hello"), h.option(),
		llms.WithStreamingReasoningFunc(func(_ context.Context, thought, chunk []byte) error {
			reasoning.Write(thought)
			also.Write(chunk)
			return nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	if h.text.String() != "a" || h.chunks != 1 || reasoning.String() != "hm" || also.String() != "a" {
		t.Errorf("text %q in %d chunks, reasoning %q with text %q", h.text.String(), h.chunks, reasoning.String(), also.String())
	}
	if got := resp.Choices[0]; got.Content != "a" || got.ReasoningContent != "hm" {
		t.Errorf("answer %q, reasoning %q", got.Content, got.ReasoningContent)
	}
}
