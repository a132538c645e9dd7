package dispatcher

import (
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/valve"
)

// climb is a ticket's way down the ladder.
type climb struct {
	valve.Step
	tried   chat.Route      // the rung that came to nothing; empty: none yet
	why     chat.Reason     // of that
	changed <-chan struct{} // closed when a level changes: then the way is looked at anew
}

// look finds the rung for a ticket under the present load.
func (d *Dispatcher) look(s *queue.Stored, c climb) climb {
	var level int
	level, c.changed = d.control.Level(s.Lane)
	s.Level = level
	asked := level == 1 || c.tried == chat.RouteAgent // where it matters
	c.Step = valve.Route(valve.Case{
		Level: level, Urgent: s.Pressing(), Lane: s.Lane, Known: asked && d.knows(s), Tried: c.tried, Why: c.why,
		Left: time.Until(s.Deadline), Usual: d.pace.usual(),
	})
	return c
}

// knows reports whether an answer from the knowledge can be had.
func (d *Dispatcher) knows(s *queue.Stored) (known bool) {
	defer func() {
		if recover() != nil { // there are other rungs
			d.log.Error().Str("ticket", s.ID).Bytes("stack", debug.Stack()).Msg("the look into the knowledge panicked")
			known = false
		}
	}()
	return s.Lane.Interactive() && len(d.cfg.Rules().RAG.Vendors) > 0 && d.worker.Knows(&s.Ticket)
}

// ask is the wish for the permit of a rung.
func (d *Dispatcher) ask(s *queue.Stored, how chat.Effort) gate.Ask {
	r := d.cfg.Rules()
	chain := r.Agent
	if how.Route == chat.RouteRAG {
		chain = r.RAG
	}
	model := chain.Model
	if how.Light && chain.Light != "" {
		model = chain.Light
	}
	return gate.Ask{
		Tenant: s.Tenant, Session: s.Session, Ticket: s.ID, Lane: s.Lane, Urgent: s.Pressing(),
		Seq: s.Seq, AcceptedAt: s.AcceptedAt, Deadline: s.Deadline,
		Vendors: chain.Vendors, Model: model, Tokens: d.worker.Estimate(&s.Ticket),
	}
}

// pace is how long answers of one kind took of late. It is safe for concurrent use.
type pace struct {
	mu   sync.Mutex
	took []time.Duration // the newest paceKept, as a ring
	next int
	p95  time.Duration
}

// paceKept is how many answers are remembered, and paceFirst what one is taken to need
// before any was measured.
const (
	paceKept  = 100
	paceFirst = 2 * time.Second
)

func (p *pace) add(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.took) < paceKept {
		p.took = append(p.took, took)
	} else {
		p.took[p.next] = took
		p.next = (p.next + 1) % paceKept
	}
	sorted := slices.Sorted(slices.Values(p.took))
	p.p95 = sorted[(len(sorted)*95-1)/100]
}

// usual returns the 95th percentile.
func (p *pace) usual() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.took) == 0 {
		return paceFirst
	}
	return p.p95
}
