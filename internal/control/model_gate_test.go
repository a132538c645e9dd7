package control

import (
	"fmt"
	"slices"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

const (
	staysFor  = 260 * time.Millisecond // a permit after its call was cut
	rulesLate = time.Second            // until every process has new rules
	// settled is when limits that were replaced can let nobody in any more: the rules are
	// everywhere, and a grant that was on its way is too old to be taken.
	settled = rulesLate + grantAge + 500*time.Millisecond
)

// former is limits that were in force, until others took their place.
type former struct {
	limits map[string]int
	until  time.Duration
}

// gate is the rules as this process has them, with breakers that open soon and close soon.
func (p *process) gate() gate.Config {
	cfg := permits(p.limits)
	cfg.Lanes[chat.Low] = gate.Lane{Age: 5 * time.Second}
	cfg.Lanes[chat.High] = gate.Lane{Elastic: true}
	for name, v := range cfg.Vendors {
		v.Elastic, v.Retry = v.Limit/4, 0.5
		v.Breaker = gate.BreakerConfig{
			Window: 2 * time.Second, MinCalls: 4, Failures: 0.6, Slow: 0.9, Cooldown: 2 * time.Second, Probes: 2, ProbeFor: modelHard,
		}
		cfg.Vendors[name] = v
	}
	return cfg
}

func (p *process) config() Config {
	return Config{Gate: p.gate(), Quotas: p.m.quotas, Node: p.name, Hard: modelHard}
}

// change puts other limits in force, in each process a little later than in another.
func (m *model) change(a, b int) {
	m.former = append(m.former, former{m.limits, m.now})
	limits := map[string]int{"a": a, "b": b}
	m.limits = limits
	for _, p := range m.all {
		m.after(time.Duration(m.rand.Int64N(int64(rulesLate))), func() {
			p.act(func() {
				// Of two changes that overtake each other the later one holds.
				p.limits = m.limits
				if p.server != nil {
					p.server.setLimits(p.gate(), m.quotas, p.clock())
					p.deliver()
				}
			})
		})
	}
}

// most returns how many calls a vendor may see as one begins: the highest limit that may
// have let it in, or the quota once somebody was silent. An unheard node is charged with
// the limit of now, not with a higher one under which it was granted permits.
func (m *model) most(vendor string) int {
	limit, highest, lowest := m.limits[vendor], m.limits[vendor], m.limits[vendor]
	for _, f := range m.former {
		highest, lowest = max(highest, f.limits[vendor]), min(lowest, f.limits[vendor])
		if m.now-f.until <= settled {
			limit = max(limit, f.limits[vendor])
		}
	}
	if m.silent {
		return m.quotas[vendor] + highest - lowest
	}
	return limit
}

// length is how long the next call takes.
func (m *model) length() time.Duration {
	switch {
	case m.well:
		return time.Second
	case m.rand.IntN(3) == 0:
		return 1 + time.Duration(m.rand.Int64N(int64(modelHard)))
	}
	return time.Duration(50+m.rand.IntN(3000)) * time.Millisecond
}

// ending is how a call of a vendor ends that nobody has cut.
func (m *model) ending(vendor string) gate.End {
	ill := m.now < m.ill[vendor]
	switch dice := m.rand.IntN(20); {
	case m.well:
	case dice == 0:
		return gate.End{Outcome: gate.Throttled, RetryAfter: time.Duration(m.rand.IntN(2000)) * time.Millisecond, Unused: true}
	case dice == 1, ill && dice < 18:
		return gate.End{Outcome: gate.Failed}
	case dice < 4:
		return gate.End{Outcome: gate.Slow}
	}
	return gate.End{Outcome: gate.Good}
}

// again asks for another try in place of a failed call: at another vendor, or at the same
// one when that has forgotten the call, in place of whose permit it then stands.
func (p *process) again(c *call) {
	a := c.ask
	a.Step, a.Retry = true, true
	a.Vendors = slices.DeleteFunc(slices.Clone(c.ask.Vendors), func(v string) bool { return v == c.permit.Vendor })
	giveUp := func() { p.giveBack(c) }
	if len(a.Vendors) > 0 {
		p.m.after(staysFor, func() { p.act(func() { p.holder.release(c.permit.ID) }) })
		p.wait(a, time.Second, giveUp)
		return
	}
	a.Vendors, a.Instead = []string{c.permit.Vendor}, c.permit.ID
	p.m.after(staysFor, func() { p.act(func() { p.wait(a, time.Second, giveUp) }) })
}

// begun notes a call that begins.
func (m *model) begun(c *call) {
	m.count(c, 1)
	if m.order != nil {
		m.order(c.ask)
	}
}

// served is a waiter whose call began, by the clock of the controller.
type served struct {
	gate.Ask
	at time.Time
}

// rank is how a waiter stood at a time: low rises with age, by one each five seconds.
func (s served) rank(at time.Time) int {
	rank := s.Lane.Rank()
	if s.Lane == chat.Low {
		rank += int(at.Sub(s.AcceptedAt) / (5 * time.Second))
	}
	return min(rank, chat.High.Rank())
}

// before reports whether s had to be served before other, whatever was on its way just then.
func (s served) before(other served) bool {
	const onItsWay = 50 * time.Millisecond
	if s.at.Sub(other.at) < onItsWay {
		return false // both had a permit by then
	}
	granted := other.at.Add(-onItsWay)
	theirs, earliest, latest := s.rank(granted), other.rank(granted), other.rank(other.at)
	return theirs > latest || theirs == earliest && theirs == latest && s.AcceptedAt.Before(other.AcceptedAt)
}

// line lets a crowd of all lanes wait for one vendor and checks in which order it is
// served: by rank, which rises with age where the lane's does, then by age.
func (m *model) line() {
	lead := m.leader()
	if lead == nil || m.fault != "" {
		return
	}
	var all []served
	m.order = func(a gate.Ask) { all = append(all, served{a, lead.clock()}) }
	m.even = true
	joined := 0
	join := func(lane chat.Lane, age time.Duration) {
		m.tickets++
		joined++
		living := m.living()
		living[m.rand.IntN(len(living))].wait(gate.Ask{
			Tenant: "t", Session: fmt.Sprint("line", m.tickets), Ticket: fmt.Sprint(m.tickets), Lane: lane,
			Seq: 1, AcceptedAt: lead.clock().Add(-age), Vendors: []string{"b"},
		}, time.Minute, func() {})
	}
	for range m.limits["b"] {
		join(chat.High, time.Hour)
	}
	m.run(m.now + 100*time.Millisecond)
	for range 12 {
		lane := []chat.Lane{chat.High, chat.Normal, chat.Low, chat.Low, chat.Batch}[m.rand.IntN(5)]
		join(lane, time.Duration(m.rand.IntN(12_000))*time.Millisecond)
	}
	m.run(m.now + 30*time.Second)
	if len(all) != joined {
		m.failf("%d of %d were served by an idle cluster", len(all), joined)
	}
	for i, first := range all {
		for _, later := range all[i+1:] {
			if later.before(first) {
				m.failf("%s of %s, accepted at %v, began before %s of %s, accepted at %v", first.Ticket, first.Lane,
					first.AcceptedAt.Sub(first.at), later.Ticket, later.Lane, later.AcceptedAt.Sub(first.at))
			}
		}
	}
}

func (m *model) living() (all []*process) {
	for _, p := range m.all {
		if !p.dead {
			all = append(all, p)
		}
	}
	return all
}

// leader returns the process whose controller grants, or nil.
func (m *model) leader() *process {
	for _, p := range m.living() {
		if p.server != nil && p.server.granting(p.clock()) {
			return p
		}
	}
	return nil
}
