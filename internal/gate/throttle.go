package gate

import "time"

// The numbers of a throttle: additive increase, multiplicative decrease on 429 alone.
// How long calls take is no signal here, because it follows the length of answers.
const (
	cutTenths     = 7                // of the limit stay after a cut
	cleanFor      = 10 * time.Second // without a hit, for one more
	shortestPause = time.Second      // for a 429 that names no time
	longestPause  = time.Hour        // whatever a 429 names
)

// Throttle is what the 429s of a vendor's account do: all calls pause, and fewer go at
// once afterwards. It is not safe for concurrent use.
type Throttle struct {
	configured int
	below      int       // how far the limit was cut below the configured one
	until      time.Time // paused until then
	cutAt      time.Time
	cleanAt    time.Time // the clean time that counts began then
}

// NewThrottle returns a throttle that allows limit.
func NewThrottle(limit int) *Throttle {
	t := &Throttle{}
	t.SetLimit(limit)
	return t
}

// SetLimit changes the configured limit. What was cut stays cut.
func (t *Throttle) SetLimit(limit int) { t.configured = max(limit, 0) }

// Hit notes a 429 that came at now for a call that was granted at grantedAt. The pause
// lasts until the latest time that any 429 named: never shorter than said, where
// litellm#7669 tried again at once. The limit is cut once for all the calls that were
// granted before the cut: 20 that ran together and are refused together say no more
// than one.
func (t *Throttle) Hit(grantedAt, now time.Time, retryAfter time.Duration) {
	t.Tick(now)
	if retryAfter <= 0 {
		retryAfter = shortestPause
	}
	if until := now.Add(min(retryAfter, longestPause)); until.After(t.until) {
		t.until = until
	}
	t.cleanAt = t.until
	if !t.cutAt.IsZero() && !grantedAt.After(t.cutAt) {
		return
	}
	t.cutAt = now
	t.below = t.configured - max(t.limit()*cutTenths/10, t.floor())
}

// Lift ends a pause at an operator's word. What was cut stays cut.
func (t *Throttle) Lift(now time.Time) {
	if t.Paused(now) {
		t.until, t.cleanAt = now, now
	}
}

// Tick raises a limit that was cut by one for each 10 s without a hit. A pause does
// not count: nothing was tried in it.
func (t *Throttle) Tick(now time.Time) {
	clean := int(now.Sub(t.cleanAt) / cleanFor)
	if t.below == 0 || clean <= 0 {
		return
	}
	t.below = max(min(t.below, t.configured-t.floor())-clean, 0)
	t.cleanAt = t.cleanAt.Add(time.Duration(clean) * cleanFor)
}

// Limit returns how many calls may run at once at now.
func (t *Throttle) Limit(now time.Time) int {
	t.Tick(now)
	return t.limit()
}

func (t *Throttle) limit() int { return max(t.configured-t.below, t.floor()) }

// floor is half of the configured limit, rounded up.
func (t *Throttle) floor() int { return (t.configured + 1) / 2 }

// PausedUntil returns the end of the latest pause, which may be over; zero: there was none.
func (t *Throttle) PausedUntil() time.Time { return t.until }

// Paused reports whether no call may begin at now.
func (t *Throttle) Paused(now time.Time) bool { return now.Before(t.until) }

// ThrottleSnapshot is what another controller must know of a throttle. Times are
// durations from the moment of the snapshot.
type ThrottleSnapshot struct {
	PauseFor time.Duration `json:"pause_for,omitempty"`
	Below    int           `json:"below,omitempty"`   // how far below the configured limit
	CutAgo   time.Duration `json:"cut_ago,omitempty"` // the last cut; 0 with Below 0: there was none
}

// Snapshot returns the throttle's state at now.
func (t *Throttle) Snapshot(now time.Time) ThrottleSnapshot {
	t.Tick(now)
	s := ThrottleSnapshot{Below: t.below}
	if t.Paused(now) {
		s.PauseFor = t.until.Sub(now)
	}
	if !t.cutAt.IsZero() {
		s.CutAgo = now.Sub(t.cutAt)
	}
	return s
}

// Restore makes the throttle go on from a snapshot. The clean time begins anew.
func (t *Throttle) Restore(s ThrottleSnapshot, now time.Time) {
	t.until, t.cutAt = time.Time{}, time.Time{}
	t.below = max(s.Below, 0)
	t.cleanAt = now
	if s.PauseFor > 0 {
		t.until = now.Add(min(s.PauseFor, longestPause))
		t.cleanAt = t.until
	}
	if s.Below > 0 || s.CutAgo > 0 {
		t.cutAt = now.Add(-max(s.CutAgo, 0))
	}
}
