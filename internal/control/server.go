package control

import (
	"errors"
	"maps"
	"slices"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/valve"
)

// Times of the controller's side of the protocol.
const (
	// leaseMargin is how much before the lease's end no permit is granted any more.
	leaseMargin  = 500 * time.Millisecond
	lapseGrace   = 8 * time.Second         // renewals are acknowledged after a lapse
	suspendAfter = time.Second             // nothing is granted to a node not heard for so long
	probeAfter   = 1250 * time.Millisecond // and it is asked whether it is there
	probeEvery   = 500 * time.Millisecond
	// deadAfter is when a node where nobody listens gives its permits back: later than
	// lostAfter and the half second in which a vendor may still count a cut call.
	deadAfter   = 4800 * time.Millisecond
	silentAfter = 5 * time.Second  // a node that only does not answer is counted as silent
	chargeAfter = 15 * time.Second // a new controller waits so long for a silent node
	hardMargin  = 15 * time.Second // how long after the longest call no old permit is in use
)

// server is the controller's side of the protocol for one epoch. It does no I/O, starts
// nothing, and is not safe for concurrent use; time comes in by now.
type server struct {
	cfg     Config
	epoch   uint64
	table   *gate.Table
	elected time.Time
	until   time.Time // grants end then
	learned bool      // every node's holdings are known or charged
	closed  bool      // by a planned stop, or because a later epoch was seen

	nodes   map[string]*node
	asks    map[uint64]waiter // by the table's id
	permits map[uint64]*held
	lastAsk uint64
	now     time.Time        // of what is being taken in
	mails   map[string]*mail // to be sent

	found   map[string]int // charge of former controllers, by vendor
	owed    time.Time      // the charge stands until then, although all nodes were heard
	adopted map[string]int // permits of former controllers that nodes reported
	written map[string]int // charge in the bucket
	wroteAt time.Time

	valve   *valve.Valve
	waitsAt time.Time // when its waits were looked at last
	news    bool      // a level has changed, and nobody was told yet

	dismissed time.Time // when was looked last for those who wait in vain
}

// waiter is an ask as the server holds it.
type waiter struct {
	node *node
	id   uint64 // of the node's
}

// held is a permit in use.
type held struct {
	node   *node
	ask    uint64 // of the node's; 0: adopted
	sent   grant
	vendor string
	ends   time.Time // the latest at which its call ends
}

// newServer returns the controller of an epoch that knows nothing of what the nodes
// hold. sentAt is when its lease was asked for.
func newServer(cfg Config, epoch uint64, sentAt, now time.Time) *server {
	s := &server{
		cfg: cfg, epoch: epoch, table: gate.NewTable(cfg.Gate), elected: now,
		valve: valve.New(cfg.Valve),
		nodes: map[string]*node{}, asks: map[uint64]waiter{}, permits: map[uint64]*held{}, mails: map[string]*mail{},
		found: map[string]int{}, adopted: map[string]int{}, written: map[string]int{},
	}
	// Permits are numbered from the epoch, so that no two epochs have one in common.
	s.table.StartAfter(epoch << 32)
	s.renewed(sentAt)
	return s
}

// expect names the nodes that may hold permits of former controllers, and the charge
// that those left. Nothing is granted before it is called.
func (s *server) expect(nodes []string, charge map[string]int) {
	for _, name := range nodes {
		s.node(name).registered = true
	}
	s.found, s.written = maps.Clone(charge), maps.Clone(charge)
}

// keep makes the lease stand for good.
func (s *server) keep(now time.Time) { s.until = now.Add(100 * 365 * 24 * time.Hour) }

// renewed takes in that the lease was renewed by a request sent at sentAt.
func (s *server) renewed(sentAt time.Time) { s.until = sentAt.Add(queue.LeaseTTL - leaseMargin) }

func (s *server) granting(now time.Time) bool {
	return s.learned && !s.closed && now.Before(s.until)
}

// serving reports whether reports are taken in: while granting, and for lapseGrace
// after a lapse, so that a lost broker cuts no call.
func (s *server) serving(now time.Time) bool {
	return !s.closed && now.Before(s.until.Add(lapseGrace))
}

// near reports whether a node in the same process may be served without a detour. After
// a lapse it may not: perhaps this process is cut off from everything, and then its
// calls must end, which only a way through the engine tells.
func (s *server) near(now time.Time) bool { return !s.closed && now.Before(s.until) }

// handle takes in a report.
func (s *server) handle(r report, now time.Time) {
	s.now = now
	if r.Epoch > s.epoch {
		s.closed = true
	}
	if !s.serving(now) {
		return
	}
	n := s.node(r.Node)
	if r.Epoch < s.epoch || (!n.known && !r.Full) {
		m := s.mail(n)
		m.Want = m.Want || r.Epoch == s.epoch
		return
	}
	if r.N > n.n {
		s.estrange(n, now)
	}
	s.take(n, r)
	if r.N <= n.n {
		return // what it lists may be over
	}
	n.heard(r, now)
	if n.suspended {
		s.resume(n)
	}
	if r.Bye {
		s.drop(n)
		s.grant(now)
		return
	}
	s.mail(n).Ack = r.N
	if r.Full {
		s.reconcile(n, r, now)
	}
	for _, a := range r.Asks {
		s.join(n, a)
	}
	if r.Full {
		s.mail(n).Missing = s.missing(n, r)
	}
	s.stretch(now) // who was silent may be heard again
	s.level(now)
	s.grant(now)
}

// take takes in what is true for ever, however late it comes.
func (s *server) take(n *node, r report) {
	for _, id := range r.Left {
		s.leave(n, id)
	}
	for _, o := range r.Outcomes {
		if s.permits[o.ID] != nil {
			s.ended(o)
		}
	}
	for _, id := range r.Released {
		if h := s.permits[id]; h != nil && h.node == n {
			s.release(id)
		}
	}
	for _, id := range r.Ended {
		s.endTurn(n, id)
	}
}

func (s *server) join(n *node, a gate.Ask) {
	if _, waits := n.waits[a.ID]; waits || n.inFlight[a.ID] != 0 {
		return
	}
	w := &wait{id: a.ID, ask: a}
	s.lastAsk++
	w.ask.ID = s.lastAsk
	if a.Retry {
		s.retry(n, w)
		return
	}
	if err := s.table.Join(w.ask, s.now); err != nil {
		s.refuse(n, a.ID, err)
		return
	}
	n.waits[a.ID] = w
	s.asks[w.ask.ID] = waiter{node: n, id: a.ID}
}

func (s *server) leave(n *node, id uint64) {
	if w, waits := n.waits[id]; waits {
		s.table.Leave(w.ask.ID)
		delete(s.asks, w.ask.ID)
		delete(n.waits, id)
	}
}

func (s *server) release(id uint64) {
	h, found := s.permits[id]
	if !found {
		return
	}
	s.table.Release(id, s.now)
	delete(s.permits, id)
	delete(h.node.permits, id)
	if h.ask != 0 {
		delete(h.node.inFlight, h.ask)
	}
}

func (s *server) endTurn(n *node, id uint64) {
	if t, has := n.turns[id]; has {
		s.table.EndTurn(t.Tenant, t.Session, t.Ticket)
		delete(n.turns, id)
	}
}

// grant gives out what can be given at now.
func (s *server) grant(now time.Time) {
	if !s.granting(now) {
		return
	}
	for _, g := range s.table.Grants(now) {
		w := s.asks[g.Ask.ID]
		delete(s.asks, g.Ask.ID)
		delete(w.node.waits, w.id)
		s.give(w.node, w.id, g, now)
	}
}

// setLimits puts new limits and quotas in force.
func (s *server) setLimits(g gate.Config, quotas map[string]int, now time.Time) {
	s.cfg.Gate, s.cfg.Quotas, s.now = g, quotas, now
	s.table.SetConfig(g)
	s.grant(now)
}

// give enters a permit that the table granted, and sends it.
func (s *server) give(n *node, ask uint64, g gate.Grant, now time.Time) {
	p := g.Permit
	h := &held{
		node: n, ask: ask, vendor: p.Vendor, ends: now.Add(s.cfg.Hard),
		sent: grant{ID: p.ID, Ask: ask, Vendor: p.Vendor, Pool: p.Pool, Turn: g.Turn},
	}
	s.permits[p.ID], n.permits[p.ID], n.inFlight[ask] = h, h, p.ID
	if g.Turn {
		n.turns[p.ID] = turn{ID: p.ID, Tenant: g.Ask.Tenant, Session: g.Ask.Session, Ticket: g.Ask.Ticket}
	}
	s.send(n, h)
}

// retry grants a retry now or refuses it.
func (s *server) retry(n *node, w *wait) {
	if !s.granting(s.now) {
		s.refuse(n, w.id, &gate.Refusal{Reason: gate.ReasonBudget})
		return
	}
	g, err := s.table.Retry(w.ask, s.now)
	if err != nil {
		s.refuse(n, w.id, err)
		return
	}
	if failed := s.permits[w.ask.Instead]; failed != nil && g.Permit.Vendor == failed.vendor {
		s.release(w.ask.Instead)
	}
	s.give(n, w.id, g, s.now)
}

// refuse tells a node that one of its asks waits no more. Of anything but a refusal (the
// table is crowded) it is told nothing: it asks again, and waits for its own deadline.
func (s *server) refuse(n *node, ask uint64, err error) {
	var refusal *gate.Refusal
	if errors.As(err, &refusal) {
		m := s.mail(n)
		m.Refused = append(m.Refused, refused{Ask: ask, Refusal: *refusal})
	}
}

// dismiss refuses who waits in vain since a vendor went away.
func (s *server) dismiss(now time.Time) {
	for id, refusal := range s.table.Hopeless(now) {
		w := s.asks[id]
		delete(s.asks, id)
		delete(w.node.waits, w.id)
		s.refuse(w.node, w.id, refusal)
	}
}

func (s *server) send(n *node, h *held) {
	g := h.sent
	g.Stamp = n.stamp
	m := s.mail(n)
	m.Grants = append(m.Grants, g)
}

// mail returns the message to a node that is being written.
func (s *server) mail(n *node) *mail {
	m := s.mails[n.name]
	if m == nil {
		m = &mail{Epoch: s.epoch, Node: s.cfg.Node}
		s.mails[n.name] = m
	}
	return m
}

// post takes the messages that are to be sent, by node.
func (s *server) post() map[string]*mail {
	all := s.mails
	s.mails = map[string]*mail{}
	return all
}

// hello is the sign of life to all nodes.
func (s *server) hello(now time.Time) hello {
	all := hello{
		Epoch: s.epoch, Node: s.cfg.Node, Behind: map[chat.Lane]place{}, States: s.table.States(now), Running: s.table.Running(),
		Demands: s.table.Demands(), Levels: s.valve.Levels(),
	}
	for _, lane := range chat.Lanes() {
		all.Behind[lane] = s.behind(lane, now)
	}
	return all
}

// vendors returns the vendors in a fixed order.
func (s *server) vendors() []string { return slices.Sorted(maps.Keys(s.cfg.Gate.Vendors)) }
