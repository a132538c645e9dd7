package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Alone reports whether no other process can be using the streams.
func (q *Queue) Alone() bool { return q.cfg.Fresh }

// Duty reports whether this process is the one of all that shall do a periodic duty
// now. Another one may do it again once every has passed, also after a crash. It saves
// work and is no lock: a duty must bear being done by two at once.
func (q *Queue) Duty(ctx context.Context, name string, every time.Duration) (bool, error) {
	if q.cfg.Fresh {
		return true, nil
	}
	// A little less, so that the clocks of those who ask need not agree.
	ttl := max(time.Second, (every * 9 / 10).Round(time.Second))
	_, err := q.control.Create(ctx, "duty."+name, nil, jetstream.KeyTTL(ttl))
	if outpaced(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("claim duty %s: %w", name, err)
	}
	return true, nil
}
