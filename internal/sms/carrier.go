package sms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"sluice/internal/chat"
)

// The carriers.
const (
	ProviderOutbox = "outbox" // nobody: what would have been sent is kept and shown
	ProviderTwilio = "twilio"
	ProviderAliyun = "aliyun"
)

// Verdict says what a carrier's refusal means. An error that is no *Refusal says that
// nobody knows whether the message was taken.
type Verdict int

// The verdicts. In all of them the carrier has not taken the message.
const (
	Never  Verdict = iota // it will not take this one
	NotNow                // it may take it later
	OptOut                // its customer wants none
)

// Refusal is a carrier's answer that it has not taken a message, or the certainty that it
// was not asked.
type Refusal struct {
	Verdict Verdict
	Code    string        // in the carrier's words
	After   time.Duration // for NotNow: no sooner; 0: it does not say
}

// Error names the code and nothing of the message.
func (r *Refusal) Error() string { return "the carrier refuses: " + r.Code }

// Found is what a carrier knows of a message that may have been handed over.
type Found struct {
	There   bool
	Receipt chat.Receipt
}

// Limits of one request to a carrier.
const (
	requestLimit = 10 * time.Second
	connectLimit = 3 * time.Second
	answerLimit  = 1 << 20
	idleConns    = 16
)

// NewTransport returns connections to carriers for a Config; dial may be nil. The caller
// closes the idle ones in the end.
func NewTransport(dial func(ctx context.Context, network, addr string) (net.Conn, error)) *http.Transport {
	if dial == nil {
		dial = (&net.Dialer{Timeout: connectLimit}).DialContext
	}
	return &http.Transport{
		DialContext: dial, TLSHandshakeTimeout: connectLimit, MaxIdleConnsPerHost: idleConns, IdleConnTimeout: time.Minute,
		Proxy: http.ProxyFromEnvironment,
	}
}

// client makes requests that are not repeated by anybody but the caller.
type client struct{ http *http.Client }

func newClient(transport http.RoundTripper) client {
	return client{&http.Client{
		Transport: transport, Timeout: requestLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// errUnsent says that a request cannot have reached anybody.
var errUnsent = errors.New("no connection to the carrier")

// do makes a request and reads its answer. errUnsent: there was no connection to send it on.
func (c client) do(r *http.Request) (status int, header http.Header, body []byte, err error) {
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), trace))
	resp, err := c.http.Do(r)
	if err != nil {
		// The client's error names the address, in which a phone number may stand.
		if named, ok := errors.AsType[*url.Error](err); ok {
			err = named.Err
		}
		if !connected.Load() {
			return 0, nil, nil, fmt.Errorf("%w: %w", errUnsent, err)
		}
		return 0, nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if err != nil {
		return 0, nil, nil, fmt.Errorf("read the carrier's answer: %w", err)
	}
	return resp.StatusCode, resp.Header, body, nil
}
