package sim

import (
	"math"
	"unicode"
)

// Usage counts the tokens of one call.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// countTokens estimates as common tokenizers do on average: 0.7 a Han character, a
// quarter for any other byte.
func countTokens(s string) int {
	n := 0.0
	for _, r := range s {
		if unicode.Is(unicode.Han, r) {
			n += 0.7
		} else {
			n += 0.25 * float64(len(string(r)))
		}
	}
	return int(math.Ceil(n))
}

// promptTokens adds the few tokens that frame each message.
func promptTokens(req chatRequest) int {
	n := 3
	for _, m := range req.Messages {
		n += 4 + countTokens(m.Content)
		for _, c := range m.ToolCalls {
			n += countTokens(c.Function.Name) + countTokens(c.Function.Arguments)
		}
	}
	for _, t := range req.Tools {
		n += 12 + countTokens(t.Function.Name+t.Function.Description) + 6*len(t.Function.Parameters.Properties)
	}
	return n
}

// pieces cuts s into tokens that join to s again: a Han character, or a run of other
// characters with the space before it.
func pieces(s string) []string {
	var out []string
	start := 0
	inWord := false
	for i, r := range s {
		han := unicode.Is(unicode.Han, r)
		if i > start && (han || unicode.IsSpace(r) || !inWord) {
			out = append(out, s[start:i])
			start = i
		}
		inWord = !han
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}
