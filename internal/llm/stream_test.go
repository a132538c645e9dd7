package llm

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// normalised runs a body through a stream and returns what langchaingo would see, and the failure if any.
func normalised(t testing.TB, body io.Reader) (string, *Error) {
	t.Helper()
	k := &call{streamed: true}
	_, w := newWatch(t.Context(), Timeouts{}.withDefaults(), k)
	resp := &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body)}
	s := newStream(&doer{vendor: "a", limits: w.limits}, k, resp, w)
	out, err := io.ReadAll(s)
	if closeErr := s.Close(); closeErr != nil {
		t.Fatal(closeErr)
	}
	fail := k.failure()
	if (err != nil) != (fail != nil) {
		t.Fatalf("Read returned %v, the call has %v", err, fail)
	}
	return string(out), fail
}

// pieced gives out a body in pieces of the sizes given, then byte by byte.
type pieced struct {
	body  []byte
	sizes []int
}

func (p *pieced) Read(b []byte) (int, error) {
	if len(p.body) == 0 {
		return 0, io.EOF
	}
	n := 1
	if len(p.sizes) > 0 {
		n, p.sizes = p.sizes[0], p.sizes[1:]
	}
	n = copy(b, p.body[:min(n, len(p.body))])
	p.body = p.body[n:]
	return n, nil
}

// drawEvent draws an event of any dialect, broken ones among them.
func drawEvent(t *rapid.T) string {
	s := quote(rapid.StringN(0, 40, -1).Draw(t, "text"))
	i := rapid.SampledFrom([]string{"0", "1", "2"}).Draw(t, "index")
	id := rapid.SampledFrom([]string{"", `"id":"c1",`, `"id":"c2",`, `"type":"function",`}).Draw(t, "id")
	name := rapid.SampledFrom([]string{"", `"name":"f",`, `"name":"g",`, `"name":null,`}).Draw(t, "name")
	return rapid.SampledFrom([]string{
		`{"choices":[{"index":0,"delta":{"content":` + string(s) + `},"finish_reason":null}]}`,
		`{"id":"c","choices":[{"delta":{"role":"assistant","content":` + string(s) + `}}],"usage":null}`,
		`{"choices": [{"delta": {"content": ` + string(s) + `}}]}`,
		`{"choices":[{"index":` + i + `,"delta":{"content":"a"},"logprobs":{"content":[{"token":` + string(s) + `}]}}]}`,
		`{"choices":[{"delta":{"reasoning_content":` + string(s) + `}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":` + i + `,` + id + `"function":{` + name + `"arguments":` + string(s) + `}}]}}]}`,
		`{"choices":[],"usage":{"prompt_tokens":1}}`,
		finish("stop"), finish("tool_calls"), `[DONE]`,
		`{"error":{"code":"x"}}`, `{"choices":`, `{}`, `null`, `7`,
	}).Draw(t, "event")
}

func drawBody(t *rapid.T) []byte {
	var body bytes.Buffer
	for range rapid.IntRange(0, 12).Draw(t, "events") {
		body.WriteString("data:" + rapid.SampledFrom([]string{"", " "}).Draw(t, "space") + drawEvent(t))
		body.WriteString(rapid.SampledFrom([]string{"\n\n", "\r\n\r\n", "\n", "\n: hm\n"}).Draw(t, "end"))
	}
	b := body.Bytes()
	return b[:rapid.IntRange(0, len(b)).Draw(t, "cut")]
}

func TestChunkingOfTheBytesDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		body := drawBody(rt)
		sizes := rapid.SliceOf(rapid.IntRange(1, 64)).Draw(rt, "sizes")
		want, wantFail := normalised(t, bytes.NewReader(body))
		got, gotFail := normalised(t, &pieced{body: body, sizes: sizes})
		if got != want || (gotFail == nil) != (wantFail == nil) || gotFail != nil && *gotFail != *wantFail {
			rt.Fatalf("in pieces\n%s%v\nat once\n%s%v", got, gotFail, want, wantFail)
		}
	})
}

func TestFastPathAgreesWithDecoding(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		event := []byte(drawEvent(rt))
		raw, ok := plainText(event)
		if !ok {
			return
		}
		var got string
		if err := json.Unmarshal(raw, &got); err != nil {
			rt.Fatal(err)
		}
		var slow normaliser
		if _, fail := slow.event(event); fail != nil {
			rt.Fatalf("decoding %s: %v", event, fail)
		}
		want := ""
		if line, ok := strings.CutPrefix(slow.out.String(), "data:"); ok {
			var c chunk
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				rt.Fatal(err)
			}
			want = c.Choices[0].Delta.Content
		}
		if got != want || slow.finish != "" || slow.usage != nil || len(slow.tools.all) > 0 {
			rt.Fatalf("%s: fast %q, decoded %q", event, got, want)
		}
	})
}

func TestPlainTextLeavesTheRestToDecoding(t *testing.T) {
	t.Parallel()
	for event, want := range map[string]bool{
		text("a \"quoted\" \\ text"): true,
		`{"choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"logprobs":null,"finish_reason":null}],"usage":null}`: true,
		`{"choices":[{"delta":{"content":"a"}}]}`:                                     true,
		`{"choices":[{"delta":{"content":"a"}}]`:                                      false,
		`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`:    false,
		`{"choices":[{"index":1,"delta":{"content":"a"}}]}`:                           false,
		`{"choices":[{"delta":{"content":"a"},"index":1}]}`:                           false,
		`{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}`:           false,
		`{"choices":[{"delta":{"content":"a","tool_calls":[]}}]}`:                     false,
		`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":1}}`:         false,
		`{"error":{"code":1},"choices":[{"delta":{"content":"a"}}]}`:                  false,
		`{"choices":[{"delta":{"content":"a"}}],"error":{"code":1}}`:                  false,
		`{"choices":[{"delta":{"content":null}}]}`:                                    false,
		`{"x":"\"choices\":[{","delta":{"content":"a"}}`:                              false,
		`{"choices":[],"x":{"delta":{"content":"a"}}}`:                                false,
		`{"choices":[{"delta":{"content":"a"},"choices":[{"finish_reason":"stop"}]}`:  false,
		`{"choices":[{"delta":{"content":"a"}}],"choices":[{"finish_reason":"stop"}]`: false,
	} {
		if _, ok := plainText([]byte(event)); ok != want {
			t.Errorf("plainText(%s) = %t", event, ok)
		}
	}
}

func TestPiecesBreakBetweenRunes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		whole := strings.Repeat(rapid.StringN(1, 3, -1).Draw(rt, "runes"), 5000)
		all := pieces(whole)
		if strings.Join(all, "") != whole {
			rt.Fatal("text was lost")
		}
		for _, piece := range all {
			if len(piece) > maxPiece || strings.ToValidUTF8(piece, "") != piece {
				rt.Fatalf("piece of %d bytes", len(piece))
			}
		}
	})
}

func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		"data: " + text("a") + "\n\ndata: " + finish("stop") + "\n\ndata: [DONE]\n\n",
		"data: " + tool(`{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}`) + "\r\n\r\ndata: " + finish("tool_calls"),
		": hm\nevent: error\ndata: {\"error\":{\"code\":429}}\n\n",
		"<html>",
		"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		want, wantFail := normalised(t, bytes.NewReader(body))
		got, gotFail := normalised(t, iotest.OneByteReader(bytes.NewReader(body)))
		if got != want || (gotFail == nil) != (wantFail == nil) {
			t.Fatalf("byte by byte\n%s%v\nat once\n%s%v", got, gotFail, want, wantFail)
		}
		for line := range strings.Lines(want) {
			data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
			if ok && data != "[DONE]" && !json.Valid([]byte(data)) {
				t.Fatalf("gave out %q", line)
			}
		}
		if wantFail == nil && !strings.HasSuffix(want, "data:[DONE]\n\n") {
			t.Fatalf("success without an end: %q", want)
		}
	})
}

func FuzzPatch(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"content":"a"}],"temperature":0}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		fields := map[string]json.RawMessage{"top_p": json.RawMessage("0.5"), "temperature": nil}
		out, err := patch(body, fields)
		if err != nil || !json.Valid(body) {
			return
		}
		var got map[string]json.RawMessage
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s became %s", body, out)
		}
		if _, ok := got["temperature"]; ok || string(got["top_p"]) != "0.5" {
			t.Fatalf("%s became %s", body, out)
		}
	})
}
