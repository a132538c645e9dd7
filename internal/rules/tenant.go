package rules

import (
	"maps"
	"slices"

	"sluice/internal/chat"
)

// Allowance is what one tenant has of its own, beside Intake.Tenant.
type Allowance struct {
	// Weight is the tenant's turns beside others that wait in the same lane, above 0 and at
	// most 1,000. Defaults to 1.
	Weight          float64 `yaml:"weight"`
	QPS             int     `yaml:"qps"`               // as in Tenant, which is the default
	Burst           int     `yaml:"burst"`             // as in Tenant, which is the default
	TokensPerMinute int     `yaml:"tokens_per_minute"` // of all its messages; 0: no limit, the default
	Daily           int     `yaml:"daily"`             // messages a day by UTC; 0: no limit, the default
	// Language is that of replies where a customer's messages and locale tell none: zh or en.
	// Defaults to en.
	Language string `yaml:"language"`
}

// maxWeight is far beyond any order in which waiters can be served.
const maxWeight = 1000

// completeTenants gives tenants the rate of all where they have none of their own.
func (d *document) completeTenants(r *Rules) {
	for name, a := range r.Tenants {
		if _, given := d.at[tenantPath(name)+".qps"]; !given {
			a.QPS = r.Intake.Tenant.QPS
		}
		if _, given := d.at[tenantPath(name)+".burst"]; !given {
			a.Burst = r.Intake.Tenant.Burst
		}
		r.Tenants[name] = a
	}
}

func tenantPath(name string) string { return "tenants." + keyIn(name) }

func (d *document) checkTenants(all map[string]Allowance) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		path, a := tenantPath(name), all[name]
		if !chat.IsTenantName(name) {
			d.fault(path, "must be the name of a tenant: 1 to 32 of a-z 0-9 -")
		}
		if a.Weight <= 0 || a.Weight > maxWeight {
			d.fault(path+".weight", "must be above 0 and at most %d, is %v", maxWeight, a.Weight)
		}
		if a.Language != chat.Chinese && a.Language != chat.English {
			d.fault(path+".language", "must be %s or %s, is %s", chat.Chinese, chat.English, quote(a.Language))
		}
		d.count(path+".qps", a.QPS, 1, 0)
		d.count(path+".burst", a.Burst, 1, 0)
		d.count(path+".tokens_per_minute", a.TokensPerMinute, 0, 0)
		d.count(path+".daily", a.Daily, 0, 0)
	}
}
