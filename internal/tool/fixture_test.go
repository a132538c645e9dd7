package tool

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

// granter grants at once, unless it is told to refuse, and notes what it is told.
type granter struct {
	mu       sync.Mutex
	refusal  error
	asked    []gate.Ask
	ended    []gate.End
	released int
}

func (g *granter) Ask(ctx context.Context, a gate.Ask) (gate.Permit, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, a)
	if g.refusal != nil {
		return gate.Permit{}, g.refusal
	}
	return gate.Permit{ID: uint64(len(g.asked)), Vendor: a.Vendors[0], Ticket: a.Ticket, Lane: a.Lane}, nil
}

func (g *granter) End(_ gate.Permit, e gate.End) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = append(g.ended, e)
	return true
}

func (g *granter) Release(gate.Permit, time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.released++
}

// world is a set with one tool, the server behind it, and the gate before it.
type world struct {
	*granter
	set *Set
	ctx context.Context
}

const orderSchema = `{"type":"object","properties":{"order":{"type":"string","pattern":"^MH[0-9]+$"},"note":{"type":"string","maxLength":5}},"required":["order"]}`

// look is a tool as most tests use it.
func look() Tool {
	return Tool{
		Name: "look", Description: map[string]string{chat.English: "Looks.", chat.Chinese: "查。"}, Method: http.MethodPost,
		Schema: json.RawMessage(orderSchema), Key: "key-of-the-tool", Identity: true,
		Timeout: 5 * time.Second, SlowAfter: 4 * time.Second, PerAnswer: 3,
	}
}

func newWorld(t *testing.T, tool Tool, serve http.HandlerFunc) *world {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	if tool.URL == "" {
		tool.URL = server.URL + "/look"
	}
	set, err := New(Config{Tools: []Tool{tool}, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	g := &granter{}
	first := gate.Permit{}
	caller := gate.NewCaller(g, gate.Ask{Ticket: "t1", Tenant: "demo", Session: "s1", Lane: chat.High, Vendors: []string{"a"}, Model: "strong"}, first)
	return &world{granter: g, set: set, ctx: gate.WithCaller(t.Context(), caller)}
}

func of(customer string) chat.Question {
	t := chat.Ticket{ID: "t1", Tenant: "demo", Session: "s1", Language: chat.English}
	if customer != "" {
		t.Customer = &chat.Customer{ID: customer}
	}
	return chat.Question{Ticket: t}
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}
