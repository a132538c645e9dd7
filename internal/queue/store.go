package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"
)

// storeCheckEvery is how old a measurement of the store may be. What comes in meanwhile
// is small beside the tenth that is kept free. measureLimit is how long one may take: on
// a cluster it is answered by one server alone, which may be away while streams work.
const (
	storeCheckEvery = time.Second
	measureLimit    = 500 * time.Millisecond
)

// storeGuard keeps intake away from the end of the store. It is safe for concurrent use.
type storeGuard struct {
	log zerolog.Logger

	mu     sync.Mutex
	at     time.Time // of the last measurement, or of its attempt
	used   int64     // bytes
	limit  int64     // bytes; below 0: none known
	closed bool      // intake was refused last
	blind  bool      // the last measurement came to nothing
}

// room refuses with ErrStorage when the store is nine tenths full. A measurement that
// does not come leaves the last one in force: the servers refuse by themselves what does
// not fit at all.
func (q *Queue) room(ctx context.Context) error {
	g := &q.store
	if g.due(time.Now()) {
		ctx, cancel := context.WithTimeout(ctx, measureLimit)
		defer cancel()
		info, err := q.js.AccountInfo(ctx)
		if err != nil {
			g.miss(err)
		} else {
			g.measured(storeOf(info, q.cfg.Replicas, q.cfg.MaxStore))
		}
	}
	return g.full()
}

// due reports whether it is the caller's turn to measure. The others go by what is known.
func (g *storeGuard) due(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.at.IsZero() && now.Sub(g.at) <= storeCheckEvery {
		return false
	}
	g.at = now
	return true
}

func (g *storeGuard) measured(used, limit int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used, g.limit, g.blind = used, limit, false
	closed := limit >= 0 && used > limit/10*9
	if closed != g.closed {
		line, text := g.log.Info(), "the store has room again"
		if closed {
			line, text = g.log.Error(), "the store is nine tenths full, nothing more is taken in"
		}
		line.Int64("used", used).Int64("limit", limit).Msg(text)
	}
	g.closed = closed
}

func (g *storeGuard) miss(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.blind {
		g.log.Warn().Err(err).Msg("the store cannot be measured, the last figure holds")
	}
	g.blind = true
}

func (g *storeGuard) full() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("%d of %d bytes in the store: %w", g.used, g.limit, ErrStorage)
	}
	return nil
}

// storeOf returns how much of its store an account uses, and how much it may: the smaller
// one of its own limit and of the store's size where that is known (own, else 0). Without
// either the limit is -1.
func storeOf(info *jetstream.AccountInfo, replicas int, own int64) (used, limit int64) {
	used, limit = int64(info.Store), info.Limits.MaxStore
	if len(info.Tiers) > 0 {
		// The limit of a tier is for one copy, its use is that of all.
		tier, found := info.Tiers[fmt.Sprintf("R%d", replicas)]
		used, limit = int64(tier.Store), -1
		if found && tier.Limits.MaxStore >= 0 {
			limit = tier.Limits.MaxStore * int64(replicas)
		}
	}
	if own > 0 && (limit < 0 || own < limit) {
		// The size is that of the whole server.
		used, limit = int64(info.Store), own
	}
	return used, limit
}
