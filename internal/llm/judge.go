package llm

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/tmc/langchaingo/llms"
)

const (
	cutKey     = "BodyCut"
	codeLength = "length" // the stop reason of an answer that reached our token limit
)

// Usage counts the tokens of one answer, as the vendor billed them; zero where it did not say.
type Usage struct {
	PromptTokens     int
	CompletionTokens int
}

// UsageOf reads the usage of an answer. A nil answer has none.
func UsageOf(resp *llms.ContentResponse) Usage {
	info := infoOf(resp)
	prompt, _ := info["PromptTokens"].(int)
	completion, _ := info["CompletionTokens"].(int)
	return Usage{PromptTokens: prompt, CompletionTokens: completion}
}

// Drained reports whether the response body of an answer reached its EOF. It is false if the vendor kept a finished
// stream open for so long that it was closed from here: then the vendor may still count the call for a moment, as after
// a cancellation.
func Drained(resp *llms.ContentResponse) bool {
	cut, _ := infoOf(resp)[cutKey].(bool)
	return !cut
}

func infoOf(resp *llms.ContentResponse) map[string]any {
	if resp == nil || len(resp.Choices) == 0 || resp.Choices[0] == nil {
		return nil
	}
	return resp.Choices[0].GenerationInfo
}

// judge decides what a call has come to. langchaingo's own verdict comes last: it calls half answers a success.
func (c *Client) judge(k *call, resp *llms.ContentResponse, err error) (*llms.ContentResponse, error) {
	if k.hookErr != nil {
		return nil, fmt.Errorf("vendor %s: streaming function: %w", c.vendor, k.hookErr)
	}
	if fail := k.failure(); fail != nil {
		return nil, fail
	}
	if err != nil && !k.sent.Load() {
		return nil, &Error{Vendor: c.vendor, Kind: Rejected, Err: fmt.Errorf("build request: %w", err)}
	}
	if err != nil {
		if !errors.Is(err, errPanic) {
			err = errNotJSON // langchaingo's text may quote the answer
		}
		return nil, &Error{Vendor: c.vendor, Kind: Malformed, Err: err}
	}
	if len(resp.Choices) == 0 {
		return nil, &Error{Vendor: c.vendor, Kind: Empty}
	}
	if fail := c.inspect(resp.Choices[0]); fail != nil {
		return nil, fail
	}
	if k.cut.Load() {
		resp.Choices[0].GenerationInfo[cutKey] = true
	}
	return resp, nil
}

func (c *Client) inspect(choice *llms.ContentChoice) *Error {
	if kind := brokenBy(choice.StopReason); kind != "" {
		return &Error{Vendor: c.vendor, Kind: kind, Code: word(choice.StopReason)}
	}
	switch {
	case choice.Content == "" && len(choice.ToolCalls) == 0 && choice.StopReason == codeLength:
		return &Error{Vendor: c.vendor, Kind: Empty, Code: codeLength}
	case choice.Content == "" && len(choice.ToolCalls) == 0:
		return &Error{Vendor: c.vendor, Kind: Empty}
	case choice.StopReason == codeLength && len(choice.ToolCalls) > 0:
		return &Error{Vendor: c.vendor, Kind: Truncated} // the arguments of the last one end somewhere
	}
	for i := range choice.ToolCalls {
		tool := &choice.ToolCalls[i]
		if tool.FunctionCall.Name == "" {
			return &Error{Vendor: c.vendor, Kind: Malformed, Err: errToolCall}
		}
		// What some vendors leave out others demand when the call is shown to them again.
		if tool.FunctionCall.Arguments == "" {
			tool.FunctionCall.Arguments = "{}"
		}
		if tool.ID == "" {
			tool.ID = "call_" + strconv.Itoa(i)
		}
		if tool.Type == "" {
			tool.Type = "function"
		}
	}
	return nil
}

// brokenBy returns the kind of a stop reason that says the answer was broken off; "" if it was not.
func brokenBy(reason string) Kind {
	switch reason {
	case "content_filter", "sensitive":
		return Filtered
	case "error", "abort", "network_error", "insufficient_system_resource":
		return Truncated
	}
	return ""
}
