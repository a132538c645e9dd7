package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/rules"
	"sluice/internal/sim"
)

// estate is one simulated account that any number of endpoints lead to, in the bubble
// that the test runs in, and a fleet that calls it.
type estate struct {
	*fleet
	vendor *sim.Vendor
	dials  atomic.Int64
}

func newEstate(t *testing.T, doc string, b sim.Behaviour) *estate {
	t.Helper()
	r := testRules(t, doc)
	vendor, err := sim.NewVendor(sim.Config{Name: "a", Quota: r.Vendors[0].Quota, Behaviour: b, Record: true})
	if err != nil {
		t.Fatal(err)
	}
	e := &estate{vendor: vendor}
	door := sim.NewPipeListener()
	server := &http.Server{Handler: vendor.Handler()}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(door) })
	e.fleet, err = newFleet(r, asWritten(func(string) string { return "" }), func(ctx context.Context, network, addr string) (net.Conn, error) {
		e.dials.Add(1)
		return door.Dial(ctx, network, addr)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.close()
		_ = server.Close()
		serving.Wait()
	})
	return e
}

// start makes n calls to vendor a; wait returns when they have ended.
func (e *estate) start(ctx context.Context, n int, options ...llms.CallOption) (wait func()) {
	spread := e.spreads["a"]
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() {
			_, _ = spread.GenerateContent(ctx, []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hello")}, options...)
		})
	}
	return calls.Wait
}

// show renders the calls in flight at vendor a.
func (e *estate) show() string {
	var all []string
	for _, l := range e.loads("a") {
		all = append(all, fmt.Sprintf("%s %d", strings.TrimSuffix(strings.TrimPrefix(l.Endpoint, "http://"), "/v1"), l.InFlight))
	}
	return strings.Join(all, ", ")
}

func estateRules(vendor string) string {
	return "vendors: [{name: a, quota: 20, " + vendor + "}]\nchains: {agent: {vendors: [a], model: strong}, rag: {vendors: [a], model: light}}\n"
}

const twoModels = `models: {strong: model-l, light: model-s}`

var steady = sim.Behaviour{FirstToken: sim.Fixed(200 * time.Millisecond), Call: sim.Fixed(time.Second)}

func TestCallsGoOverAllEndpointsOfAVendorInEveryModel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEstate(t, estateRules(`endpoints: [{url: "http://x/v1"}, {url: "http://y/v1", weight: 3}], `+twoModels), steady)
		strong := e.start(t.Context(), 8)
		light := e.start(t.Context(), 8, llms.WithModel("model-s"))
		synctest.Wait()
		if got := e.show(); got != "x 4, y 12" {
			t.Errorf("in flight: %s", got)
		}
		strong()
		light()
		models := map[string]int{}
		for _, p := range e.vendor.Prompts() {
			models[p.Model]++
		}
		if models["model-l"] != 8 || models["model-s"] != 8 || e.show() != "x 0, y 0" {
			t.Errorf("models %v, in flight at rest: %s", models, e.show())
		}
	})
}

func TestRulesChangeUnderCallsThatGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		two := estateRules(`endpoints: [{url: "http://x/v1"}, {url: "http://y/v1"}], ` + twoModels)
		one := estateRules(`endpoints: [{url: "http://x/v1"}], ` + twoModels)
		e := newEstate(t, two, steady)
		follow := func(doc string) {
			t.Helper()
			if _, err := e.follow(testRules(t, doc)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		want := func(show string, dials int64) {
			t.Helper()
			synctest.Wait()
			if got := e.show(); got != show || e.dials.Load() != dials {
				t.Fatalf("in flight: %s after %d dials, want %s after %d", got, e.dials.Load(), show, dials)
			}
		}
		first := e.start(t.Context(), 6)
		want("x 3, y 3", 6)
		follow(one)
		second := e.start(t.Context(), 2)
		want("x 5, y 3", 8)
		follow(two)
		want("x 5, y 3", 8)
		first()
		second()
		want("x 0, y 0", 8)
		if s := e.vendor.Stats(); s.Completed != 8 || s.Calls != 8 {
			t.Errorf("the vendor counted %+v", s)
		}
		follow(two)
		e.start(t.Context(), 10)() // x has kept its connections, y had to begin anew
		want("x 0, y 0", 13)
		follow(strings.Replace(two, "quota: 20", "quota: 20, timeouts: {gap: 1s}", 1))
		e.start(t.Context(), 2)() // other limits, other connections
		want("x 0, y 0", 15)
	})
}

func TestBackendsOfAFleetKnowTheirModels(t *testing.T) {
	t.Parallel()
	r := testRules(t, `
vendors:
  - {name: a, endpoints: [{url: "http://a/v1"}], models: {strong: m-l, light: m-s}, quota: 5}
  - {name: b, endpoints: [{url: "http://b/v1"}, {url: "http://b/v1", key_env: B2}], models: {light: b-s}, quota: 5}
chains:
  agent: {vendors: [a], model: strong}
  rag: {vendors: [b, a], model: light}
`)
	f, err := newFleet(r, asWritten(func(string) string { return "" }), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	backends, err := f.follow(r)
	if err != nil {
		t.Fatal(err)
	}
	a, b := backends["a"], backends["b"]
	if a.Name != "m-l" || a.Models["light"] != "m-s" || b.Name != "b-s" || b.Models["light"] != "b-s" || len(b.Models) != 1 {
		t.Errorf("a: %s of %v, b: %s of %v", a.Name, a.Models, b.Name, b.Models)
	}
	if names := endpointNames(r.Vendors[1]); !slices.Equal(names, []string{"http://b/v1", "http://b/v1 #2"}) {
		t.Errorf("endpoints of b are %q", names)
	}
}

func TestEndpointsWithoutTheirKeyAreLeftOut(t *testing.T) {
	t.Parallel()
	r := testRules(t, `
vendors:
  - {name: a, endpoints: [{url: "http://a1/v1", key_env: A1}, {url: "http://a2/v1", key_env: A2}], models: {strong: m}, quota: 5}
  - {name: b, endpoints: [{url: "http://b/v1", key_env: B}], models: {strong: m}, quota: 5}
chains: {agent: {vendors: [b, a], model: strong}, rag: {vendors: [a], model: strong}}
`)
	env := map[string]string{"A2": "key"}
	out, left, err := served(r, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Vendors) != 1 || len(out.Vendors[0].Endpoints) != 1 || out.Vendors[0].Endpoints[0].URL != "http://a2/v1" {
		t.Errorf("vendors %+v", out.Vendors)
	}
	if want := []string{"a at http://a1/v1 (A1 is not set)", "b at http://b/v1 (B is not set)"}; !slices.Equal(left, want) {
		t.Errorf("left out %q, want %q", left, want)
	}
	if chain := out.Chains[rules.ChainAgent].Vendors; !slices.Equal(chain, []string{"a"}) || len(r.Vendors[0].Endpoints) != 2 {
		t.Errorf("the agent's vendors are %v, the rules have %+v", chain, r.Vendors)
	}
	if _, err := openRemoteFleet(r, func(name string) string { return env[name] }); err == nil || !strings.Contains(err.Error(), "A1 is not set") || !strings.Contains(err.Error(), "B is not set") {
		t.Errorf("on a cluster: %v", err)
	}
}

// Whoever names several endpoints and no key plans with the quota of one account.
func TestSimulatedEndpointsOfOneVendorAreOneAccount(t *testing.T) {
	t.Parallel()
	r := testRules(t, estateRules(`endpoints: [{url: "http://x/v1", key_env: X}, {url: "http://y/v1", key_env: Y}], `+twoModels))
	f, err := openFleet(t.Context(), r, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- f.sim.Run(ctx) }()
	spread := f.spreads["a"]
	for range 20 {
		if _, err := spread.Call(t.Context(), "hello"); err != nil {
			t.Fatal(err)
		}
		if err := f.sim.Vendor("a").SetBehaviour(sim.Behaviour{FirstToken: sim.Fixed(0), Call: sim.Fixed(0)}); err != nil {
			t.Fatal(err)
		}
	}
	urls := f.sim.URLs("a")
	if s := f.sim.Vendor("a").Stats(); s.Completed != 20 || len(urls) != 2 || urls[0] == urls[1] {
		t.Errorf("endpoints %v, the vendor counted %+v", urls, s)
	}
	f.close()
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
