package dispatcher

import (
	"context"
	"time"

	"sluice/internal/chat"
)

// A lane gives to whoever asks first, and of a burst the dispatcher that is nearest to the
// broker asks first nearly every time. So one that holds more than its share lets the
// others come first: it rests, and does not stop, because the others may have no room.
const (
	shareSpare = 32                     // jobs held beyond the share before a rest
	shareRest  = 20 * time.Millisecond  // before each pull from then on
	depthAge   = 250 * time.Millisecond // how long a depth that was read is believed
)

// restBefore says how long a dispatcher rests before its next pull from a lane, by the
// jobs of the lane that it holds, the lane's depth and how many dispatchers are live.
func restBefore(held, depth, live int) time.Duration {
	if held > depth/max(1, live)+shareSpare {
		return shareRest
	}
	return 0
}

// share is what the taker of one lane knows about its share.
type share struct {
	lane   chat.Lane
	depth  int
	readAt time.Time
}

// rest rests if that is due. Where no rest can come of it, the lane is not asked for its
// depth. A depth that lets the dispatcher go on is believed for depthAge; before a rest
// the lane is asked anew, because in a burst it is deeper than a moment ago.
func (d *Dispatcher) rest(ctx context.Context, s *share, held int) {
	if held <= shareSpare {
		return
	}
	live := d.control.Live()
	if live < 2 {
		return
	}
	now := time.Now()
	if restBefore(held, s.depth, live) == 0 && now.Sub(s.readAt) < depthAge {
		return
	}
	depth, err := d.queue.Depth(ctx, s.lane)
	if err != nil {
		if ctx.Err() == nil {
			d.log.Warn().Err(err).Str("lane", string(s.lane)).Msg("share of the lane is not known, taking on")
		}
		return
	}
	s.depth, s.readAt = depth, now
	if pause := restBefore(held, depth, live); pause > 0 {
		wait(ctx, pause)
	}
}
