package llm

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// maxPiece bounds the text of one chunk given out: langchaingo's scanner stops at lines of 64 KiB, and JSON may spell a
// byte with six.
const maxPiece = 8 << 10

var (
	dataField = []byte("data:")
	doneMark  = []byte("[DONE]")
)

// maxTools bounds the tool calls of one answer.
const maxTools = 128

// event says what a line was.
type event int

const (
	eventNone  event = iota // a comment, a blank, a field without meaning here
	eventData               // data that is no token
	eventToken              // text, reasoning, a tool call or the finish
	eventEnd                // [DONE]
)

// normaliser turns the dialects of vendors into one: text as it comes; tool calls, finish reason and usage once, at the
// end. The zero value is ready; it is not safe for concurrent use.
type normaliser struct {
	out      bytes.Buffer
	suspect  bool          // the content type speaks against a stream
	toolFrom *atomic.Int64 // set to the ordinal of the first chunk with tool calls

	chunks int64 // given out so far; langchaingo calls its hook once for each
	size   int   // bytes of text and arguments so far
	data   bool  // any data line was seen
	token  bool
	finish string
	usage  json.RawMessage
	tools  toolCalls
}

// line handles one line of the body.
func (n *normaliser) line(line []byte) (event, *Error) {
	kind, fail := n.field(line)
	if fail == nil && (n.size > maxAnswer || len(n.tools.all) > maxTools) {
		return eventNone, &Error{Kind: Malformed, Err: errTooLarge}
	}
	return kind, fail
}

func (n *normaliser) field(line []byte) (event, *Error) {
	if len(line) == 0 || line[0] == ':' {
		return eventNone, nil
	}
	name, data, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "data":
	case "event", "id", "retry":
		return eventNone, nil
	default:
		return eventNone, n.stranger(line)
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return eventNone, nil
	}
	if bytes.Equal(data, doneMark) {
		return eventEnd, nil
	}
	n.data = true
	if raw, ok := plainText(data); ok && len(raw) <= maxPiece {
		if len(raw) == len(`""`) {
			return eventData, nil
		}
		n.token = true
		n.chunk("content", raw)
		return eventToken, nil
	}
	return n.event(data)
}

// stranger is a line that no event stream holds: a page of HTML, or an answer that was not streamed.
func (n *normaliser) stranger(line []byte) *Error {
	var f fault
	if json.Unmarshal(line, &f) == nil {
		if code, ok := f.code(); ok {
			return &Error{Kind: Malformed, Code: code, Err: errInStream}
		}
	}
	return &Error{Kind: Malformed, Err: errNotStream}
}

// event handles what is more than plain text.
func (n *normaliser) event(data []byte) (event, *Error) {
	var c chunk
	if json.Unmarshal(data, &c) != nil {
		return eventNone, &Error{Kind: Malformed, Err: errNotJSON}
	}
	if fail := c.failure(); fail != nil {
		return eventNone, fail
	}
	if !isNull(c.Usage) {
		n.usage = append(n.usage[:0], c.Usage...)
	}
	kind := eventData
	for i := range c.Choices {
		if c.Choices[i].Index != 0 {
			continue
		}
		token, fail := n.choice(&c.Choices[i])
		if fail != nil {
			return eventNone, fail
		}
		if token {
			kind = eventToken
		}
	}
	return kind, nil
}

func (n *normaliser) choice(c *choice) (bool, *Error) {
	if !isNull(c.Delta.FunctionCall) {
		return false, &Error{Kind: Malformed, Err: errFunction}
	}
	token := c.Delta.Content != "" || c.Delta.Reasoning != "" || len(c.Delta.ToolCalls) > 0
	n.text("reasoning_content", c.Delta.Reasoning)
	n.text("content", c.Delta.Content)
	for i := range c.Delta.ToolCalls {
		n.size += n.tools.add(&c.Delta.ToolCalls[i])
	}
	// A later null, or another reason, must not replace the first.
	if finish := c.Finish; n.finish == "" && finish != "" && finish != "null" {
		n.finish, token = finish, true
	}
	n.token = n.token || token
	return token, nil
}

// end gives out what was held back, or says why there is no answer. done: [DONE] was seen, rather than the end of the
// body.
func (n *normaliser) end(done bool) *Error {
	switch {
	case n.finish == "" && !n.token && (done || !n.data):
		if n.suspect {
			return &Error{Kind: Malformed, Err: errNotStream}
		}
		return &Error{Kind: Empty}
	case n.finish == "":
		return &Error{Kind: Truncated}
	}
	calls, fail := n.tools.complete()
	if fail != nil {
		return fail
	}
	if len(calls) > 0 {
		n.toolFrom.Store(n.chunks + 1)
	}
	for _, call := range calls {
		n.tool(call)
	}
	n.write(`{"choices":[{"delta":{},"finish_reason":`, quote(n.finish), `}]}`)
	if usage := usageJSON(n.usage); usage != nil {
		n.write(`{"usage":`, usage, `}`)
	}
	n.write("", doneMark, "")
	return nil
}

// tool gives out a tool call so that langchaingo puts it together again: the first piece has a type and opens a call,
// pieces without one are appended to it.
func (n *normaliser) tool(call *toolCall) {
	opening := `"id":` + string(quote(call.id)) + `,"type":"function",`
	name := string(quote(call.name))
	for i, piece := range pieces(call.arguments.String()) {
		if i > 0 {
			opening, name = "", `""`
		}
		n.write(`{"choices":[{"delta":{"tool_calls":[{`+opening+`"function":{"name":`+name+`,"arguments":`, quote(piece), `}}]}}]}`)
	}
}

func (n *normaliser) text(field, text string) {
	if text == "" {
		return
	}
	for _, piece := range pieces(text) {
		n.chunk(field, quote(piece))
	}
}

func (n *normaliser) chunk(field string, raw []byte) {
	n.chunks++
	n.size += len(raw)
	n.write(`{"choices":[{"delta":{"`+field+`":`, raw, `}}]}`)
}

func (n *normaliser) write(before string, raw []byte, after string) {
	n.out.Write(dataField)
	n.out.WriteString(before)
	n.out.Write(raw)
	n.out.WriteString(after)
	n.out.WriteString("\n\n")
}

// pieces cuts a text between runes. The empty text is one piece.
func pieces(text string) []string {
	var all []string
	for len(text) > maxPiece {
		at := maxPiece
		for at > maxPiece-utf8.UTFMax && !utf8.RuneStart(text[at]) {
			at--
		}
		all = append(all, text[:at])
		text = text[at:]
	}
	return append(all, text)
}

// quote never fails: a string always has a JSON form. Invalid UTF-8 becomes U+FFFD, as it would on decoding.
func quote(s string) []byte {
	raw, err := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	if err != nil {
		return []byte(`""`)
	}
	return raw
}
