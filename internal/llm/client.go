package llm

import (
	"context"
	"fmt"
	"net/http"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
)

// Client calls one endpoint of a vendor. It implements llms.Model and is safe for concurrent use. It neither retries nor limits: that
// is the gate's business.
type Client struct {
	vendor          string
	endpoint        string
	legacyMaxTokens bool
	model           *openai.LLM
	doer            *doer // that the model goes through too
	transport       *http.Transport
}

var _ llms.Model = (*Client)(nil)

// New returns a client without any I/O; whether the vendor can be reached shows with the first call.
func New(cfg Config) (*Client, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("vendor client: %w", err)
	}
	limits := cfg.Timeouts.withDefaults()
	transport := newTransport(cfg, limits.Connect)
	token := cfg.Key
	if token == "" {
		token = "none" // langchaingo insists on one; the doer takes the header off again
	}
	sender := newDoer(cfg, limits, transport)
	model, err := openai.New(
		openai.WithToken(token),
		openai.WithModel(cfg.Model),
		openai.WithBaseURL(cfg.BaseURL),
		openai.WithOrganization(""), // never from the environment
		openai.WithHTTPClient(sender),
	)
	if err != nil {
		return nil, fmt.Errorf("vendor client %s: %w", cfg.Vendor, err)
	}
	return &Client{
		vendor: cfg.Vendor, endpoint: cfg.BaseURL, legacyMaxTokens: cfg.LegacyMaxTokens, model: model, doer: sender, transport: transport,
	}, nil
}

// GenerateContent asks the model for one answer, streamed if the options hold a streaming function.
//
// When it returns, the upstream response body has been read to EOF or closed; Drained tells which for an answer. After
// an error, a cancellation or a time-out the HTTP/1.1 connection is closed, and an HTTP/2 stream is reset, unless the
// vendor ended its response itself. It is not guaranteed that the vendor has noticed by then.
//
// The error is context.Cause(ctx) once ctx is done, even if an answer came; an *Error if the vendor failed; otherwise
// what the streaming function returned, wrapped. An answer is never partial, except that StopReason "length" says the
// vendor stopped at the token limit. Text that was streamed before an error cannot be taken back.
//
// The streaming function gets non-empty text only, on the caller's goroutine: no tool calls, no reasoning. A panic in
// it becomes an error. It should not block: ctx is checked after each call of it, not during one. One answer is asked
// for: of several candidates only the first is streamed or checked.
func (c *Client) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var asked llms.CallOptions
	for _, option := range options {
		option(&asked)
	}
	k := newCall(asked)
	k.timing = c.timed(ctx)
	own := k.options(asked, c.legacyMaxTokens)
	resp, err := c.ask(withCall(ctx, k), messages, append(options[:len(options):len(options)], own...))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return c.judge(k, resp, err)
}

// Call asks for one answer to a single prompt.
//
// Deprecated: it is part of llms.Model; use GenerateContent.
func (c *Client) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, c, prompt, options...)
}

// Close closes idle connections. Calls in flight go on, and the client stays usable.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// ask contains panics of langchaingo, which trusts the shape of an answer in places.
func (c *Client) ask(ctx context.Context, messages []llms.MessageContent, options []llms.CallOption) (resp *llms.ContentResponse, err error) {
	defer func() {
		if recover() != nil {
			resp, err = nil, errPanic
		}
	}()
	return c.model.GenerateContent(ctx, messages, options...)
}
