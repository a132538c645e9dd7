package llm

import (
	"context"
	"sync/atomic"
	"time"
)

// drainTimeout bounds the wait for the EOF of a body whose content is complete; a shorter Gap limit bounds it instead.
const drainTimeout = 5 * time.Second

// watch ends one upstream call when the first of its limits passes. Timers do it, since a reader that is blocked cannot,
// and since they keep exact time in a synctest bubble. The methods from connected to drain are called in that order;
// all are safe for concurrent use with stop.
type watch struct {
	limits  Timeouts
	done    <-chan struct{} // the upstream call was ended, by us or by the caller
	cancel  context.CancelFunc
	expired atomic.Pointer[Phase]

	connect *time.Timer
	total   *time.Timer
	first   *time.Timer // nil if the call is not streamed
	gap     *time.Timer // nil before the first token
}

// newWatch returns the context that the upstream call must run under. stop must be called.
func newWatch(ctx context.Context, limits Timeouts, streamed bool) (context.Context, *watch) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{limits: limits, done: ctx.Done(), cancel: cancel}
	w.connect = w.after(limits.Connect, PhaseConnect)
	if streamed {
		w.total = w.after(limits.Stream, PhaseStream)
		w.first = w.after(limits.FirstToken, PhaseFirstToken)
	} else {
		w.total = w.after(limits.Call, PhaseCall)
	}
	return ctx, w
}

func (w *watch) after(limit time.Duration, phase Phase) *time.Timer {
	return time.AfterFunc(limit, func() {
		w.expired.CompareAndSwap(nil, &phase)
		w.cancel()
	})
}

// phase is the limit that passed first, "" if none did.
func (w *watch) phase() Phase {
	if p := w.expired.Load(); p != nil {
		return *p
	}
	return ""
}

func (w *watch) ended() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

func (w *watch) connected() { w.connect.Stop() }

// event notes an event of the stream; with the first one that is a token the gap limit takes over.
func (w *watch) event(token bool) {
	switch {
	case w.gap != nil:
		w.gap.Reset(w.limits.Gap)
	case token:
		w.first.Stop()
		w.gap = w.after(w.limits.Gap, PhaseGap)
	}
}

// wait and got enclose the time that a reader waits for the vendor; the rest belongs to the streaming function.
func (w *watch) wait() {
	if w.gap != nil {
		w.gap.Reset(w.limits.Gap)
	}
}

func (w *watch) got() {
	if w.gap != nil {
		w.gap.Stop()
	}
}

// drain replaces the limits of a single event by that of the rest.
func (w *watch) drain() *time.Timer {
	if w.first != nil {
		w.first.Stop()
	}
	w.got()
	return w.after(min(drainTimeout, w.limits.Gap), PhaseGap)
}

// stop ends the upstream call if it has not ended.
func (w *watch) stop() {
	for _, timer := range []*time.Timer{w.connect, w.total, w.first, w.gap} {
		if timer != nil {
			timer.Stop()
		}
	}
	w.cancel()
}
