package llm

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// drainTimeout bounds the wait for the EOF of a body whose content is complete; a shorter Gap limit bounds it instead.
const drainTimeout = 5 * time.Second

// watch ends one upstream call when the first of its limits passes. Timers do it, since a reader that is blocked cannot,
// and since they keep exact time in a synctest bubble. The methods from acquiring to drain are called in that order;
// all are safe for concurrent use with stop, and dialling with every other: the transport dials in a goroutine of its own.
type watch struct {
	limits   Timeouts
	streamed bool
	timing   *Timing         // nil: nobody wants to know
	done     <-chan struct{} // the upstream call was ended, by us or by the caller
	cancel   context.CancelFunc
	expired  atomic.Pointer[Phase]
	total    *time.Timer
	gap      *time.Timer   // nil before the first token
	silentAt time.Time     // since when the reader waits; the reader's goroutine only
	quiet    time.Duration // how long it has waited since the last token, before that

	mu      sync.Mutex // guards the way to a connection
	settled bool       // there is one, or the call is over
	acquire *time.Timer
	connect *time.Timer
	first   *time.Timer // nil if the call is not streamed, or has not reached the vendor
	begunAt time.Time   // when the vendor's own time began
}

type watchKey struct{}

// newWatch returns the context that the upstream call must run under. stop must be called.
func newWatch(ctx context.Context, limits Timeouts, k *call) (context.Context, *watch) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{limits: limits, streamed: k.streamed, timing: k.timing, done: ctx.Done(), cancel: cancel}
	if w.streamed {
		w.total = w.after(limits.Stream, PhaseStream)
	} else {
		w.total = w.after(limits.Call, PhaseCall)
	}
	return context.WithValue(ctx, watchKey{}, w), w
}

func (w *watch) after(limit time.Duration, phase Phase) *time.Timer {
	return time.AfterFunc(limit, func() {
		w.expired.CompareAndSwap(nil, &phase)
		w.cancel()
	})
}

// acquiring notes that the transport looks for a connection. Waiting for one of ours to become free is not the vendor's
// slowness: it has a limit of its own, and the vendor's limits begin afterwards.
func (w *watch) acquiring() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(false) // the transport looks for another after one that had died idle
	w.acquire = w.after(w.limits.Acquire, phaseAcquire)
}

// dialling notes that there was room for a connection, and that it is being opened.
func (w *watch) dialling() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.settled {
		return // one that was in use has become free meanwhile
	}
	w.settle(false)
	w.connect = w.after(w.limits.Connect, PhaseConnect)
	w.begin()
}

func (w *watch) connected() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(true)
	w.begin()
}

// settle stops the timers on the way to a connection.
func (w *watch) settle(settled bool) {
	stopAll(w.acquire, w.connect)
	w.settled = settled
}

// begin starts the vendor's own time, once.
func (w *watch) begin() {
	if !w.begunAt.IsZero() || w.ended() {
		return
	}
	w.begunAt = time.Now()
	if w.streamed {
		w.first = w.after(w.limits.FirstToken, PhaseFirstToken)
	}
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

// token notes a token of the stream; with the first one the gap limit takes over.
func (w *watch) token() {
	now := time.Now()
	if w.gap == nil {
		stopAll(w.first)
		w.gap = w.after(w.limits.Gap, PhaseGap)
		w.timing.firstToken(now.Sub(w.begunAt))
	} else {
		w.gap.Reset(w.limits.Gap)
		w.timing.silent(w.quiet + now.Sub(w.silentAt))
	}
	w.quiet, w.silentAt = 0, now
}

// wait and got enclose the time that a reader waits for the vendor; the rest belongs to the streaming function. What
// came without a token is silence too: else a generator that has died and sends empty pieces would hold on to the call.
func (w *watch) wait() {
	if w.gap != nil {
		w.silentAt = time.Now()
		w.gap.Reset(w.limits.Gap - w.quiet)
	}
}

func (w *watch) got() {
	if w.gap != nil {
		w.gap.Stop()
		w.quiet += time.Since(w.silentAt)
	}
}

// drain replaces the limits of a single event by that of the rest.
func (w *watch) drain() *time.Timer {
	stopAll(w.first)
	w.got()
	return w.after(min(drainTimeout, w.limits.Gap), PhaseGap)
}

// stop ends the upstream call if it has not ended.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settle(true)
	stopAll(w.total, w.first, w.gap)
	w.cancel()
}

// stopAll stops the timers that there are.
func stopAll(timers ...*time.Timer) {
	for _, timer := range timers {
		if timer != nil {
			timer.Stop()
		}
	}
}
