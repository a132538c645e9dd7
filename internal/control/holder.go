package control

import (
	"time"

	"sluice/internal/gate"
)

// Times of a node's side of the protocol. They fit together: a holder that the
// controller cannot hear ends its calls after lostAfter, and half a second later no
// vendor counts them any more; the controller gives the permits of a dead node to
// others only after deadAfter.
const (
	askEvery   = 500 * time.Millisecond // everything is told again while somebody waits
	renewEvery = time.Second            // and while nobody does
	lostAfter  = 4 * time.Second
	grantAge   = time.Second // an older grant is thrown away
	asksPage   = 500         // asks in one report: below 512 KiB
)

// holder is a node's side of the protocol: what it waits for and what it holds. It does
// no I/O, starts nothing, and is not safe for concurrent use; time comes in by now.
type holder struct {
	node   string
	origin time.Time // of the node's stamps

	epoch      uint64
	controller string // node of the controller
	heardAt    time.Time
	heardSince time.Time // without a gap of stateAge
	validUntil time.Time // of the registration: no grant is taken after it

	n       uint64
	seen    uint64
	fullAt  time.Time       // when everything was told last
	ackedAt time.Time       // when the newest acknowledged report was sent
	sent    map[uint64]sent // reports without an acknowledgement

	lastAsk  uint64
	asks     map[uint64]*asking
	holds    map[uint64]*holding
	turns    map[turn]uint64 // by the turn without its id
	fresh    []uint64        // asks that no report has told yet
	left     []uint64
	outcomes []outcome
	released []uint64
	ended    []uint64
}

// sent is a report on its way.
type sent struct {
	at   time.Time
	asks []uint64 // told in it
}

// asking is one waiter.
type asking struct {
	ask     gate.Ask
	known   bool // a report that told it was taken in
	granted chan answer
}

// answer is what comes of an ask.
type answer struct {
	gate.Permit
	refusal *gate.Refusal // instead of a permit
}

// holding is one permit in use.
type holding struct {
	hold
	at   time.Time
	lost chan struct{} // closed when the permit is lost
	gone bool
}

func newHolder(node string, now time.Time) *holder {
	return &holder{
		node: node, origin: now, sent: map[uint64]sent{},
		asks: map[uint64]*asking{}, holds: map[uint64]*holding{}, turns: map[turn]uint64{},
	}
}

// ask makes a wait. Its permit comes over the channel, once.
func (h *holder) ask(a gate.Ask) *asking {
	h.lastAsk++
	a.ID = h.lastAsk
	w := &asking{ask: a, granted: make(chan answer, 1)}
	h.asks[a.ID] = w
	h.fresh = append(h.fresh, a.ID)
	return w
}

// leave ends a wait. A permit that came meanwhile goes back unused.
func (h *holder) leave(w *asking) {
	if _, waits := h.asks[w.ask.ID]; waits {
		delete(h.asks, w.ask.ID)
		h.left = append(h.left, w.ask.ID)
	}
	select {
	case p := <-w.granted:
		if p.refusal != nil {
			return
		}
		h.release(p.ID)
		if !w.ask.Step {
			h.endTurn(w.ask.Tenant, w.ask.Session, w.ask.Ticket)
		}
	default:
	}
}

// release gives a permit back; it is no error if it is back.
func (h *holder) release(id uint64) {
	if _, held := h.holds[id]; held {
		delete(h.holds, id)
		h.released = append(h.released, id)
	}
}

// end notes how the call of a permit ended, unless the permit is lost or back.
func (h *holder) end(id uint64, e gate.End) (held bool) {
	p := h.holds[id]
	if p == nil || p.gone {
		return false
	}
	if e != (gate.End{}) {
		h.outcomes = append(h.outcomes, outcome{ID: id, End: e})
	}
	return true
}

// endTurn ends the turn of a ticket; it is no error if there is none.
func (h *holder) endTurn(tenant, session, ticket string) {
	key := turn{Tenant: tenant, Session: session, Ticket: ticket}
	if id, has := h.turns[key]; has {
		delete(h.turns, key)
		h.ended = append(h.ended, id)
	}
}

// meet takes in that a controller lives. A new one is told everything.
func (h *holder) meet(epoch uint64, node string, now time.Time) {
	if epoch < h.epoch {
		return
	}
	if now.Sub(h.heardAt) >= stateAge {
		h.heardSince = now
	}
	h.heardAt, h.controller = now, node
	if epoch > h.epoch {
		h.epoch, h.seen = epoch, 0
		h.forgetTold()
	}
}

// forgetTold makes the next report tell everything in full.
func (h *holder) forgetTold() {
	h.fullAt = time.Time{}
	clear(h.sent)
	h.fresh, h.left, h.released, h.ended = nil, nil, nil, nil // an outcome may still be news to it
	for id, w := range h.asks {
		w.known = false
		h.fresh = append(h.fresh, id)
	}
}

// receive takes in a controller's message. That of a former controller tells nothing.
func (h *holder) receive(m mail, now time.Time) {
	h.meet(m.Epoch, m.Node, now)
	if m.Epoch != h.epoch {
		return
	}
	if m.Want && !h.fullAt.IsZero() {
		h.forgetTold()
	}
	h.acked(m.Ack)
	for _, id := range m.Missing {
		if w := h.asks[id]; w != nil && w.known {
			w.known = false
			h.fresh = append(h.fresh, id)
		}
	}
	for _, g := range m.Grants {
		h.grant(g, now)
	}
	for _, r := range m.Refused {
		if w := h.asks[r.Ask]; w != nil {
			delete(h.asks, r.Ask)
			refusal := r.Refusal
			w.granted <- answer{refusal: &refusal}
		}
	}
}

func (h *holder) acked(n uint64) {
	s, waits := h.sent[n]
	if !waits {
		return
	}
	delete(h.sent, n)
	if s.at.After(h.ackedAt) {
		h.ackedAt = s.at
	}
	for _, id := range s.asks {
		if w := h.asks[id]; w != nil {
			w.known = true
		}
	}
}

// grant takes a permit, or refuses one that nobody waits for or that comes too late:
// the controller may have given it to another since. A permit out of its order was
// reported as not there already, and is gone.
func (h *holder) grant(g grant, now time.Time) {
	if g.ID <= h.seen {
		return
	}
	h.seen = g.ID
	stamp := h.origin.Add(g.Stamp)
	w := h.asks[g.Ask]
	if w == nil || now.Sub(stamp) > grantAge || !now.Before(h.validUntil) {
		h.refuse(g, w)
		return
	}
	if stamp.After(h.ackedAt) {
		h.ackedAt = stamp
	}
	delete(h.asks, g.Ask)
	held := &holding{
		hold: hold{
			ID: g.ID, Vendor: g.Vendor, Tenant: w.ask.Tenant, Ticket: w.ask.Ticket, Lane: w.ask.Lane, Model: w.ask.Model,
			Pool: g.Pool, Retry: w.ask.Retry,
		}, at: now, lost: make(chan struct{}),
	}
	h.holds[g.ID] = held
	if g.Turn {
		h.turns[turn{Tenant: w.ask.Tenant, Session: w.ask.Session, Ticket: w.ask.Ticket}] = g.ID
	}
	w.granted <- answer{Permit: gate.Permit{
		ID: g.ID, Epoch: h.epoch, Vendor: g.Vendor, Tenant: w.ask.Tenant, Ticket: w.ask.Ticket, Lane: w.ask.Lane, Model: w.ask.Model,
		Pool: g.Pool, Retry: w.ask.Retry, GrantedAt: now, Lost: held.lost,
	}}
}

func (h *holder) refuse(g grant, w *asking) {
	h.released = append(h.released, g.ID)
	if g.Turn {
		h.ended = append(h.ended, g.ID)
	}
	if w != nil {
		w.known = false
		h.fresh = append(h.fresh, w.ask.ID)
	}
}
