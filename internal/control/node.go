package control

import (
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
	slow        bool      // since it was heard, a probe ended without any answer
	charged     bool      // silent when this controller gave up waiting for it

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
	n.absentSince, n.slow, n.charged = time.Time{}, false, false
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
		if s.table.Join(w.ask) != nil {
			delete(s.asks, w.ask.ID)
			delete(n.waits, id)
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
	s.table.Adopt(gate.Permit{ID: h.ID, Vendor: h.Vendor, Ticket: h.Ticket, GrantedAt: now.Add(-h.Age)})
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
