package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
)

// pauseEvery is how often a process looks for pauses whose time is over.
const pauseEvery = time.Second

// pauseActor is whose word it is that a pause has ended.
const pauseActor = "sluice"

// watchPauses ends the pauses whose time is over, until ctx ends. Every process looks,
// the first one's word holds; one that was due while none ran ends with the next start.
func (l *Lanes) watchPauses(ctx context.Context) {
	every(ctx, pauseEvery, nil, func() {
		known := l.known.Load()
		if known == nil {
			return
		}
		for lane, o := range *known {
			if !o.over(time.Now()) {
				continue
			}
			if err := l.queue.endPause(ctx, lane, o); err != nil && ctx.Err() == nil {
				l.rest.Warn().Err(err).Str("lane", string(lane)).Msg("a pause whose time is over could not be ended")
			}
		}
	})
}

// over reports whether the order is a pause whose time is over.
func (o LaneOrder) over(now time.Time) bool {
	return o.State == chat.LanePaused && !o.Until.IsZero() && !now.Before(o.Until)
}

// endPause opens a lane again, unless somebody has given it another order meanwhile, and
// notes that in the audit.
func (q *Queue) endPause(ctx context.Context, lane chat.Lane, o LaneOrder) error {
	now := time.Now().UTC()
	why := "the pause by " + o.Actor + " was until " + o.Until.UTC().Format(time.RFC3339)
	_, err := q.SetLaneOrder(ctx, lane, LaneOrder{State: chat.LaneOpen, Actor: pauseActor, Reason: why, At: now, Rev: o.Rev})
	if errors.Is(err, ErrLost) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("end the pause of lane %s: %w", lane, err)
	}
	return q.Note(ctx, Audit{At: now, Actor: pauseActor, Action: "lane.resume", Target: string(lane), Reason: why, Before: o.State, After: chat.LaneOpen})
}
