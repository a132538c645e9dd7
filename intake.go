package main

import (
	"github.com/rs/zerolog"

	"sluice/internal/control"
	"sluice/internal/gate"
	"sluice/internal/rules"
)

// intake returns what the rules say about who may send how much.
func intake(r *rules.Rules) gate.Intake {
	in := gate.Intake{
		Tenant:     gate.Allowance{QPS: r.Intake.Tenant.QPS, Burst: r.Intake.Tenant.Burst},
		Tenants:    map[string]gate.Allowance{},
		UserTokens: r.Intake.Tenant.UserTokensPerMinute,
		Tighten:    gate.Tighten(r.Intake.Tighten),
	}
	for name, a := range r.Tenants {
		in.Tenants[name] = gate.Allowance{QPS: a.QPS, Burst: a.Burst, Tokens: a.TokensPerMinute, Daily: a.Daily}
	}
	return in
}

// weights returns the turns of tenants that wait in the same lane.
func weights(r *rules.Rules) map[string]float64 {
	all := map[string]float64{}
	for name, a := range r.Tenants {
		all[name] = a.Weight
	}
	return all
}

// shareIntake keeps a member to its share of the limits in force, for while there is no
// controller.
func shareIntake(m *control.Member, log zerolog.Logger) func(*rules.Rules) {
	return func(r *rules.Rules) {
		if err := m.SetIntake(intake(r)); err != nil {
			log.Error().Err(err).Msg("the new limits of the intake cannot be put into force, the former ones hold")
		}
	}
}
