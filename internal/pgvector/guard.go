package pgvector

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/gate"
)

// guard keeps searches away from a database that fails or is slow, and lets in no more at once
// than there are connections beside the one that writes. It is safe for concurrent use.
type guard struct {
	limit int
	log   zerolog.Logger

	mu      sync.Mutex // guards the rest
	breaker *gate.Breaker
	state   gate.BreakerState
	inside  int
	next    uint64
}

func newGuard(cfg Config, limit int) *guard {
	return &guard{
		limit: limit, log: cfg.Log, state: gate.BreakerClosed,
		// Slow is a share that is never reached: a search beyond its time has failed.
		breaker: gate.NewBreaker(gate.BreakerConfig{
			MinCalls: 3, Failures: 0.5, Slow: 2, Cooldown: cfg.Cooldown, Probes: 1, ProbeFor: 2 * cfg.Wait,
		}, rand.Float64),
	}
}

// enter lets a search in, or says that it has to do without. Whoever is in must leave.
func (g *guard) enter(now time.Time) (id uint64, in bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside >= g.limit || !g.breaker.Allow(now, g.inside, g.limit) {
		return 0, false
	}
	g.inside++
	g.next++
	g.breaker.Begin(g.next, now)
	return g.next, true
}

// leave notes how a search ended.
func (g *guard) leave(id uint64, how gate.Outcome, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.breaker.End(id, how, now)
	switch state := g.breaker.State(now); {
	case state == gate.BreakerOpen && g.state == gate.BreakerClosed:
		g.state = state
		g.log.Warn().Msg("pgvector is away or slow, passages are found without it")
	case state == gate.BreakerClosed && g.state != state:
		g.state = state
		g.log.Info().Msg("pgvector finds passages again")
	}
}

// closed reports whether searches are let through.
func (g *guard) closed(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.breaker.State(now) == gate.BreakerClosed
}
