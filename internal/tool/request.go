package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"sluice/internal/gate"
	"sluice/internal/trace"
)

// The headers that tell a tool whom a call is for. The customer's id is escaped as in a
// URL's path.
const (
	HeaderCustomer = "X-Customer-Id"
	HeaderTenant   = "X-Tenant"
)

// maxResponse is the most bytes of a tool's answer.
const maxResponse = 64 << 10

// request is one call.
type request struct {
	arguments map[string]any
	claim     string // the idempotency key; empty: none
}

// state is what is known of a call.
type state int

const (
	good    state = iota // an answer
	refused              // an answer that says no: nothing was done
	busy                 // it was not made, or turned away: nothing was done
	unknown              // it may have been done or not
)

// result is what came of a call.
type result struct {
	state state
	body  json.RawMessage // of good and refused; nil: none that can be read
	end   gate.End
}

// send makes one call within the tool's timeout. It never follows a redirect, which would
// carry key and customer elsewhere.
func (r *Run) send(ctx context.Context, t *known, req request) (got result) {
	ctx, span := trace.Start(ctx, "tool "+t.Name, oteltrace.SpanKindClient, attribute.String("gen_ai.tool.name", t.Name))
	defer func() { trace.Finish(span, string(got.end.Outcome), got.state == unknown) }()
	ctx, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	failed := result{state: unknown, end: gate.End{Outcome: gate.Failed}}
	out, err := r.request(ctx, t, req)
	if err != nil {
		return result{state: busy}
	}
	resp, err := r.set.transport.RoundTrip(out)
	if err != nil {
		return failed
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := read(resp)
	switch code := resp.StatusCode; {
	case code == http.StatusTooManyRequests:
		return result{state: busy, end: gate.End{Outcome: gate.Throttled, RetryAfter: retryAfter(resp)}}
	case code == http.StatusUnauthorized: // our key
		return result{state: busy, end: failed.end}
	case code == http.StatusRequestTimeout:
		return failed
	case code >= 400 && code < 500:
		return result{state: refused, body: body}
	case code < 200 || code > 299 || err != nil:
		return failed
	}
	return result{state: good, body: body, end: gate.End{Outcome: gate.Good}}
}

func (r *Run) request(ctx context.Context, t *known, req request) (*http.Request, error) {
	at, content := *t.url, []byte(nil)
	if t.Method == http.MethodGet {
		query := at.Query()
		for name, v := range req.arguments {
			query.Set(name, plain(v))
		}
		at.RawQuery = query.Encode()
	} else {
		var err error
		if content, err = json.Marshal(req.arguments); err != nil {
			return nil, fmt.Errorf("encode arguments: %w", err)
		}
	}
	out, err := http.NewRequestWithContext(ctx, t.Method, at.String(), bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	out.Header.Set("Accept", "application/json")
	out.Header.Set("Accept-Language", r.language())
	out.Header.Set(HeaderTenant, r.question.Ticket.Tenant)
	if content != nil {
		out.Header.Set("Content-Type", "application/json")
	}
	if t.Key != "" {
		out.Header.Set("Authorization", "Bearer "+t.Key)
	}
	if id := r.customer(); t.Identity && id != "" {
		out.Header.Set(HeaderCustomer, url.PathEscape(id))
	}
	if req.claim != "" {
		out.Header.Set("Idempotency-Key", req.claim)
	}
	return out, nil
}

// plain writes a value of the query.
func plain(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// read returns an answer's JSON.
func read(resp *http.Response) (json.RawMessage, error) {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil, errors.New("the answer is no JSON")
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case len(body) > maxResponse:
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxResponse)
	case !json.Valid(body):
		return nil, errors.New("the answer is no JSON")
	}
	return body, nil
}

func retryAfter(resp *http.Response) time.Duration {
	text := resp.Header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n <= 3600 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(time.Until(at), time.Hour))
	}
	return 0
}
