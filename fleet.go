package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"

	"sluice/internal/gate"
	"sluice/internal/llm"
	"sluice/internal/metrics"
	"sluice/internal/pulse"
	"sluice/internal/rules"
	"sluice/internal/sim"
)

// dialer opens connections to vendors; tests in a bubble dial in memory.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// reach tells where an endpoint of a vendor, by its index, is called and with what key.
type reach func(v rules.Vendor, endpoint int) (url, key string)

// fleet is a client of each endpoint of each vendor, a spread over the endpoints of
// each, the gate in front of them, and the simulator where it stands in for them. It is
// safe for concurrent use.
type fleet struct {
	model *gate.Model
	tools *toolbox
	sim   *sim.Server // nil: the vendors are real
	shop  *sim.Server // the demo shop alone; nil: none, or beside the simulated vendors
	reach reach
	dial  dialer
	// metrics and tally count calls. They are set before the first one, or stay nil: nobody counts.
	metrics *metrics.Metrics
	tally   *pulse.Tally

	mu      sync.Mutex              // guards the rest
	spreads map[string]*gate.Spread // of every vendor there ever was: one that comes back has its counts
	clients map[seat]client
}

// seat is an endpoint by its vendor and its name.
type seat struct{ vendor, endpoint string }

// client is a client, and what it was made of.
type client struct {
	*llm.Client
	recipe
}

// recipe is what a client depends on: while it stays the same, so does the client, with
// its open connections.
type recipe struct {
	url, key, model string
	conns           int
	limits          llm.Timeouts
}

// newFleet makes the clients and puts the gate in front of them. It does no I/O.
func newFleet(r *rules.Rules, to reach, dial dialer) (*fleet, error) {
	f := &fleet{
		tools: newToolbox(dial), reach: to, dial: dial,
		spreads: map[string]*gate.Spread{}, clients: map[seat]client{},
	}
	backends, err := f.follow(r)
	if err != nil {
		return nil, err
	}
	if f.model, err = gate.NewModel(backends); err != nil {
		return nil, err
	}
	return f, nil
}

// follow makes the endpoints those of r, and returns what the gate is to stand in front
// of. Calls under way end where they began, and stay counted there. On an error nothing
// is changed.
func (f *fleet) follow(r *rules.Rules) (map[string]gate.Backend, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	clients := map[seat]client{}
	for _, v := range r.Vendors {
		for i, name := range endpointNames(v) {
			at := seat{v.Name, name}
			c, err := f.client(at, f.recipe(r, v, i))
			if err != nil {
				return nil, fmt.Errorf("client of vendor %s: %w", v.Name, err)
			}
			clients[at] = c
		}
	}
	backends := map[string]gate.Backend{}
	for _, v := range r.Vendors {
		spread, err := f.spread(v, clients)
		if err != nil {
			return nil, fmt.Errorf("vendor %s: %w", v.Name, err)
		}
		f.spreads[v.Name] = spread
		backends[v.Name] = gate.Backend{
			Model: spread, Name: usualModel(r, v), Models: modelNames(v),
			ReleaseAfter: v.Timeouts.ReleaseAfterCancel, Attempts: v.Retry.Attempts, Watch: f.watch(v),
		}
	}
	if err := f.tools.follow(r); err != nil {
		return nil, err
	}
	for at, old := range f.clients {
		if clients[at].Client != old.Client {
			old.Close()
		}
	}
	f.clients = clients
	return backends, nil
}

// client returns the client that there is, if it was made so, else a new one.
func (f *fleet) client(at seat, want recipe) (client, error) {
	if c, found := f.clients[at]; found && c.recipe == want {
		return c, nil
	}
	c, err := llm.New(llm.Config{
		Vendor: at.vendor, BaseURL: want.url, Key: want.key, Model: want.model,
		Dial: f.dial, MaxConns: want.conns, Timeouts: want.limits,
	})
	return client{Client: c, recipe: want}, err
}

func (f *fleet) recipe(r *rules.Rules, v rules.Vendor, endpoint int) recipe {
	url, key := f.reach(v, endpoint)
	return recipe{
		url: url, key: key, model: usualModel(r, v),
		conns: v.Quota, // more calls than that are never in flight, whatever the endpoint
		limits: llm.Timeouts{
			Connect: v.Timeouts.Connect, FirstToken: v.Timeouts.FirstToken, Gap: v.Timeouts.Gap,
			Call: v.Timeouts.Call, Stream: v.Timeouts.Stream,
		},
	}
}

// spread returns the vendor's spread, with the endpoints of v.
func (f *fleet) spread(v rules.Vendor, clients map[seat]client) (*gate.Spread, error) {
	endpoints := make([]gate.Endpoint, len(v.Endpoints))
	for i, name := range endpointNames(v) {
		endpoints[i] = gate.Endpoint{Name: name, Model: clients[seat{v.Name, name}].Client, Weight: v.Endpoints[i].Weight}
	}
	if spread, known := f.spreads[v.Name]; known {
		return spread, spread.SetEndpoints(endpoints)
	}
	return gate.NewSpread(endpoints, func(err error) bool { return llm.OutcomeOf(err) == llm.Failed })
}

// endpointNames returns what the vendor's endpoints are counted by: their URLs in the
// rules. Several keys may share one; then a number tells them apart.
func endpointNames(v rules.Vendor) []string {
	var names []string
	for _, e := range v.Endpoints {
		name := e.URL
		for n := 2; slices.Contains(names, name); n++ {
			name = fmt.Sprintf("%s #%d", e.URL, n)
		}
		names = append(names, name)
	}
	return names
}

// usualModel is the vendor's name of the model for calls that ask for none: the agent's.
// A vendor that has none of that word serves other chains, which name theirs.
func usualModel(r *rules.Rules, v rules.Vendor) string {
	word := r.Chains[rules.ChainAgent].Model
	if _, found := v.Models[word]; !found {
		word = slices.Min(slices.Collect(maps.Keys(v.Models)))
	}
	return v.Models[word].Name
}

// modelNames maps our words to the vendor's names.
func modelNames(v rules.Vendor) map[string]string {
	names := make(map[string]string, len(v.Models))
	for word, m := range v.Models {
		names[word] = m.Name
	}
	return names
}

// visit has tools of the shipped rules call the demo shop where it is.
func (f *fleet) visit(r *rules.Rules, shop string, getenv func(string) string) error {
	f.tools.shop, f.tools.getenv = shop, getenv
	return f.tools.follow(r)
}

// loads returns the calls in flight at each endpoint of a vendor.
func (f *fleet) loads(vendor string) []gate.Load {
	f.mu.Lock()
	defer f.mu.Unlock()
	if spread, known := f.spreads[vendor]; known {
		return spread.Loads()
	}
	return nil
}

// inFlight returns the calls in flight at each endpoint of the vendors of r.
func (f *fleet) inFlight(r *rules.Rules) map[string]map[string]int {
	all := map[string]map[string]int{}
	for _, v := range r.Vendors {
		all[v.Name] = map[string]int{}
		for _, l := range f.loads(v.Name) {
			all[v.Name][l.Endpoint] = l.InFlight
		}
	}
	return all
}

// close gives back idle connections.
func (f *fleet) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.clients {
		c.Close()
	}
	f.tools.transport.CloseIdleConnections()
}
