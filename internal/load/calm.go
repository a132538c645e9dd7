package load

import (
	"context"
	"time"
)

// calmBelow is how much of a processor an instance with nothing to do may use.
const calmBelow = 0.15

// Calm waits until the instance at a base URL has little to do of its own accord, as while
// it learns after its start, but no longer than limit. Where it does not tell, or ctx ends,
// there is nothing to wait for.
func Calm(ctx context.Context, baseURL string, limit time.Duration) {
	c := newSocketClient(SocketTarget{BaseURL: baseURL})
	defer c.close()
	m := newMeter(c, &socketCounts{})
	last := m.look(ctx)
	for end := time.Now().Add(limit); last.usage.known && time.Now().Before(end); {
		if !pause(ctx, meterEvery) {
			return
		}
		now := m.look(ctx)
		if processors(last, now) < calmBelow {
			return
		}
		last = now
	}
}
