package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"
)

// Config describes one vendor account and one model of it. The zero value of a field is its default.
type Config struct {
	// Vendor is the account's name in errors. Required.
	Vendor string
	// BaseURL is the endpoint up to and including the version, such as "http://127.0.0.1:9101/v1". Required.
	BaseURL string
	// Key is sent as the bearer token, and appears in no error. Without one no Authorization header is sent.
	Key string
	// Model is used unless a call names another. Required.
	Model string
	// LegacyMaxTokens sends the token limit as max_tokens, for servers that do not know max_completion_tokens.
	LegacyMaxTokens bool
	// Timeouts bound each call.
	Timeouts Timeouts
	// MaxConns bounds the connections to the endpoint, all of which are kept when idle. It should be at least the permits
	// of the gate: a call that finds none free waits for Timeouts.Acquire, then fails as PoolExhausted. Defaults to 256.
	MaxConns int
	// Dial opens connections. Defaults to TCP, by the proxy of the environment if there is one.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Extra adds top-level fields to the request or replaces them in place; the order of the other fields stays, so a
	// vendor's prompt cache keeps its prefix. An empty value removes the field. "messages" and "stream" are refused.
	Extra map[string]json.RawMessage
}

// Timeouts are the limits of one call. Each ends the upstream call. Zero is the default.
type Timeouts struct {
	// Acquire bounds the wait for a connection while MaxConns of them are in use. It is ours, not the vendor's: Connect
	// and FirstToken begin after it. Defaults to 2s.
	Acquire time.Duration
	// Connect bounds the time until a new connection stands, TLS included. Defaults to 2s.
	Connect time.Duration
	// FirstToken bounds a streamed call, from when it has a connection or opens one, to the first text, reasoning or
	// tool call. Role deltas and keep-alive comments are not tokens. Defaults to 10s.
	FirstToken time.Duration
	// Gap bounds the silence between two tokens: pieces without any, and comments, do not end it. Time that the streaming
	// function takes is not counted. Defaults to 15s.
	Gap time.Duration
	// Call bounds a call that is not streamed. Defaults to 60s.
	Call time.Duration
	// Stream bounds a streamed call as a whole. Defaults to 120s.
	Stream time.Duration
}

// Validate names the first field that cannot be used.
func (c Config) Validate() error {
	if c.Vendor == "" {
		return errors.New("vendor: must not be empty")
	}
	if c.Model == "" {
		return errors.New("model: must not be empty")
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("base url: %q is not an http address", c.BaseURL)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("base url: must have no user, query or fragment")
	}
	if c.MaxConns < 0 {
		return fmt.Errorf("max conns: %d is negative", c.MaxConns)
	}
	for name, value := range c.Extra {
		if name == "" || name == "messages" || name == "stream" {
			return fmt.Errorf("extra: field %q cannot be set", name)
		}
		if len(value) > 0 && !json.Valid(value) {
			return fmt.Errorf("extra: value of %q is not JSON", name)
		}
	}
	return c.Timeouts.validate()
}

func (t Timeouts) validate() error {
	for _, limit := range []struct {
		name string
		d    time.Duration
	}{
		{"acquire", t.Acquire},
		{"connect", t.Connect},
		{"first_token", t.FirstToken},
		{"gap", t.Gap},
		{"call", t.Call},
		{"stream", t.Stream},
	} {
		if limit.d < 0 {
			return fmt.Errorf("timeouts: %s: %s is negative", limit.name, limit.d)
		}
	}
	return nil
}

func (t Timeouts) withDefaults() Timeouts {
	for _, limit := range []struct {
		d        *time.Duration
		fallback time.Duration
	}{
		{&t.Acquire, 2 * time.Second},
		{&t.Connect, 2 * time.Second},
		{&t.FirstToken, 10 * time.Second},
		{&t.Gap, 15 * time.Second},
		{&t.Call, 60 * time.Second},
		{&t.Stream, 120 * time.Second},
	} {
		if *limit.d == 0 {
			*limit.d = limit.fallback
		}
	}
	return t
}
