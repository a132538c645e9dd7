package queue

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// storeCheckEvery is how old a measurement of the store may be. What comes in meanwhile
// is small beside the tenth that is kept free.
const storeCheckEvery = time.Second

// storeGuard keeps intake away from the end of the store.
type storeGuard struct {
	limit int64 // bytes; 0: none

	mu   sync.Mutex
	at   time.Time
	used int64
}

// room refuses with ErrStorage when the store is nine tenths full.
func (q *Queue) room(ctx context.Context) error {
	g := &q.store
	if g.limit == 0 {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.at.IsZero() || time.Since(g.at) > storeCheckEvery {
		info, err := q.js.AccountInfo(ctx)
		if err != nil {
			return fmt.Errorf("measure the store: %w", err)
		}
		g.at, g.used = time.Now(), int64(info.Store)
	}
	if g.used > g.limit {
		return fmt.Errorf("%d bytes in the store: %w", g.used, ErrStorage)
	}
	return nil
}
