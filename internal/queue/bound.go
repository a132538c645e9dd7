package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// Resize gives the lanes other bounds, and the logs another age. A bound rises at once.
// It falls no lower than what the lane holds, so that no job is deleted: done is false
// while one has further to fall, and the caller calls again. One process at a time calls it.
func (q *Queue) Resize(ctx context.Context, bounds map[chat.Lane]int, keepEvents time.Duration) (done bool, err error) {
	done = true
	for _, lane := range chat.Lanes() {
		info, err := q.lanes[lane].Info(ctx)
		if err != nil {
			return false, fmt.Errorf("read bound of %s: %w", lane, err)
		}
		want := int64(bounds[lane])
		now := max(want, min(info.Config.MaxMsgs, int64(info.State.Msgs)))
		done = done && now == want
		if info.Config.MaxMsgs == now {
			continue
		}
		info.Config.MaxMsgs = now
		if _, err := q.js.UpdateStream(ctx, info.Config); err != nil {
			return false, fmt.Errorf("change bound of %s: %w", lane, err)
		}
	}
	for _, stream := range []jetstream.Stream{q.talk, q.story} {
		info, err := stream.Info(ctx)
		if err != nil {
			return false, fmt.Errorf("read age of a log: %w", err)
		}
		if info.Config.MaxAge == keepEvents {
			continue
		}
		info.Config.MaxAge = keepEvents
		if _, err := q.js.UpdateStream(ctx, info.Config); err != nil {
			return false, fmt.Errorf("change age of %s: %w", info.Config.Name, err)
		}
	}
	return done, nil
}
