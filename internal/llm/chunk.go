package llm

import (
	"bytes"
	"encoding/json"
)

// chunk is one data event of a stream, as far as it matters.
type chunk struct {
	fault
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

type choice struct {
	Index  int    `json:"index"`
	Delta  delta  `json:"delta"`
	Finish string `json:"finish_reason"`
}

type delta struct {
	Content      string          `json:"content"`
	Reasoning    string          `json:"reasoning_content"`
	FunctionCall json.RawMessage `json:"function_call"`
	ToolCalls    []toolDelta     `json:"tool_calls"`
}

// failure finds an error that is sent as an event, under status 200.
func (c *chunk) failure() *Error {
	if len(c.Choices) > 0 && isNull(c.Error) {
		return nil // a flat code or message means something else beside an answer
	}
	if code, ok := c.code(); ok {
		return &Error{Kind: Malformed, Code: code, Err: errInStream}
	}
	return nil
}

// usageJSON reduces usage to what langchaingo decodes without dropping the event; nil if there is none.
func usageJSON(raw json.RawMessage) []byte {
	var usage struct {
		Prompt        int `json:"prompt_tokens"`
		Completion    int `json:"completion_tokens"`
		Total         int `json:"total_tokens"`
		PromptDetails struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		CompletionDetails struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &usage) != nil {
		return nil // an answer is not refused for its bill
	}
	out, err := json.Marshal(usage)
	if err != nil {
		return nil
	}
	return out
}

var (
	choicesOpen = []byte(`"choices":[{`)
	deltaOpen   = []byte(`"delta":{`)
	roleField   = []byte(`"role":"assistant",`)
	textField   = []byte(`"content":`)
	null        = []byte(`null`)
	zero        = []byte(`0,`)
)

// plainText is the fast path: it returns the text, still quoted, of a chunk in the usual compact form that holds text
// and nothing else. false means no more than that the chunk must be decoded.
func plainText(data []byte) ([]byte, bool) {
	head, rest, ok := bytes.Cut(data, deltaOpen)
	if !ok {
		return nil, false
	}
	rest = bytes.TrimPrefix(rest, roleField)
	rest, ok = bytes.CutPrefix(rest, textField)
	if !ok {
		return nil, false
	}
	end := stringEnd(rest)
	if end < 0 || end >= len(rest) || rest[end] != '}' {
		return nil, false
	}
	raw, tail := rest[:end], rest[end+1:]
	if !isPlainHead(head) || !isPlainTail(tail) || !json.Valid(data) {
		return nil, false
	}
	return raw, true
}

// isPlainHead accepts {…"choices":[{ with nothing nested before, and no more than index 0 after it.
func isPlainHead(head []byte) bool {
	at := bytes.Index(head, choicesOpen)
	if at < 1 || head[0] != '{' || bytes.ContainsAny(head[1:at], `{[\`) {
		return false
	}
	inner := head[at+len(choicesOpen):]
	if len(inner) > 0 && !bytes.Equal(inner, []byte(`"index":0,`)) {
		return false
	}
	return only(head[:at], `"usage":`, null) && only(head[:at], `"error":`, null)
}

// isPlainTail accepts what may follow the delta, with neither finish nor usage, nor a second choice.
func isPlainTail(tail []byte) bool {
	return !bytes.ContainsAny(tail, `\`) &&
		!bytes.Contains(tail, []byte(`"delta"`)) &&
		!bytes.Contains(tail, []byte(`"choices"`)) &&
		only(tail, `"index":`, zero) &&
		only(tail, `"finish_reason":`, null) &&
		only(tail, `"usage":`, null) &&
		only(tail, `"error":`, null)
}

// only reports whether each occurrence of a field has the value given.
func only(data []byte, field string, value []byte) bool {
	key := []byte(field[:len(field)-1])
	for {
		at := bytes.Index(data, key)
		if at < 0 {
			return true
		}
		data = data[at+len(key):]
		if len(data) == 0 || data[0] != ':' || !bytes.HasPrefix(data[1:], value) {
			return false
		}
	}
}

// stringEnd returns the index after a JSON string that data begins with, -1 if it begins with none.
func stringEnd(data []byte) int {
	if len(data) == 0 || data[0] != '"' {
		return -1
	}
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}
