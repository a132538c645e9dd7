package control

import (
	"fmt"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

const (
	modelHard = 20 * time.Second
	gatherFor = 2 * time.Millisecond // until a process gets round to telling
)

// process is one process of the model: a member, perhaps a candidate, and a clock.
type process struct {
	m      *model
	name   string
	skew   float64
	offset time.Duration

	dead    bool
	paused  time.Duration // true time at which it goes on
	cut     bool          // from everything
	refused bool          // its connection is seen to be broken
	holder  *holder
	server  *server
	lease   uint64
	asking  bool // for the lease
	writing bool
	calls   map[*call]bool
	waits   map[*asking]bool
	limits  map[string]int // as this process has them
	told    hello
	toldAt  time.Time
}

// call is one call in flight, as the vendor sees it.
type call struct {
	p      *process
	permit gate.Permit
	ask    gate.Ask
	over   bool // for the process
	ended  bool // for the vendor
}

func (m *model) start(name string, candidate bool) *process {
	p := &process{
		m: m, name: name, skew: 1 + (m.rand.Float64()-0.5)/100, offset: time.Duration(m.rand.Int64N(int64(time.Hour))),
		calls: map[*call]bool{}, waits: map[*asking]bool{}, limits: m.limits,
	}
	p.holder = newHolder(name, p.clock())
	m.all = append(m.all, p)
	m.byName[name] = p
	p.register()
	p.every(lookEvery, p.look)
	if candidate {
		p.every(electEvery, p.stand)
		p.every(leaseEvery, p.renew)
		p.every(tickEvery, p.tick)
		p.every(helloEvery, p.hello)
	}
	return p
}

// clock is the process's own time.
func (p *process) clock() time.Time {
	return time.Unix(0, 0).Add(p.offset + time.Duration(float64(p.m.now)*p.skew))
}

// act lets the process do something as soon as it runs.
func (p *process) act(do func()) {
	switch {
	case p.dead:
	case p.m.now < p.paused:
		// What piled up during a pause comes in any order.
		p.m.after(p.paused-p.m.now+time.Duration(p.m.rand.IntN(3))*time.Millisecond, func() { p.act(do) })
	default:
		do()
	}
}

func (p *process) every(d time.Duration, do func()) {
	p.m.after(time.Duration(float64(d)/p.skew), func() {
		p.act(func() {
			do()
			p.every(d, do)
		})
	})
}

// ask asks the engine something: the request and the answer travel, either may be lost.
func (p *process) ask(request func(), answer func()) {
	if p.cut {
		return
	}
	p.m.carry(func() {
		request()
		p.m.carry(func() {
			if !p.cut {
				p.act(answer)
			}
		})
	})
}

func (p *process) register() {
	at := p.clock()
	p.ask(func() { p.m.nodes[p.name] = p.m.now + modelHard + registerSpare },
		func() {
			if until := at.Add(registerLimit); until.After(p.holder.validUntil) {
				p.holder.validUntil = until
			}
		})
	p.m.after(registerEvery/2, func() { p.act(p.register) })
}

// look is a member's regular work.
func (p *process) look() {
	p.holder.expire(p.clock())
	for c := range p.calls {
		select {
		case <-c.permit.Lost:
			p.endCall(c, true)
		default:
		}
	}
	p.report()
}

func (p *process) report() {
	for _, r := range p.holder.next(p.clock()) {
		if p.server != nil && p.server.near(p.clock()) {
			p.server.handle(r, p.clock())
			p.deliver()
			continue
		}
		body, _ := encodeReport(r)
		for _, to := range p.m.all {
			if to.server != nil && !p.cut {
				p.m.carry(func() { to.hear(body) })
			}
		}
	}
}

func (p *process) hear(body []byte) {
	if p.cut {
		return
	}
	p.act(func() {
		if p.server != nil {
			r, _ := decodeReport(body)
			p.server.handle(r, p.clock())
			p.deliver()
		}
	})
}

func (p *process) deliver() {
	for name, mail := range p.server.post() {
		to := p.m.byName[name]
		if to == p && p.server.near(p.clock()) {
			to.receive(*mail)
			continue
		}
		if !p.cut {
			p.m.carry(func() {
				if !to.cut {
					to.act(func() { to.receive(*mail) })
				}
			})
		}
	}
}

func (p *process) receive(m mail) {
	p.holder.expire(p.clock())
	p.holder.receive(m, p.clock())
	for w := range p.waits {
		select {
		case got := <-w.granted:
			delete(p.waits, w)
			p.holder.release(w.ask.Instead)
			if got.refusal != nil {
				p.holder.endTurn(w.ask.Tenant, w.ask.Session, w.ask.Ticket)
				break
			}
			p.m.accepted(got.Permit)
			p.begin(w.ask, got.Permit)
		default:
		}
	}
	if p.holder.news() || p.holder.fullAt.IsZero() {
		p.m.after(gatherFor, func() { p.act(p.report) })
	}
}

// stand, renew, tick and hello are a candidate's regular work.
func (p *process) stand() {
	if p.lease != 0 || p.asking {
		return
	}
	p.asking = true
	p.m.after(askLimit, func() { p.asking = false })
	sentAt, epoch := p.clock(), uint64(0)
	p.ask(func() { epoch = p.m.takeLease(p.name) }, func() {
		if epoch == 0 || p.lease != 0 {
			return
		}
		s := newServer(p.config(), epoch, sentAt, p.clock())
		s.table.Restore(p.told.States, p.toldAt)
		var nodes []string
		var charge map[string]int
		p.ask(func() { nodes, charge = p.m.registered(), p.m.charged() }, func() {
			if p.lease == 0 {
				s.expect(nodes, charge)
				s.setLimits(p.gate(), p.m.quotas, p.clock()) // they may have changed meanwhile
				p.server, p.lease = s, epoch
			}
		})
	})
}

func (p *process) renew() {
	if p.lease == 0 {
		return
	}
	sentAt, epoch, good := p.clock(), p.lease, false
	p.ask(func() { good = p.m.renewLease(epoch) }, func() {
		switch {
		case p.lease != epoch:
		case good:
			p.server.renewed(sentAt)
		default:
			p.lease = 0
		}
	})
}

func (p *process) tick() {
	if p.lease == 0 {
		return
	}
	s := p.server
	for _, name := range s.tick(p.clock()) {
		p.probe(s, p.m.byName[name])
	}
	if due := s.chargeDue(p.clock()); due != nil && !p.writing {
		p.writing = true
		p.m.after(askLimit, func() { p.writing = false })
		p.ask(func() { p.m.charge, p.m.chargeEnds = due, p.m.now+modelHard+2*hardMargin },
			func() {
				s.charged(due, p.clock())
				if p.server == s {
					p.deliver()
				}
			})
	}
	p.deliver()
}

func (p *process) probe(s *server, to *process) {
	if p.cut {
		return
	}
	if to.dead || (to.cut && to.refused) {
		p.m.after(p.m.delay()/10, func() { p.act(func() { s.probed(to.name, true, false, p.clock()) }) })
		return
	}
	answered := false
	p.m.carry(func() {
		if !to.cut {
			to.act(func() { p.m.carry(func() { answered = true }) })
		}
	})
	p.m.after(probeLimit, func() {
		p.act(func() { s.probed(to.name, false, answered && !p.cut, p.clock()) })
	})
}

func (p *process) hello() {
	if p.lease == 0 || p.cut || !p.clock().Before(p.server.until) {
		return
	}
	h := p.server.hello(p.clock())
	for _, to := range p.m.all {
		p.m.carry(func() {
			if !to.cut {
				to.act(func() {
					to.holder.meet(h.Epoch, h.Node, to.clock())
					if h.Epoch == to.holder.epoch {
						to.told, to.toldAt = h, to.clock()
					}
				})
			}
		})
	}
}

// want lets a ticket ask for a permit, and leave at its limit.
func (p *process) want(session int, lane chat.Lane, limit time.Duration) {
	p.m.tickets++
	p.wait(gate.Ask{
		Tenant: "t", Session: fmt.Sprint(session), Ticket: fmt.Sprint(p.m.tickets), Lane: lane,
		Seq: uint64(p.m.tickets), AcceptedAt: p.clock(), Vendors: p.m.wanted(),
	}, limit, func() { p.m.overdue++ })
}

// wait lets somebody ask who leaves at a limit.
func (p *process) wait(a gate.Ask, limit time.Duration, left func()) {
	w := p.holder.ask(a)
	p.waits[w] = true
	p.m.after(gatherFor, func() { p.act(p.report) })
	p.m.after(limit, func() {
		p.act(func() {
			if p.waits[w] {
				delete(p.waits, w)
				p.holder.leave(w)
				left()
				p.report()
			}
		})
	})
}

// begin starts a call. The vendor counts it to its natural end, whatever becomes of
// the process, unless that cuts it.
func (p *process) begin(a gate.Ask, permit gate.Permit) {
	c := &call{p: p, permit: permit, ask: a}
	p.calls[c] = true
	p.m.begun(c)
	length := p.m.length()
	p.m.after(length, func() {
		p.m.endAtVendor(c)
		p.act(func() { p.endCall(c, false) })
	})
	if !p.m.well && p.m.rand.IntN(8) == 0 { // its customer leaves
		p.m.after(time.Duration(p.m.rand.Int64N(int64(length))), func() { p.act(func() { p.endCall(c, true) }) })
	}
}

// endCall ends a call for its process. One that is cut may count at the vendor for a
// moment more, and its permit stays as long.
func (p *process) endCall(c *call, cut bool) {
	if c.over {
		return
	}
	c.over = true
	delete(p.calls, c)
	if cut {
		p.m.after(time.Duration(p.m.rand.IntN(250))*time.Millisecond, func() { p.m.endAtVendor(c) })
		p.m.after(staysFor, func() { p.act(func() { p.giveBack(c) }) })
		return
	}
	end := p.m.ending(c.permit.Vendor)
	p.holder.end(c.permit.ID, end)
	if end.Outcome == gate.Failed && !c.ask.Retry && p.m.rand.IntN(2) == 0 {
		p.again(c)
		return
	}
	p.giveBack(c)
}

// giveBack ends a ticket whose call has ended; now and then it says so twice.
func (p *process) giveBack(c *call) {
	for range 1 + p.m.rand.IntN(2) {
		p.holder.release(c.permit.ID)
		p.holder.endTurn(c.ask.Tenant, c.ask.Session, c.ask.Ticket)
	}
	p.report()
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	p.dead = true
	for c := range p.calls {
		p.m.after(time.Duration(p.m.rand.IntN(250))*time.Millisecond, func() { p.m.endAtVendor(c) })
	}
}
