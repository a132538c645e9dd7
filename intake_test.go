package main

import (
	"maps"
	"testing"

	"sluice/internal/gate"
	"sluice/internal/rules"
)

func TestTheIntakeIsWhatTheRulesSay(t *testing.T) {
	t.Parallel()
	r, err := rules.Parse("r.yaml", []byte(`
intake: {tenant: {qps: 20, user_tokens_per_minute: 500}, tighten: {at: 0.7, until: 0.6, factor: 0.3}}
tenants:
  shop: {weight: 2.5, burst: 7, tokens_per_minute: 9000, daily: 100}
`))
	if err != nil {
		t.Fatal(err)
	}
	cfg := limits(r)
	in := cfg.Intake
	if in.Tenant != (gate.Allowance{QPS: 20, Burst: 200}) || in.UserTokens != 500 || in.Tighten != (gate.Tighten{At: 0.7, Until: 0.6, Factor: 0.3}) {
		t.Errorf("of all: %+v", in)
	}
	if want := map[string]gate.Allowance{"shop": {QPS: 20, Burst: 7, Tokens: 9000, Daily: 100}}; !maps.Equal(in.Tenants, want) {
		t.Errorf("of tenants: %+v, want %+v", in.Tenants, want)
	}
	if want := map[string]float64{"shop": 2.5}; !maps.Equal(cfg.Weights, want) {
		t.Errorf("weights: %v, want %v", cfg.Weights, want)
	}
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}
