package api

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/queue"
)

// Limits of what is done about customers who have left.
const (
	leaveLimit   = 2 * time.Second  // until a departure is noted
	abandonLimit = 10 * time.Second // until what waited for one customer is cancelled
	maxAway      = 50_000           // departures that one node follows; of further ones the jobs run
)

// presence cancels what waits for customers who have left: the last socket of their
// session on a node has gone, and within the grace none came on any node, nor a long
// poll. A departure is a key that every node sees. Whichever node has or gets the session
// withdraws it; when the grace is over each tries to, and the one that succeeds cancels.
// A node that dies notes nothing: the jobs of its customers run. It is safe for
// concurrent use.
type presence struct {
	queue *queue.Queue
	here  func(talk) bool // the session has a socket or a poll on this node
	grace time.Duration
	log   zerolog.Logger
	bell  chan struct{} // there is something to wait for

	mu   sync.Mutex // guards what follows
	away map[talk]uint64
	line []absence // by due time
}

// absence is a departure, and when it is acted upon.
type absence struct {
	queue.Departure
	due time.Time
}

func newPresence(q *queue.Queue, here func(talk) bool, grace time.Duration, log zerolog.Logger) *presence {
	return &presence{
		queue: q, here: here, grace: grace, log: log, bell: make(chan struct{}, 1), away: map[talk]uint64{},
	}
}

// run follows departures until ctx ends. None is acted upon after that.
func (p *presence) run(ctx context.Context) {
	var watch sync.WaitGroup
	watch.Go(func() { p.queue.Departures(ctx, func(d queue.Departure) { p.note(ctx, d) }) })
	defer watch.Wait()
	for {
		next := p.next(time.Now())
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-p.bell:
		case <-timer.C:
			for _, d := range p.due(time.Now()) {
				p.act(ctx, d)
			}
		}
		timer.Stop()
	}
}

// left notes that the node's last socket of a session has gone, if anything waits for
// its customer.
func (p *presence) left(ctx context.Context, t talk) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveLimit)
	defer cancel()
	awaited, err := p.queue.Awaited(ctx, t.tenant, t.session)
	if err == nil && len(awaited) > 0 {
		err = p.queue.Depart(ctx, t.tenant, t.session)
	}
	if err != nil {
		p.log.Warn().Err(err).Str("tenant", t.tenant).Msg("a customer left, what waits for them goes on")
	}
}

// back withdraws the departure of a session that is here now. It is called once here
// says so: a departure that comes to be known later meets that.
func (p *presence) back(ctx context.Context, t talk) {
	p.mu.Lock()
	rev := p.away[t]
	p.mu.Unlock()
	if rev > 0 {
		p.withdraw(ctx, queue.Departure{Tenant: t.tenant, Session: t.session, Rev: rev})
	}
}

// note takes a departure in, or takes one out that was withdrawn.
func (p *presence) note(ctx context.Context, d queue.Departure) {
	t := talk{d.Tenant, d.Session}
	p.mu.Lock()
	switch {
	case d.Rev == 0:
		delete(p.away, t)
	case len(p.away) < maxAway:
		p.away[t] = d.Rev
		p.line = append(p.line, absence{d, time.Now().Add(p.grace)})
	}
	p.mu.Unlock()
	select {
	case p.bell <- struct{}{}:
	default:
	}
	if d.Rev > 0 && p.here(t) {
		p.withdraw(ctx, d)
	}
}

func (p *presence) withdraw(ctx context.Context, d queue.Departure) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveLimit)
	defer cancel()
	if _, err := p.queue.Withdraw(ctx, d); err != nil {
		p.log.Warn().Err(err).Str("tenant", d.Tenant).Msg("a customer is back, and may be taken for gone")
	}
}

// next returns how long nothing is due.
func (p *presence) next(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.line) == 0 {
		return time.Hour
	}
	return p.line[0].due.Sub(now)
}

// due takes the departures out of the line whose grace is over and that still stand.
func (p *presence) due(now time.Time) []queue.Departure {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []queue.Departure
	for len(p.line) > 0 && !p.line[0].due.After(now) {
		d := p.line[0].Departure
		p.line = p.line[1:]
		if p.away[talk{d.Tenant, d.Session}] == d.Rev {
			all = append(all, d)
		}
	}
	return all
}

// act cancels what waits for a customer who did not come back.
func (p *presence) act(ctx context.Context, d queue.Departure) {
	if p.here(talk{d.Tenant, d.Session}) {
		p.withdraw(ctx, d)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, abandonLimit)
	defer cancel()
	n, err := p.queue.Abandon(ctx, d, time.Now().UTC())
	if err != nil {
		p.log.Warn().Err(err).Str("tenant", d.Tenant).Int("cancelled", n).Msg("a customer left, what waits for them goes on")
		return
	}
	if n > 0 {
		p.log.Info().Str("tenant", d.Tenant).Str("session", d.Session).Int("cancelled", n).Msg("a customer left and did not come back")
	}
}

// hears reports whether a socket or a long poll of the session listens.
func (h *hub) hears(t talk) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.listeners[t]) > 0
}
