package plan

import (
	"fmt"
	"math"
	"time"

	"sluice/internal/rules"
)

// advise says what does not fit, each in one line with what to do.
func (p *Plan) advise(r *rules.Rules, l Load) {
	say := func(format string, args ...any) { p.Advice = append(p.Advice, fmt.Sprintf(format, args...)) }
	switch {
	case p.Busy >= 1:
		say("the load is above the capacity: %.0f%% of all messages are answered without a vendor, whatever the bounds are; contract %d more concurrent calls, or shorten the calls",
			100*(1-1/p.Busy), p.missing(l))
	case l.Rate > p.Best:
		say("there is no room for a burst: from %.1f messages a second on one in twenty waits longer than half of the shortest max_wait", p.Best)
	}
	for i, v := range p.Vendors {
		if v.By != "permits" {
			say("vendors[%s]: %s of the contract end before the permits do: %d of %d permits can be in use", v.Name, v.By, v.Used, v.Permits)
		}
		p.timeouts(r.Vendors[i], l, say)
	}
	for _, lane := range p.Lanes {
		if lane.Bound < lane.Answered {
			say("lanes.%s.bound: %d is full before vendors are at their end: %d could be begun within max_wait; raise it, or some get 503 queue_full for nothing", lane.Lane, lane.Bound, lane.Answered)
		}
	}
	if rate := float64(r.Intake.Tenant.QPS); rate > p.Capacity {
		say("intake.tenant.qps: one tenant may send %.4g a second, and all vendors answer %.1f: what is beyond gets lesser answers, other tenants' messages too", rate, p.Capacity)
	}
	if p.Nodes > 1 {
		say("sockets: %d need %d api processes of sockets.max %d", l.Sockets, p.Nodes, r.Sockets.Max)
	}
}

// missing is how many more concurrent calls would bring the load down to the advised part
// of the capacity.
func (p *Plan) missing(l Load) int {
	used := 0
	for _, v := range p.Vendors {
		used += v.Used
	}
	need := used
	at := line{rate: l.Rate * l.Calls, call: l.Call}
	for at.permits = max(1, used); at.busy() >= 0.9; at.permits += 1 + at.permits/100 {
		need = at.permits
	}
	return int(math.Max(1, float64(need-used)))
}

// timeouts compares a vendor's with what was measured: too short a one cuts answers that
// would have come, too long a one holds a permit for nothing.
func (p *Plan) timeouts(v rules.Vendor, l Load, say func(string, ...any)) {
	for _, t := range []struct {
		name string
		set  time.Duration
		p99  time.Duration
	}{
		{"first_token", v.Timeouts.FirstToken, l.FirstToken},
		{"call", v.Timeouts.Call, l.P99},
	} {
		fit := time.Duration(margin * float64(t.p99)).Round(100 * time.Millisecond)
		switch {
		case t.set < t.p99:
			say("vendors[%s].timeouts.%s: %s is below the p99 of %s: set %s (p99 × %g)", v.Name, t.name, t.set, t.p99, fit, margin)
		case t.set > 4*fit:
			say("vendors[%s].timeouts.%s: %s holds a permit long after an answer could come: %s (p99 × %g) would do", v.Name, t.name, t.set, fit, margin)
		}
	}
}
