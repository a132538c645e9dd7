package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/control"
	"sluice/internal/gate"
	"sluice/internal/rules"
	"sluice/internal/sim"
	"sluice/internal/tool"
)

// Connections to tools: one that is not there within toolConnect will not be there in time
// for the customer either.
const (
	toolConnect = 2 * time.Second
	toolIdle    = 32 // connections kept to each host
)

// toolbox is the tools of the rules in force. It is safe for concurrent use once getenv and
// shop stand.
type toolbox struct {
	transport *http.Transport
	getenv    func(string) string
	shop      string // base URL of the demo shop that runs here; empty: none does
	now       atomic.Pointer[tool.Set]
}

func newToolbox(dial dialer) *toolbox {
	if dial == nil {
		dial = (&net.Dialer{Timeout: toolConnect}).DialContext
	}
	return &toolbox{getenv: os.Getenv, transport: &http.Transport{
		DialContext: dial, MaxIdleConnsPerHost: toolIdle, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: toolConnect, Proxy: http.ProxyFromEnvironment,
	}}
}

// inForce returns the tools in force.
func (b *toolbox) inForce() *tool.Set { return b.now.Load() }

// follow makes the tools those of r. Answers under way keep theirs.
func (b *toolbox) follow(r *rules.Rules) error {
	cfg := tool.Config{Transport: b.transport, Keep: r.Cache.Tools}
	for _, t := range r.Tools {
		schema, err := json.Marshal(t.Arguments)
		if err != nil {
			return fmt.Errorf("encode the arguments of tool %s: %w", t.Name, err)
		}
		cfg.Tools = append(cfg.Tools, tool.Tool{
			Name: t.Name, Description: t.Description, URL: b.address(t), Method: t.Method, Schema: schema,
			Key: b.key(t), Identity: t.Identity, Timeout: t.Timeout, SlowAfter: t.Breaker.SlowAfter, PerAnswer: t.PerAnswer,
			Effect: t.Effect, Handoff: t.Handoff, Confirm: t.Confirm, Question: t.Question, Done: t.Done,
		})
	}
	set, err := tool.New(cfg)
	if err != nil {
		return err
	}
	b.now.Store(set)
	return nil
}

func (b *toolbox) key(t rules.Tool) string {
	if t.KeyEnv == "" {
		return ""
	}
	return b.getenv(t.KeyEnv)
}

const shopBase = "http://" + sim.DefaultShopAddr + "/"

// atShop reports whether a tool names the demo shop of the shipped rules.
func atShop(t rules.Tool) bool { return strings.HasPrefix(t.URL, shopBase) }

// address is where a tool is called: the demo shop may have had to take another port.
func (b *toolbox) address(t rules.Tool) string {
	if b.shop != "" && atShop(t) {
		return b.shop + "/" + strings.TrimPrefix(t.URL, shopBase)
	}
	return t.URL
}

// awayFor is how long it is believed which tools are away: each answer asks.
const awayFor = 200 * time.Millisecond

// away returns what tells the tools that take no call now.
func away(member *control.Member) func() map[string]bool {
	var mu sync.Mutex // guards the rest
	var at time.Time
	var names map[string]bool
	return func() map[string]bool {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(at) >= awayFor {
			at, names = now, map[string]bool{}
			for _, b := range breakers(member) {
				if b.tool && b.state == gate.BreakerOpen {
					names[b.name] = true
				}
			}
		}
		return names
	}
}

// breaker is how one breaker stands.
type breaker struct {
	name  string
	tool  bool
	state gate.BreakerState
}

// breakers returns all of them in the order of their names; none where nobody knows.
func breakers(member *control.Member) []breaker {
	states, err := member.VendorStates()
	if err != nil {
		return nil
	}
	var all []breaker
	for _, account := range slices.Sorted(maps.Keys(states)) {
		name, isTool := tool.Named(account)
		all = append(all, breaker{name, isTool, states[account].State})
	}
	return all
}

// checkBreakers tells /readyz which breakers of vendors, or of tools, are not closed.
func checkBreakers(member *control.Member, tools bool) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		var open []string
		for _, b := range breakers(member) {
			if b.tool == tools && b.state != gate.BreakerClosed {
				open = append(open, fmt.Sprintf("%s %s", b.name, b.state))
			}
		}
		if len(open) == 0 {
			return "closed", nil
		}
		return strings.Join(open, ", "), errors.New("a breaker is not closed")
	}
}
