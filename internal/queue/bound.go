package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// Resize gives the lanes other bounds, and the logs another age. A lane that holds more than
// its new bound keeps all of it and takes nothing in until it holds less: JetStream deletes
// nothing for a lower MaxMsgs where new messages are discarded. One process at a time calls
// it.
func (q *Queue) Resize(ctx context.Context, bounds map[chat.Lane]int, keepEvents time.Duration) error {
	for _, lane := range chat.Lanes() {
		info, err := q.lanes[lane].Info(ctx)
		if err != nil {
			return fmt.Errorf("read bound of %s: %w", lane, err)
		}
		bound := int64(bounds[lane])
		if info.Config.MaxMsgs == bound {
			continue
		}
		info.Config.MaxMsgs = bound
		if _, err := q.js.UpdateStream(ctx, info.Config); err != nil {
			return fmt.Errorf("change bound of %s: %w", lane, err)
		}
	}
	for _, stream := range []jetstream.Stream{q.talk, q.story} {
		info, err := stream.Info(ctx)
		if err != nil {
			return fmt.Errorf("read age of a log: %w", err)
		}
		if info.Config.MaxAge == keepEvents {
			continue
		}
		info.Config.MaxAge = keepEvents
		if _, err := q.js.UpdateStream(ctx, info.Config); err != nil {
			return fmt.Errorf("change age of %s: %w", info.Config.Name, err)
		}
	}
	return nil
}
