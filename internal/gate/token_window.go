package gate

import "time"

// TokenWindow lets at most so many tokens go in any minute. A call reserves what it may
// use when it begins and settles what it did use when it ends, so calls that run at the
// same time cannot all count on the same tokens, as they do where usage is charged at
// the end (envoyproxy/ai-gateway#2394) or looked up before (litellm#18730).
//
// A reservation counts where the call began. It is remembered until it is settled or
// leaves the window unsettled, whichever comes first: a call that is lost costs its
// reservation for a minute, and memory for no longer. It is not safe for concurrent use.
type TokenWindow struct{ spending spending }

// NewTokenWindow returns a window of perMinute tokens; 0 is no limit.
func NewTokenWindow(perMinute int) *TokenWindow {
	w := &TokenWindow{newSpending(time.Minute, tokenPart)}
	w.SetLimit(perMinute)
	return w
}

// SetLimit changes the tokens a minute. Those of the last minute still count.
func (w *TokenWindow) SetLimit(perMinute int) { w.spending.limit = max(perMinute, 0) }

// Clamp returns what an estimate reserves: one that is larger than the window is the
// whole window, for else its call would be refused for ever (litellm#29193).
func (w *TokenWindow) Clamp(tokens int) int { return w.spending.clamp(tokens) }

// Room reports whether a call with this estimate may begin at now. It changes no count.
func (w *TokenWindow) Room(now time.Time, tokens int) bool { return w.spending.room(now, tokens) }

// Take reserves the estimate for a call that begins at now. Its id must be new; what a
// former call of that id reserved in another second stays reserved.
func (w *TokenWindow) Take(id uint64, tokens int, now time.Time) {
	tokens = w.Clamp(tokens)
	at := w.spending.add(tokens, now)
	if at.open == nil {
		at.open = map[uint64]int{}
	}
	at.open[id] += tokens
}

// Settle replaces a call's reservation by what it used. Less frees the rest where it was
// reserved. More counts as spent at now, because some vendors charge at the end; it may
// exceed the limit, and later calls wait for it, but no running call is cut. An id
// that is settled, or whose reservation has left the window, does nothing.
func (w *TokenWindow) Settle(id uint64, used int, now time.Time) {
	w.spending.trim(now)
	if beyond := w.spending.settle(id, min(max(used, 0), mostAtOnce)); beyond > 0 {
		w.spending.add(beyond, now)
	}
}

// Drop frees the reservation of a call that used nothing.
func (w *TokenWindow) Drop(id uint64) { w.spending.settle(id, 0) }

// Used returns what counts at now: reservations of calls that run, and what the others
// used. It is never negative.
func (w *TokenWindow) Used(now time.Time) int {
	w.spending.trim(now)
	return w.spending.used
}

// NextAt returns when a call with this estimate may begin, if none begins before and
// none settles: now, or later.
func (w *TokenWindow) NextAt(now time.Time, tokens int) time.Time {
	return w.spending.nextAt(now, tokens)
}

// Snapshot returns what was reserved and used in the last minute before now.
func (w *TokenWindow) Snapshot(now time.Time) WindowSnapshot { return w.spending.snapshot(now) }

// Restore replaces what the window knows. Reservations can be settled as before.
func (w *TokenWindow) Restore(s WindowSnapshot, now time.Time) { w.spending.restore(s, now) }
