package cache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"
)

// ErrClosed answers a use of a cache after its Close.
var ErrClosed = errors.New("the cache is closed")

// Cache keeps values of one kind. It is safe for concurrent use. Close ends it.
type Cache[V any] struct {
	cfg     Config[V]
	entries *otter.Cache[Key, *entry[V]]
	tally   Tally

	loads sync.WaitGroup

	mu         sync.Mutex // guards the rest, and the later parts of each entry
	flights    map[Key]*flight[V]
	refreshing int
	closed     bool
}

// entry is a value and its times. After it is stored, only what the cache's mutex guards
// changes.
type entry[V any] struct {
	value      V
	empty      bool
	freshUntil time.Time
	goneAt     time.Time // from here on it is not given any more

	failures int // refreshes in a row that came to nothing; under the cache's mutex
	retryAt  time.Time
}

// New returns an empty cache.
func New[V any](cfg Config[V]) (*Cache[V], error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	entries, err := otter.New(&otter.Options[Key, *entry[V]]{
		MaximumWeight: cfg.Bound,
		Weigher:       func(_ Key, e *entry[V]) uint32 { return cfg.weight(e.value) },
		// On the caller's goroutine, so that none is left behind: no function of ours that the
		// library calls uses the cache.
		Executor: func(work func()) { work() },
	})
	if err != nil {
		return nil, fmt.Errorf("make cache %s: %w", cfg.Name, err)
	}
	return &Cache[V]{cfg: cfg, entries: entries, flights: map[Key]*flight[V]{}}, nil
}

// Get returns the value of key, loading it where it is not there: once for all who ask
// meanwhile. A stale value is given at once, and one load in the background replaces it;
// where that fails it stays. Get ends with ctx; the load goes on for the others and for
// the cache, on a context with ctx's values and a limit of its own. A load that panics is
// an error for all who wait. Under the zero Key each call loads for itself.
func (c *Cache[V]) Get(ctx context.Context, key Key, load func(context.Context) (V, error)) (V, error) {
	now := time.Now()
	if e := c.entry(key, now); e != nil {
		switch {
		case !now.Before(e.freshUntil):
			c.tally.Stale.Add(1)
			c.refresh(ctx, key, e, now, load)
		case e.empty:
			c.tally.Empty.Add(1)
		default:
			c.tally.Hit.Add(1)
		}
		return e.value, nil
	}
	c.tally.Miss.Add(1)
	if key == (Key{}) {
		return c.guarded(ctx, load)
	}
	f, e, err := c.board(ctx, key, load)
	switch {
	case err != nil:
		var none V
		return none, err
	case e != nil:
		return e.value, nil
	}
	return f.wait(ctx)
}

// Peek returns what is there for key, and whether it is still fresh. It loads nothing and
// counts nothing.
func (c *Cache[V]) Peek(key Key) (value V, fresh, found bool) {
	now := time.Now()
	if e := c.entry(key, now); e != nil {
		return e.value, now.Before(e.freshUntil), true
	}
	return value, false, false
}

// Put stores a value as if it had been loaded now.
func (c *Cache[V]) Put(key Key, value V) {
	now, keep := time.Now(), c.cfg.Keep()
	e := &entry[V]{value: value, empty: c.cfg.Empty(value)}
	if e.empty {
		keep = min(keep, c.cfg.EmptyFor)
	}
	if keep <= 0 || key == (Key{}) {
		return
	}
	if jitter := min(c.cfg.Jitter(), keep/2); jitter > 0 {
		keep -= rand.N(jitter)
	}
	e.freshUntil = now.Add(keep)
	if e.goneAt = e.freshUntil; !e.empty {
		e.goneAt = e.freshUntil.Add(c.cfg.Stale)
	}
	c.entries.Set(key, e)
}

// Counts returns what became of all uses so far.
func (c *Cache[V]) Counts() Counts { return c.tally.Counts() }

// Close cancels all loads and waits until they have ended. Who waits for one gets its error.
func (c *Cache[V]) Close() {
	c.mu.Lock()
	c.closed = true
	for _, f := range c.flights {
		f.cancel()
	}
	c.mu.Unlock()
	c.loads.Wait()
}

// entry returns what may be given for key at now, or nil.
func (c *Cache[V]) entry(key Key, now time.Time) *entry[V] {
	if e, ok := c.entries.GetIfPresent(key); ok && now.Before(e.goneAt) {
		return e
	}
	return nil
}
