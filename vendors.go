package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"sluice/internal/gate"
	"sluice/internal/llm"
	"sluice/internal/rules"
	"sluice/internal/sim"
)

// dialer opens connections to vendors; tests in a bubble dial in memory.
type dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// fleet is the clients of all vendors, and the simulator where it stands in for them.
type fleet struct {
	clients map[string]*llm.Client
	model   *gate.Model
	sim     *sim.Server // nil: the vendors are real
}

// openFleet makes the client of each vendor of the agent chain. Vendors are simulated
// when the rules name keys and none of them is to be had.
func openFleet(ctx context.Context, r *rules.Rules, getenv func(string) string) (*fleet, error) {
	if reachable(r, getenv) {
		return newFleet(r, func(v rules.Vendor) (url, key string) {
			return v.Endpoints[0].URL, getenv(v.Endpoints[0].KeyEnv)
		}, nil)
	}
	server, err := listenSim(ctx, r)
	if err != nil {
		return nil, err
	}
	f, err := newFleet(r, func(v rules.Vendor) (url, key string) { return server.URL(v.Name), "" }, nil)
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	f.sim = server
	return f, nil
}

// openRemoteFleet makes the clients of a process on a cluster. No vendor is simulated
// there, and none left out: every process must see the same ones.
func openRemoteFleet(r *rules.Rules, getenv func(string) string) (*fleet, error) {
	var faults []error
	for _, v := range r.Vendors {
		if v.Kind == rules.KindAnthropic {
			faults = append(faults, errKind(v))
		}
		if env := v.Endpoints[0].KeyEnv; env != "" && getenv(env) == "" {
			faults = append(faults, fmt.Errorf("vendor %s: %s is not set (a vendor that wants no key has no key_env)", v.Name, env))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return newFleet(r, func(v rules.Vendor) (url, key string) {
		return v.Endpoints[0].URL, getenv(v.Endpoints[0].KeyEnv)
	}, nil)
}

func errKind(v rules.Vendor) error {
	return fmt.Errorf("vendor %s: kind %s is not served by this version: name the vendor's OpenAI-compatible endpoint and kind %s",
		v.Name, v.Kind, rules.KindOpenAI)
}

// served returns the rules with the vendors that can be called: all of them when they
// are simulated, else those whose key is set. left names the others. It is an error
// if the agent chain has none.
func served(r *rules.Rules, getenv func(string) string) (_ *rules.Rules, left []string, err error) {
	for _, v := range r.Vendors {
		if v.Kind == rules.KindAnthropic {
			return nil, nil, errKind(v)
		}
	}
	if !reachable(r, getenv) {
		return r, nil, nil
	}
	keyless := func(v rules.Vendor) bool {
		env := v.Endpoints[0].KeyEnv
		return env != "" && getenv(env) == ""
	}
	out := *r
	out.Vendors, out.Chains = nil, map[string]rules.Chain{}
	for _, v := range r.Vendors {
		if keyless(v) {
			left = append(left, fmt.Sprintf("%s (%s is not set)", v.Name, v.Endpoints[0].KeyEnv))
			continue
		}
		out.Vendors = append(out.Vendors, v)
	}
	for name, chain := range r.Chains {
		chain.Vendors = slices.DeleteFunc(slices.Clone(chain.Vendors), func(vendor string) bool {
			return !slices.ContainsFunc(out.Vendors, func(v rules.Vendor) bool { return v.Name == vendor })
		})
		out.Chains[name] = chain
	}
	if len(out.Chains[rules.ChainAgent].Vendors) == 0 {
		return nil, left, fmt.Errorf("chain %s: none of its vendors can be called: %s", rules.ChainAgent, strings.Join(left, ", "))
	}
	return &out, left, nil
}

// reachable reports whether any vendor can be called: it needs no key, or its key is there.
func reachable(r *rules.Rules, getenv func(string) string) bool {
	for _, v := range r.Vendors {
		if env := v.Endpoints[0].KeyEnv; env == "" || getenv(env) != "" {
			return true
		}
	}
	return false
}

// listenSim binds a simulated vendor for each of the rules' vendors, on the ports of
// the documentation where they are free, else on any.
func listenSim(ctx context.Context, r *rules.Rules) (*sim.Server, error) {
	configs := make([]sim.Config, len(r.Vendors))
	for i, v := range r.Vendors {
		configs[i] = sim.Config{Name: v.Name, Quota: v.Quota, Seed: uint64(i + 1), Addr: fmt.Sprintf("127.0.0.1:%d", 9101+i)}
	}
	server, err := sim.Listen(ctx, sim.DefaultControlAddr, configs)
	if err == nil {
		return server, nil
	}
	for i := range configs {
		configs[i].Addr = "127.0.0.1:0"
	}
	server, err = sim.Listen(ctx, "127.0.0.1:0", configs)
	if err != nil {
		return nil, fmt.Errorf("start the simulated vendors: %w", err)
	}
	return server, nil
}

// newFleet makes the clients and puts the gate in front of them. It does no I/O.
func newFleet(r *rules.Rules, reach func(rules.Vendor) (url, key string), dial dialer) (*fleet, error) {
	f := &fleet{clients: map[string]*llm.Client{}}
	chain := r.Chains[rules.ChainAgent]
	backends := map[string]gate.Backend{}
	for _, v := range r.Vendors {
		model, found := v.Models[chain.Model]
		if !found {
			continue // not in this chain: Parse has checked those that are
		}
		url, key := reach(v)
		client, err := llm.New(llm.Config{
			Vendor: v.Name, BaseURL: url, Key: key, Model: model.Name, Dial: dial, MaxConns: v.Quota,
			Timeouts: llm.Timeouts{
				Connect: v.Timeouts.Connect, FirstToken: v.Timeouts.FirstToken, Gap: v.Timeouts.Gap,
				Call: v.Timeouts.Call, Stream: v.Timeouts.Stream,
			},
		})
		if err != nil {
			return nil, fmt.Errorf("client of vendor %s: %w", v.Name, err)
		}
		f.clients[v.Name] = client
		backends[v.Name] = gate.Backend{
			Model: client, Name: model.Name, ReleaseAfter: v.Timeouts.ReleaseAfterCancel, Ended: llm.Drained,
		}
	}
	model, err := gate.NewModel(backends)
	if err != nil {
		return nil, err
	}
	f.model = model
	return f, nil
}

// close gives back idle connections.
func (f *fleet) close() {
	for _, c := range f.clients {
		c.Close()
	}
}
