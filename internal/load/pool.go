package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// each calls do for every item in order, at most workers at a time, and returns when all
// calls have ended. Once ctx ends it begins no more.
func each[T any](ctx context.Context, workers int, items []T, do func(T)) {
	var (
		next atomic.Int64
		pool sync.WaitGroup
	)
	for range min(workers, len(items)) {
		pool.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(items) {
					return
				}
				do(items[i])
			}
		})
	}
	pool.Wait()
}

// pause waits and reports whether ctx let it.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
