package control

import (
	"fmt"
	"time"

	"sluice/internal/gate"
)

// node is what a server knows of one process.
type node struct {
	name       string
	registered bool // when this controller was elected: it may hold permits of a former one
	known      bool // it has told this controller everything

	n         uint64 // of the newest report
	stamp     time.Duration
	heardAt   time.Time
	suspended bool // its waiters stand outside the table

	probedAt    time.Time
	absentSince time.Time // nobody has listened since; zero: somebody did, or nobody asked
	slowSince   time.Time // of the first probe since it was heard that ended without any answer
	slowUntil   time.Time // of the latest
	charged     bool      // silent when this controller gave up waiting for it
	past        bool      // no process, but what one held when it fell silent: see estrange

	waits    map[uint64]*wait // by the node's id
	permits  map[uint64]*held
	inFlight map[uint64]uint64 // ask → its permit, until it is released
	turns    map[uint64]turn
}

// wait is one waiter of a node.
type wait struct {
	id  uint64   // the node's
	ask gate.Ask // with the table's id
}

func (s *server) node(name string) *node {
	n := s.nodes[name]
	if n == nil {
		n = &node{
			name: name, waits: map[uint64]*wait{}, permits: map[uint64]*held{},
			inFlight: map[uint64]uint64{}, turns: map[uint64]turn{},
		}
		s.nodes[name] = n
	}
	return n
}

func (n *node) heard(r report, now time.Time) {
	n.n, n.stamp, n.heardAt = r.N, r.Stamp, now
	n.absentSince, n.slowSince, n.slowUntil, n.charged = time.Time{}, time.Time{}, time.Time{}, false
}

// estrange takes from a node that was silent for too long what it held. It has ended
// those calls, but their vendors may not know yet: after a silent network they learn it
// from what is sent again, at intervals that double (RFC 6298, 5.5). So its permits count
// as those of a silent node for as long again as it was silent.
func (s *server) estrange(n *node, now time.Time) {
	silence := s.silence(n, now)
	if silence < lostAfter || s.cfg.Alone { // alone, no network is between them
		return
	}
	if !n.known {
		if n.registered {
			s.owed = now.Add(silence + lapseGrace)
		}
		return
	}
	if len(n.permits) == 0 {
		return
	}
	past := &node{
		name: fmt.Sprintf("%s %d", n.name, n.n), known: true, past: true, heardAt: n.heardAt, suspended: true,
		waits: map[uint64]*wait{}, permits: n.permits, inFlight: map[uint64]uint64{}, turns: map[uint64]turn{},
	}
	for _, h := range past.permits {
		h.node, h.ask = past, 0
		if ends := now.Add(silence); ends.Before(h.ends) {
			h.ends = ends
		}
	}
	n.permits, n.inFlight = map[uint64]*held{}, map[uint64]uint64{}
	s.nodes[past.name] = past
}

// suspend takes a node's waiters out of the table: a grant would not reach them.
func (s *server) suspend(n *node) {
	n.suspended = true
	for _, w := range n.waits {
		s.table.Leave(w.ask.ID)
	}
}

func (s *server) resume(n *node) {
	n.suspended = false
	for id, w := range n.waits {
		if err := s.table.Join(w.ask, s.now); err != nil {
			delete(s.asks, w.ask.ID)
			delete(n.waits, id)
			s.refuse(n, id, err)
		}
	}
}

// drop forgets a node that is dead or gone, and takes back everything it had.
func (s *server) drop(n *node) {
	for id := range n.waits {
		s.leave(n, id)
	}
	for id := range n.permits {
		s.release(id)
	}
	s.endTurns(n)
	delete(s.nodes, n.name)
	delete(s.mails, n.name)
}

func (s *server) endTurns(n *node) {
	for id := range n.turns {
		s.endTurn(n, id)
	}
}

// reconcile makes the server's view of a node what the node has just told in full.
func (s *server) reconcile(n *node, r report, now time.Time) {
	waits := make(map[uint64]bool, len(r.Waits))
	for _, id := range r.Waits {
		waits[id] = true
	}
	for id := range n.waits {
		if !waits[id] {
			s.leave(n, id)
		}
	}
	holds := make(map[uint64]bool, len(r.Holds))
	for _, h := range r.Holds {
		holds[h.ID] = true
		s.adopt(n, h, now)
	}
	turns := make(map[uint64]bool, len(r.Turns))
	for _, t := range r.Turns {
		turns[t.ID] = true
		if _, has := n.turns[t.ID]; !has && s.table.AdoptTurn(t.Tenant, t.Session, t.Ticket) {
			n.turns[t.ID] = t
		}
	}
	for id, h := range n.permits {
		switch {
		case holds[id]:
		case id > r.Seen && waits[h.ask]:
			s.send(n, h) // lost on its way, or still on it
		default:
			// Given back, or refused; or its ask is over and the node will refuse it.
			s.release(id)
		}
	}
	for id := range n.turns {
		if h := n.permits[id]; !turns[id] && (h == nil || holds[id]) {
			s.endTurn(n, id)
		}
	}
	n.known = true
}

// adopt enters a permit that the node holds and the server does not know.
func (s *server) adopt(n *node, h hold, now time.Time) {
	if _, known := s.permits[h.ID]; known {
		return
	}
	p := &held{node: n, vendor: h.Vendor, ends: now.Add(s.cfg.Hard - h.Age)}
	s.permits[h.ID], n.permits[h.ID] = p, p
	s.table.Adopt(gate.Permit{
		ID: h.ID, Vendor: h.Vendor, Tenant: h.Tenant, Ticket: h.Ticket, Lane: h.Lane, Model: h.Model, Pool: h.Pool, Retry: h.Retry,
		GrantedAt: now.Add(-h.Age),
	})
	if !n.known && h.ID>>32 < s.epoch {
		s.adopted[h.Vendor]++
	}
}

// missing returns the asks that the node has listed and never told, as far as there is
// room for them.
func (s *server) missing(n *node, r report) []uint64 {
	var all []uint64
	for _, id := range r.Waits {
		_, waits := n.waits[id]
		if !waits && n.inFlight[id] == 0 && len(all) < asksPage && s.table.Waiting() < gate.MaxWaiters {
			all = append(all, id)
		}
	}
	return all
}
