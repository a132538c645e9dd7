package gate

import "time"

// BreakerState says what a breaker lets through.
type BreakerState string

// The states of a breaker.
const (
	BreakerClosed   BreakerState = "closed"    // calls go, all of them or the ramp's share
	BreakerHalfOpen BreakerState = "half_open" // a few probes go
	BreakerOpen     BreakerState = "open"      // nothing goes
)

// The numbers of a breaker that no rule sets.
const (
	windowParts     = 10              // of the window, as failsafe-go counts time
	longestCooldown = 5 * time.Minute // that doubling leads to
	cooldownSpread  = 0.2             // most that jitter adds
	rampStepParts   = 2               // a step of the ramp is this part of the window
)

// rampPercents are the shares of the limit after closing, one step each: all of it
// at once, on the word of a few probes, opens the breaker again.
var rampPercents = [...]int{10, 25, 50, 100}

// advance makes happen what time alone makes happen. A lost probe fails at the moment
// when it has run too long, however late somebody looks.
func (b *Breaker) advance(now time.Time) {
	if b.state == BreakerHalfOpen {
		if at, lost := b.firstLost(now); lost {
			b.probed.Lost++
			b.reopen(at)
		}
	}
	if b.state == BreakerOpen && !now.Before(b.retryAt) {
		b.change(BreakerHalfOpen)
	}
	if !b.rampUntil.IsZero() && !now.Before(b.rampUntil) {
		b.rampUntil = time.Time{}
		b.doublings = 0
	}
}

// firstLost returns when the first probe failed by having no end.
func (b *Breaker) firstLost(now time.Time) (at time.Time, lost bool) {
	for _, begun := range b.calls {
		end := begun.Add(b.cfg.ProbeFor)
		if !now.Before(end) && (!lost || end.Before(at)) {
			at, lost = end, true
		}
	}
	return at, lost
}

func (b *Breaker) reopen(at time.Time) {
	b.doublings++
	b.open(at)
}

func (b *Breaker) open(at time.Time) {
	b.change(BreakerOpen)
	b.retryAt = at.Add(b.cooldown())
}

// change enters a state with nothing of the one before: no calls under way, no ends,
// no good probes, no ramp.
func (b *Breaker) change(to BreakerState) {
	b.state = to
	clear(b.calls)
	b.ended.parts = nil
	b.good = 0
	b.retryAt, b.rampUntil = time.Time{}, time.Time{}
}

// cooldown returns how long the breaker stays open if it opens now.
func (b *Breaker) cooldown() time.Duration {
	c, most := b.cfg.Cooldown, max(b.cfg.Cooldown, longestCooldown)
	for range b.doublings {
		if c > most/2 {
			c = most
			break
		}
		c *= 2
	}
	if b.jitter != nil {
		c += time.Duration(cooldownSpread * b.jitter() * float64(c))
	}
	return c
}

func (b *Breaker) rampStep() time.Duration { return b.cfg.Window / rampStepParts }

// rampLength is that of all steps: full load is borne for a step as well before the
// ramp has gone well.
func (b *Breaker) rampLength() time.Duration { return b.rampStep() * time.Duration(len(rampPercents)) }

// rampShare returns how many of limit may be in flight at now: rounded up, and at
// least 1 unless limit is 0.
func (b *Breaker) rampShare(now time.Time, limit int) int {
	left := b.rampUntil.Sub(now)
	if b.rampUntil.IsZero() || left <= 0 || limit <= 0 {
		return limit
	}
	toCome := int((left - 1) / max(b.rampStep(), 1)) // steps after the present one
	percent := rampPercents[max(len(rampPercents)-1-toCome, 0)]
	return limit/100*percent + (limit%100*percent+99)/100
}
