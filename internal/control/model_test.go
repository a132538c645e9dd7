package control

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

// model is a cluster in which everything that can go wrong on the way does.
type model struct {
	*engine
	limits, quotas map[string]int           // as the rules say now
	former         []former                 // limits
	ill            map[string]time.Duration // vendor → when its calls stop failing
	well           bool                     // the vendors answer well, and soon

	all     []*process
	byName  map[string]*process
	tickets int
	overdue int

	calls    map[string]int // in flight, by vendor
	sessions map[string]int // calls by session
	silent   bool           // somebody was silent, or a message was late
	newest   uint64         // epoch of the newest grant that was taken
	order    func(gate.Ask) // called as each call begins; nil: the order is not looked at
	fault    string
}

// fault is one thing that happens to one process.
type fault struct {
	At   int // milliseconds
	Do   string
	Who  int
	Long int // milliseconds
}

func (m *model) wanted() []string {
	if m.rand.IntN(3) == 0 {
		return []string{"b", "a"}
	}
	return []string{"a"}
}

func (m *model) failf(format string, args ...any) {
	if m.fault == "" {
		m.fault = fmt.Sprintf("at %v: ", m.now) + fmt.Sprintf(format, args...)
	}
}

func (m *model) accepted(p gate.Permit) {
	if p.Epoch < m.newest {
		m.failf("a grant of epoch %d was taken after one of epoch %d", p.Epoch, m.newest)
	}
	m.newest = p.Epoch
}

func (m *model) count(c *call, by int) {
	vendor := c.permit.Vendor
	m.calls[vendor] += by
	if most := m.most(vendor); by > 0 && m.calls[vendor] > most {
		m.failf("vendor %s sees %d calls, at most %d are allowed", vendor, m.calls[vendor], most)
	}
	if c.ask.Lane.Interactive() {
		m.sessions[c.ask.Session] += by
		if m.sessions[c.ask.Session] > 1 && !m.silent {
			m.failf("session %s has two turns", c.ask.Session)
		}
	}
}

func (m *model) endAtVendor(c *call) {
	if !c.ended {
		c.ended = true
		m.count(c, -1)
	}
}

func (m *model) apply(f fault) {
	p := m.all[f.Who%len(m.all)]
	if p.dead {
		return
	}
	long := time.Duration(f.Long) * time.Millisecond
	// A process that is paused and whose connection breaks as well cannot be told from a
	// dead one: no protocol that gives a dead one's permits back survives both at once.
	if f.Do == "break" && m.now < p.paused || f.Do == "pause" && p.cut && p.refused {
		return
	}
	switch f.Do {
	case "kill":
		p.kill()
		m.start(fmt.Sprintf("n%d", len(m.all)), true)
	case "pause":
		m.silent = true
		p.paused = max(p.paused, m.now+long)
	case "cut", "break":
		m.silent = true
		p.cut, p.refused = true, f.Do == "break"
		m.after(long, func() { p.cut = false })
	case "noise":
		m.silent = true
		m.calm = false
		m.after(long, func() { m.calm = true })
	case "limits":
		m.change(1+f.Long/100%8, 1+f.Who%2)
	case "ill":
		vendor := []string{"a", "b"}[f.Who%2]
		m.ill[vendor] = max(m.ill[vendor], m.now+long)
	}
}

func (m *model) load(i int) {
	live := m.all[m.rand.IntN(len(m.all))]
	lane := []chat.Lane{chat.High, chat.Normal, chat.Low, chat.Batch}[m.rand.IntN(4)]
	live.act(func() { live.want(m.rand.IntN(12), lane, time.Duration(1+m.rand.IntN(30))*time.Second) })
	if i > 0 {
		m.after(time.Duration(m.rand.IntN(160))*time.Millisecond, func() { m.load(i - 1) })
	}
}

// settle lets the cluster heal and checks that nothing is left: nobody waits who could
// be served, and no permit is lost.
func (m *model) settle() {
	m.run(m.now + 2*modelHard + 2*hardMargin + 30*time.Second)
	m.well = true
	leaders := 0
	for _, p := range m.all {
		if p.dead {
			continue
		}
		if len(p.waits) > 0 {
			m.failf("%d asks of %s are stranded", len(p.waits), p.name)
		}
		if len(p.holder.holds) > 0 || len(p.holder.turns) > 0 {
			m.failf("%s still holds %d permits and %d turns", p.name, len(p.holder.holds), len(p.holder.turns))
		}
		if p.server == nil || !p.server.granting(p.clock()) {
			continue
		}
		leaders++
		for vendor := range m.limits {
			if used, _ := p.server.table.InUse(vendor, p.clock()); used != 0 {
				m.failf("%d permits of %s are lost", used, vendor)
			}
		}
	}
	if leaders != 1 {
		m.failf("%d controllers grant", leaders)
	}
	// A ticket of each session and an idle cluster: each is served at once.
	before := m.overdue
	for i := range 12 {
		for _, p := range m.all {
			p.act(func() { p.want(i, chat.Normal, 60*time.Second) })
		}
	}
	m.run(m.now + 150*time.Second)
	if m.overdue > before {
		m.failf("%d asks were not served by an idle cluster", m.overdue-before)
	}
}

func drawFaults(t *rapid.T) []fault {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) fault {
		return fault{
			At:   rapid.IntRange(2_000, 50_000).Draw(t, "at"),
			Do:   rapid.SampledFrom([]string{"kill", "pause", "pause", "cut", "break", "noise", "limits", "limits", "ill", "ill"}).Draw(t, "do"),
			Who:  rapid.IntRange(0, 5).Draw(t, "who"),
			Long: rapid.SampledFrom([]int{300, 1200, 3000, 6000, 8000, 12_000, 20_000, 30_000}).Draw(t, "long"),
		}
	}), 0, 8).Draw(t, "faults")
}

// TestTheProtocolKeepsTheQuota plays random histories of a cluster: messages are late,
// lost and doubled, processes are killed, paused and cut off, and no two clocks agree.
// Limits rise and fall, vendors fail so that breakers open and calls are tried again,
// customers leave, permits go back twice. Whatever happens, no vendor sees more calls
// than its quota, nor more than its limit while nobody was silent; one epoch grants at a
// time; at the end everybody is served, in the order of the lanes.
func TestTheProtocolKeepsTheQuota(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{
			engine: newEngine(rapid.Uint64().Draw(rt, "seed")),
			limits: map[string]int{"a": 8, "b": 2}, quotas: map[string]int{"a": 9, "b": 2},
			ill: map[string]time.Duration{}, byName: map[string]*process{}, calls: map[string]int{}, sessions: map[string]int{},
		}
		m.calm = true
		for i := range rapid.IntRange(2, 4).Draw(rt, "processes") {
			m.start(fmt.Sprintf("n%d", i), i < 2)
		}
		for _, f := range drawFaults(rt) {
			m.after(time.Duration(f.At)*time.Millisecond, func() { m.apply(f) })
		}
		m.after(time.Second, func() { m.load(rapid.IntRange(100, 600).Draw(rt, "load")) })
		m.run(90 * time.Second)
		m.settle()
		m.line()
		if m.fault != "" {
			rt.Fatal(m.fault)
		}
	})
}
