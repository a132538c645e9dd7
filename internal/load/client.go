package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sluice/internal/chat"
)

const (
	posts = 128 // submissions at a time
	polls = 256 // long polls at a time
	reads = 64  // other reads at a time

	callTimeout  = 30 * time.Second // of one call, beyond what it asks the instance to wait
	maxBody      = 32 << 20
	longestDelay = 10 * time.Second // honoured of a Retry-After
)

// ticket is what a load reads of a ticket.
type ticket struct {
	TicketID  string      `json:"ticket_id"`
	SessionID string      `json:"session_id"`
	Lane      chat.Lane   `json:"lane"`
	Intent    string      `json:"intent"`
	Urgent    bool        `json:"urgent"`
	Level     int         `json:"level"`
	Status    chat.Status `json:"status"`
	Route     chat.Route  `json:"route"`
	Reason    chat.Reason `json:"reason"`
	Vendor    string      `json:"vendor"`
	Reply     struct {
		Text string `json:"text"`
	} `json:"reply"`
	AcceptedAt time.Time  `json:"accepted_at"`
	EndedAt    *time.Time `json:"ended_at"`
	QueuedMS   *int64     `json:"queued_ms"`
	HandledMS  *int64     `json:"handled_ms"`
}

// sameEnd reports whether two reads of an ended ticket tell the same end.
func (t *ticket) sameEnd(u *ticket) bool {
	return t.Status == u.Status && t.Route == u.Route && t.Reason == u.Reason && t.Reply == u.Reply &&
		(t.EndedAt == nil) == (u.EndedAt == nil) && (t.EndedAt == nil || t.EndedAt.Equal(*u.EndedAt))
}

// page is a part of a session's events.
type page struct {
	Events []chat.Event `json:"events"`
	Head   uint64       `json:"head"`
}

// refusal is an answer that is not 2xx.
type refusal struct {
	status     int
	code       string
	retryAfter time.Duration // 0: none was named
}

func (r *refusal) Error() string { return fmt.Sprintf("%d %s", r.status, r.code) }

// forLoad reports whether the refusal must name when to try again.
func (r *refusal) forLoad() bool {
	return r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable
}

// client calls the instance as its tenants do. It is safe for concurrent use.
type client struct {
	http *http.Client
	base string
	keys []string
}

func newClient(t Target) *client {
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConns:        posts + polls + reads,
		MaxIdleConnsPerHost: posts + polls + reads,
		MaxConnsPerHost:     posts + polls + reads,
		IdleConnTimeout:     time.Minute,
		TLSHandshakeTimeout: 5 * time.Second,
	}
	// A redirect could lead a key to another host.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{
		http: &http.Client{Transport: transport, CheckRedirect: stay},
		base: strings.TrimRight(t.BaseURL, "/"), keys: t.Keys,
	}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// reach returns an error when nobody answers at the target, whatever the answer is.
func (c *client) reach(ctx context.Context) error {
	err := c.call(ctx, call{method: http.MethodGet, url: c.base + "/livez"}, nil)
	if _, answered := errors.AsType[*refusal](err); answered {
		return nil
	}
	return err
}

func (c *client) submit(ctx context.Context, j *job, maxWait time.Duration) (t ticket, err error) {
	body := struct {
		Message   string         `json:"message"`
		SessionID string         `json:"session_id,omitempty"`
		Lane      chat.Lane      `json:"lane"`
		MaxWait   string         `json:"max_wait,omitempty"`
		Customer  *chat.Customer `json:"customer,omitempty"`
	}{Message: j.text, SessionID: j.session, Lane: j.lane}
	if j.customer != "" {
		body.Customer = &chat.Customer{ID: j.customer}
	}
	if maxWait > 0 {
		body.MaxWait = maxWait.String()
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return t, fmt.Errorf("encode ticket: %w", err)
	}
	return t, c.call(ctx, call{
		method: http.MethodPost, url: c.base + "/v1/tickets", key: c.keys[j.tenant], repeat: j.key, body: raw,
	}, &t)
}

// read reads a job's ticket and waits up to wait for its end.
func (c *client) read(ctx context.Context, j *job, wait time.Duration) (t ticket, err error) {
	at := c.base + "/v1/tickets/" + url.PathEscape(j.ticket.TicketID)
	if wait > 0 {
		at += "?wait=" + wait.String()
	}
	return t, c.call(ctx, call{method: http.MethodGet, url: at, key: c.keys[j.tenant], wait: wait}, &t)
}

func (c *client) cancel(ctx context.Context, j *job) error {
	at := c.base + "/v1/tickets/" + url.PathEscape(j.ticket.TicketID)
	return c.call(ctx, call{method: http.MethodDelete, url: at, key: c.keys[j.tenant]}, nil)
}

// events reads a session's events after a seq and waits up to wait for some.
func (c *client) events(ctx context.Context, s *talk, after uint64, wait time.Duration) (p page, err error) {
	at := fmt.Sprintf("%s/v1/sessions/%s/events?after=%d", c.base, url.PathEscape(s.id), after)
	if wait > 0 {
		at += "&wait=" + wait.String()
	}
	return p, c.call(ctx, call{method: http.MethodGet, url: at, key: c.keys[s.tenant], wait: wait}, &p)
}

// call is one request.
type call struct {
	method, url string
	key         string // bearer
	repeat      string // Idempotency-Key
	body        []byte
	wait        time.Duration // how long the instance may think
}

// call makes a request and decodes the answer into out unless that is nil.
func (c *client) call(ctx context.Context, in call, out any) error {
	ctx, cancel := context.WithTimeout(ctx, in.wait+callTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, in.method, in.url, bytes.NewReader(in.body))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	if in.key != "" {
		req.Header.Set("Authorization", "Bearer "+in.key)
	}
	if in.repeat != "" {
		req.Header.Set("Idempotency-Key", in.repeat)
	}
	if in.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return refusalOf(res, raw)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("decode answer: %w", err)
	}
	return nil
}

func refusalOf(res *http.Response, raw []byte) *refusal {
	r := &refusal{status: res.StatusCode, code: fmt.Sprintf("http_%d", res.StatusCode)}
	var p struct {
		Code         string `json:"code"`
		RetryAfterMS int64  `json:"retry_after_ms"`
	}
	if json.Unmarshal(raw, &p) == nil && p.Code != "" {
		r.code = p.Code
	}
	// The header decides whether there is one; the body knows it more exactly.
	if s, err := strconv.ParseInt(res.Header.Get("Retry-After"), 10, 32); err == nil && s >= 0 {
		r.retryAfter = max(time.Duration(s)*time.Second, time.Millisecond)
		if ms := time.Duration(p.RetryAfterMS) * time.Millisecond; ms > 0 && ms < r.retryAfter {
			r.retryAfter = ms
		}
	}
	return r
}

// delay is how long to wait before a call that ended in err is made again.
func delay(err error, otherwise time.Duration) time.Duration {
	if r, ok := errors.AsType[*refusal](err); ok && r.retryAfter > 0 {
		return min(r.retryAfter, longestDelay)
	}
	return otherwise
}
