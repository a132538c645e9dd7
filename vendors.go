package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/rules"
	"sluice/internal/sim"
)

// openFleet makes the clients of all vendors. Vendors are simulated when the rules name
// keys and none of them is to be had.
func openFleet(ctx context.Context, r *rules.Rules, getenv func(string) string) (*fleet, error) {
	if reachable(r, getenv) {
		return openReal(ctx, r, getenv)
	}
	server, err := listenSim(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := addShop(ctx, server); err != nil {
		return nil, errors.Join(err, server.Close())
	}
	f, err := newFleet(r, func(v rules.Vendor, endpoint int) (url, key string) {
		doors := server.URLs(v.Name)
		if len(doors) == 0 {
			return "", "" // a vendor that came into the rules later has no simulator
		}
		return doors[endpoint%len(doors)], ""
	}, nil)
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	f.sim = server
	return f, f.visit(r, server.ShopURL(), getenv)
}

// openReal makes the clients of vendors that are real. The demo shop stands in where tools
// of the rules name its address.
func openReal(ctx context.Context, r *rules.Rules, getenv func(string) string) (*fleet, error) {
	f, err := newFleet(r, asWritten(getenv), nil)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(r.Tools, atShop) {
		server, err := sim.Listen(ctx, "", nil)
		if err != nil {
			return nil, err
		}
		if err := addShop(ctx, server); err != nil {
			return nil, errors.Join(err, server.Close())
		}
		f.shop = server
		return f, f.visit(r, server.ShopURL(), getenv)
	}
	return f, nil
}

// addShop adds the demo shop on the address of the shipped rules, else on any.
func addShop(ctx context.Context, server *sim.Server) error {
	if server.AddShop(ctx, sim.DefaultShopAddr) == nil {
		return nil
	}
	return server.AddShop(ctx, "127.0.0.1:0")
}

// openRemoteFleet makes the clients of a process on a cluster. No vendor is simulated
// there, and none left out: every process must see the same ones.
func openRemoteFleet(r *rules.Rules, getenv func(string) string) (*fleet, error) {
	var faults []error
	for _, v := range r.Vendors {
		if v.Kind == rules.KindAnthropic {
			faults = append(faults, errKind(v))
		}
		for _, e := range v.Endpoints {
			if keyless(e, getenv) {
				faults = append(faults, fmt.Errorf("vendor %s: %s is not set (an endpoint that wants no key has no key_env)", v.Name, e.KeyEnv))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return newFleet(r, asWritten(getenv), nil)
}

// asWritten reaches endpoints at their URLs, with the keys of the environment.
func asWritten(getenv func(string) string) reach {
	return func(v rules.Vendor, endpoint int) (url, key string) {
		e := v.Endpoints[endpoint]
		return e.URL, getenv(e.KeyEnv)
	}
}

func keyless(e rules.Endpoint, getenv func(string) string) bool {
	return e.KeyEnv != "" && getenv(e.KeyEnv) == ""
}

func errKind(v rules.Vendor) error {
	return fmt.Errorf("vendor %s: kind %s is not served by this version: name the vendor's OpenAI-compatible endpoint and kind %s",
		v.Name, v.Kind, rules.KindOpenAI)
}

// served returns the rules with the vendors that can be called, at the endpoints where
// they can: all of them when they are simulated, else those whose key is set. left names
// the others. It is an error if the agent chain has none.
func served(r *rules.Rules, getenv func(string) string) (_ *rules.Rules, left []string, err error) {
	for _, v := range r.Vendors {
		if v.Kind == rules.KindAnthropic {
			return nil, nil, errKind(v)
		}
	}
	if !reachable(r, getenv) {
		return r, nil, nil
	}
	out := *r
	out.Vendors, out.Chains = nil, map[string]rules.Chain{}
	for _, v := range r.Vendors {
		all := v.Endpoints
		v.Endpoints = nil
		for _, e := range all {
			if keyless(e, getenv) {
				left = append(left, fmt.Sprintf("%s at %s (%s is not set)", v.Name, e.URL, e.KeyEnv))
			} else {
				v.Endpoints = append(v.Endpoints, e)
			}
		}
		if len(v.Endpoints) > 0 {
			out.Vendors = append(out.Vendors, v)
		}
	}
	for name, chain := range r.Chains {
		chain.Vendors = slices.DeleteFunc(slices.Clone(chain.Vendors), func(vendor string) bool {
			return !slices.ContainsFunc(out.Vendors, func(v rules.Vendor) bool { return v.Name == vendor })
		})
		out.Chains[name] = chain
	}
	out.Knowledge.Embeddings.Vendors = slices.DeleteFunc(slices.Clone(r.Knowledge.Embeddings.Vendors), func(vendor string) bool {
		return !slices.ContainsFunc(out.Vendors, func(v rules.Vendor) bool { return v.Name == vendor })
	})
	if len(out.Chains[rules.ChainAgent].Vendors) == 0 {
		return nil, left, fmt.Errorf("chain %s: none of its vendors can be called: %s", rules.ChainAgent, strings.Join(left, ", "))
	}
	return &out, left, nil
}

// reachable reports whether any vendor can be called: an endpoint of it needs no key, or
// its key is there.
func reachable(r *rules.Rules, getenv func(string) string) bool {
	for _, v := range r.Vendors {
		for _, e := range v.Endpoints {
			if !keyless(e, getenv) {
				return true
			}
		}
	}
	return false
}

// listenSim binds a simulated vendor for each of the rules' vendors, on the ports of
// the documentation where they are free, else on any. A vendor's further endpoints lead
// to the same one, as one account does; their ports are any.
func listenSim(ctx context.Context, r *rules.Rules) (*sim.Server, error) {
	configs := make([]sim.Config, len(r.Vendors))
	for i, v := range r.Vendors {
		configs[i] = sim.Config{
			Name: v.Name, Quota: v.Quota, Seed: uint64(i + 1), Addr: fmt.Sprintf("127.0.0.1:%d", 9101+i),
			More: make([]string, len(v.Endpoints)-1),
		}
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
