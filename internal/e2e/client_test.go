//go:build e2e || cluster

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// unknown is the id of a ticket that the engine does not have: it never was, or it
// ended more than a day ago.
const unknown = "t_AAAAAAAAAAAAAAAAAAAAAAAAAA"

// call is one HTTP request.
type call struct {
	client *http.Client // nil: over TCP
	method string       // empty: GET
	url    string       // "/…" is of the instance
	idem   string       // Idempotency-Key
	parent string       // traceparent
	body   any          // sent as JSON
}

// problem is a refusal.
type problem struct {
	Status       int    `json:"status"`
	Code         string `json:"code"`
	Detail       string `json:"detail"`
	RetryAfterMS int64  `json:"retry_after_ms"`
	Reply        string `json:"reply"`
}

func (p *problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Code, p.Detail) }

// call does c and reads the answer into out. A refusal is a *problem.
func (i *instance) call(c call, out any) error {
	client, url := c.client, c.url
	if client == nil {
		client = i.http
	}
	if url[0] == '/' {
		url = i.base + url
	}
	var body io.Reader
	if c.body != nil {
		raw, err := json.Marshal(c.body)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(c.method, url, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+i.key)
	req.Header.Set("Content-Type", "application/json")
	if c.idem != "" {
		req.Header.Set("Idempotency-Key", c.idem)
	}
	if c.parent != "" {
		req.Header.Set("traceparent", c.parent)
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		p := &problem{Status: resp.StatusCode}
		if err := json.Unmarshal(raw, p); err != nil {
			return fmt.Errorf("%s: %w: %.200s", resp.Status, err, raw)
		}
		return p
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}

// question is a message to hand in.
type question struct {
	Message   string `json:"message"`
	SessionID string `json:"session_id,omitempty"`
	Lane      string `json:"lane,omitempty"`
	MaxWait   string `json:"max_wait,omitempty"`
	parent    string // traceparent
}

// ticket is what the contract shows of a ticket and of its receipt.
type ticket struct {
	TicketID   string     `json:"ticket_id"`
	SessionID  string     `json:"session_id"`
	Lane       string     `json:"lane"`
	Status     string     `json:"status"`
	Position   int        `json:"position"`
	Route      string     `json:"route"`
	Reason     string     `json:"reason"`
	Vendor     string     `json:"vendor"`
	Attempts   int        `json:"attempts"`
	AcceptedAt time.Time  `json:"accepted_at"`
	StartedAt  *time.Time `json:"started_at"`
	EndedAt    *time.Time `json:"ended_at"`
	QueuedMS   *int64     `json:"queued_ms"`
}

func (t ticket) ended() bool {
	return t.Status == "answered" || t.Status == "failed" || t.Status == "cancelled"
}

func (i *instance) submit(q question, idem string) (ticket, error) {
	var t ticket
	err := i.call(call{method: http.MethodPost, url: "/v1/tickets", idem: idem, parent: q.parent, body: q}, &t)
	return t, err
}

// ask hands a message in that must be accepted.
func (i *instance) ask(q question) ticket {
	i.t.Helper()
	t, err := i.submit(q, "")
	if err != nil {
		i.t.Errorf("submit: %v", err)
	}
	return t
}

func (i *instance) ticket(id string) (ticket, error) {
	var t ticket
	err := i.call(call{url: "/v1/tickets/" + id}, &t)
	return t, err
}

// end waits for the end of a ticket.
func (i *instance) end(id string, limit time.Duration) ticket {
	i.t.Helper()
	for end := time.Now().Add(limit); ; {
		var t ticket
		if err := i.call(call{url: "/v1/tickets/" + id + "?wait=20s"}, &t); err != nil {
			i.t.Errorf("ticket %s: %v", id, err)
			return t
		}
		if t.ended() {
			return t
		}
		if time.Now().After(end) {
			i.t.Errorf("ticket %s is still %s after %s", id, t.Status, limit)
			return t
		}
	}
}

// event is a durable event of a session.
type event struct {
	Seq    uint64 `json:"seq"`
	Ticket string `json:"ticket"`
	Who    string `json:"who"`
	Status string `json:"status"`
	Text   string `json:"text"`
}

func (i *instance) events(session string) []event {
	i.t.Helper()
	var page struct {
		Events []event `json:"events"`
	}
	if err := i.call(call{url: "/v1/sessions/" + session + "/events"}, &page); err != nil {
		i.t.Errorf("events of %s: %v", session, err)
	}
	return page.Events
}

// checkTold asserts that the session's events have no gap, and tell of each of its
// ended tickets once that it was asked and once how it ended.
func (i *instance) checkTold(session string, tickets ...ticket) {
	i.t.Helper()
	var events []event
	poll(5*time.Second, func() bool { // a final event follows the ticket's end, and may be a moment late
		events = i.events(session)
		return !slices.ContainsFunc(tickets, func(t ticket) bool {
			return !slices.ContainsFunc(events, func(e event) bool { return e.Ticket == t.TicketID && e.Status != "" })
		})
	})
	asked, told := map[string]int{}, map[string]int{}
	for n, e := range events {
		if e.Seq != uint64(n+1) {
			i.t.Errorf("session %s: event %d has seq %d", session, n+1, e.Seq)
		}
		if e.Who == "customer" {
			asked[e.Ticket]++
		}
		if e.Status != "" {
			told[e.Ticket]++
		}
	}
	for _, t := range tickets {
		if asked[t.TicketID] != 1 || told[t.TicketID] != 1 {
			i.t.Errorf("session %s: ticket %s (%s) was asked %d times and has %d final events, want 1 and 1",
				session, t.TicketID, t.Status, asked[t.TicketID], told[t.TicketID])
		}
	}
}

// stats are the counts of all simulated vendors together.
type stats struct {
	InFlight  int `json:"in_flight"`
	Calls     int `json:"calls"`
	Completed int `json:"completed"`
	Refused   int `json:"refused"`
	Cancelled int `json:"cancelled"`
}

func (i *instance) stats() stats {
	i.t.Helper()
	var each map[string]stats
	if err := i.call(call{url: i.control + "/sim/stats"}, &each); err != nil {
		i.t.Errorf("stats: %v", err)
	}
	var sum stats
	for _, s := range each {
		sum.InFlight += s.InFlight
		sum.Calls += s.Calls
		sum.Completed += s.Completed
		sum.Refused += s.Refused
		sum.Cancelled += s.Cancelled
	}
	return sum
}

// behave changes how the simulated vendors behave from the next call on.
func (i *instance) behave(change map[string]any) {
	i.t.Helper()
	if err := i.call(call{method: http.MethodPatch, url: i.control + "/sim/behaviour", body: change}, nil); err != nil {
		i.t.Fatal(err)
	}
}

// each calls f for 0 to n-1, at most workers at a time.
func each(n, workers int, f func(int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(n, workers) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// refused asserts a refusal with a status and a code.
func refused(t *testing.T, err error, status int, code string) {
	t.Helper()
	var p *problem
	if !errors.As(err, &p) || p.Status != status || p.Code != code {
		t.Errorf("got %v, want a refusal with %d %s", err, status, code)
	}
}
