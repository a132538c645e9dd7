package sim

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// maxBody is the longest request body in bytes.
const maxBody = 1 << 20

// Message is one message of a chat request. Content is flattened to text.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Name       string     `json:"name,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// UnmarshalJSON reads a content that is a string, an array of parts or null; parts other
// than text are left out.
func (m *Message) UnmarshalJSON(raw []byte) error {
	type plain Message
	wire := struct {
		*plain
		Content text `json:"content"`
	}{plain: (*plain)(m)}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return err
	}
	m.Content = string(wire.Content)
	return nil
}

// ToolCall is a model's wish to have a tool called.
type ToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function FunctionCall `json:"function"`
}

// FunctionCall names a tool; Arguments is a JSON object as text.
type FunctionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '[' {
		var parts []struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(raw, &parts); err != nil {
			return err
		}
		lines := make([]string, 0, len(parts))
		for _, p := range parts {
			if p.Text != "" {
				lines = append(lines, p.Text)
			}
		}
		*t = text(strings.Join(lines, "\n"))
		return nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	*t = text(s)
	return nil
}

// tool is a function that the caller offers.
type tool struct {
	Function struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  schema `json:"parameters"`
	} `json:"function"`
}

// chatRequest holds what the simulation looks at; other fields are accepted and ignored,
// since every vendor knows some of its own.
type chatRequest struct {
	Model         string    `json:"model"`
	Messages      []Message `json:"messages"`
	Stream        bool      `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           int        `json:"max_tokens"`
	MaxCompletionTokens int        `json:"max_completion_tokens"`
	N                   int        `json:"n"`
	Tools               []tool     `json:"tools"`
	ToolChoice          toolChoice `json:"tool_choice"`
	ParallelToolCalls   *bool      `json:"parallel_tool_calls"`
	ResponseFormat      struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema schema `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

// toolChoice came as "auto", "none" or "required", or as an object that names a function.
type toolChoice struct {
	mode string
	name string
}

// UnmarshalJSON reads both forms.
func (c *toolChoice) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, &c.mode)
	}
	var named struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if err := json.Unmarshal(raw, &named); err != nil {
		return err
	}
	c.name = named.Function.Name
	return nil
}

// decodeChat reads a chat request and checks what a vendor would; the error's text is for
// the caller.
func decodeChat(body []byte) (chatRequest, error) {
	var req chatRequest
	if !utf8.Valid(body) {
		return req, bad("", "the body must be valid UTF-8")
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return req, bad("", "the body must be a chat request in JSON: %s", err)
	}
	if bytes.Equal(bytes.TrimSpace(body), []byte("null")) || req.Model == "" {
		return req, bad("model", "must be set")
	}
	if len(req.Messages) == 0 {
		return req, bad("messages", "must hold at least one message")
	}
	for _, m := range req.Messages {
		switch m.Role {
		case "system", "developer", "user", "assistant":
		case "tool":
			if m.ToolCallID == "" {
				return req, bad("messages.tool_call_id", "must be set on a message of role tool")
			}
		default:
			return req, bad("messages.role", "%q: must be system, developer, user, assistant or tool", clip(m.Role, 40))
		}
	}
	for _, t := range req.Tools {
		if t.Function.Name == "" {
			return req, bad("tools.function.name", "must be set")
		}
	}
	if req.N > 1 {
		return req, bad("n", "%d: one choice a call is all that is simulated", req.N)
	}
	if req.MaxTokens < 0 || req.MaxCompletionTokens < 0 {
		return req, bad("max_completion_tokens", "must not be negative")
	}
	return req, nil
}

// limit is the most tokens that an answer may hold, 0 being no limit.
func (r chatRequest) limit() int {
	if r.MaxCompletionTokens > 0 {
		return r.MaxCompletionTokens
	}
	return r.MaxTokens
}

// clip shortens s to n characters, marking the cut.
func clip(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n]) + "…"
}
