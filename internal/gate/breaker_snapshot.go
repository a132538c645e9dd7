package gate

import "time"

// BreakerSnapshot is what another controller must know of a breaker. Times are
// durations from the moment of the snapshot; what passes until it is restored does not
// count. The ends in the window are left out: they are looked at anew.
type BreakerSnapshot struct {
	State     BreakerState             `json:"state"`
	RetryIn   time.Duration            `json:"retry_in,omitempty"`  // open: until the first probe may go
	Doublings int                      `json:"doublings,omitempty"` // of the next cooldown
	Good      int                      `json:"good,omitempty"`      // half open: probes that went well
	Probes    map[uint64]time.Duration `json:"probes,omitempty"`    // half open: those under way, and for how long
	RampFor   time.Duration            `json:"ramp_for,omitempty"`  // closed: until the ramp is over
}

// Snapshot returns the breaker's state at now.
func (b *Breaker) Snapshot(now time.Time) BreakerSnapshot {
	s := BreakerSnapshot{State: b.State(now), Doublings: b.doublings, Good: b.good}
	if b.state == BreakerOpen {
		s.RetryIn = b.retryAt.Sub(now)
	}
	if !b.rampUntil.IsZero() {
		s.RampFor = b.rampUntil.Sub(now)
	}
	if b.state == BreakerHalfOpen && len(b.calls) > 0 {
		s.Probes = make(map[uint64]time.Duration, len(b.calls))
		for id, begun := range b.calls {
			s.Probes[id] = now.Sub(begun)
		}
	}
	return s
}

// Restore makes the breaker go on from a snapshot. Of the calls under way it knows
// only the probes; a state that it does not know is closed, and no time is longer than
// one that the breaker itself would set.
func (b *Breaker) Restore(s BreakerSnapshot, now time.Time) {
	b.doublings = max(s.Doublings, 0)
	switch s.State {
	case BreakerOpen:
		b.change(BreakerOpen)
		longest := time.Duration((1 + cooldownSpread) * float64(max(b.cfg.Cooldown, longestCooldown)))
		b.retryAt = now.Add(min(max(s.RetryIn, 0), longest))
	case BreakerHalfOpen:
		b.change(BreakerHalfOpen)
		b.good = min(max(s.Good, 0), b.cfg.Probes-1)
		for id, age := range s.Probes {
			b.calls[id] = now.Add(-max(age, 0))
		}
	default:
		b.change(BreakerClosed)
		if s.RampFor <= 0 {
			b.doublings = 0
			return
		}
		b.rampUntil = now.Add(min(s.RampFor, b.rampLength()))
	}
}
