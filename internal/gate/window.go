package gate

import "time"

// A part is as long as a call may count too long, so a hundredth costs at most 1 % of
// the calls, and a second in a minute 1.7 % of the tokens.
const (
	callPart  = 10 * time.Millisecond
	tokenPart = time.Second
)

// callSecond is how long a second of a vendor's calls is taken to be. It counts them as they
// come, and some are longer on their way than others: with a second to the letter a vendor on
// the same machine counted 14 calls in one of its own at a limit of 10.
const callSecond = time.Second + 100*time.Millisecond

// CallWindow lets at most so many calls begin in any second: any, not only in those that
// begin with a tick, and a tenth more, so that the vendor sees no more than that either,
// unless one call is more than a tenth of a second longer on its way than another. It is
// not safe for concurrent use.
type CallWindow struct{ spending spending }

// NewCallWindow returns a window of qps calls a second; 0 is no limit.
func NewCallWindow(qps int) *CallWindow {
	w := &CallWindow{newSpending(callSecond, callPart)}
	w.SetLimit(qps)
	return w
}

// SetLimit changes the calls a second. Those of the last second still count.
func (w *CallWindow) SetLimit(qps int) { w.spending.limit = max(qps, 0) }

// Room reports whether one more call may begin at now. It changes no count.
func (w *CallWindow) Room(now time.Time) bool { return w.spending.room(now, 1) }

// Take counts a call that begins at now.
func (w *CallWindow) Take(now time.Time) { w.spending.add(1, now) }

// NextAt returns when the next call may begin, if none begins before: now, or later.
func (w *CallWindow) NextAt(now time.Time) time.Time { return w.spending.nextAt(now, 1) }

// Snapshot returns what began in the last second before now.
func (w *CallWindow) Snapshot(now time.Time) WindowSnapshot { return w.spending.snapshot(now) }

// Restore replaces what the window knows.
func (w *CallWindow) Restore(s WindowSnapshot, now time.Time) { w.spending.restore(s, now) }
