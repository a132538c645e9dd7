package gate

import "time"

// Breaker keeps calls away from a vendor or a tool that fails or crawls. It looks at
// the ends of calls, never at their beginnings: a breaker that counts calls under way
// stays shut while 48 hung streams outweigh 40 failures (measured on gobreaker 2.4).
//
// Each change of state forgets which calls are under way, so the end of a call that
// began before says nothing: elsewhere, streams from before the opening have closed a
// half-open breaker (measured on failsafe-go 0.9.8).
//
// It remembers every call between Begin and End: its caller bounds them, by permits, and
// must End those whose holder is lost. It is not safe for concurrent use.
type Breaker struct {
	cfg       BreakerConfig
	jitter    func() float64
	state     BreakerState
	calls     map[uint64]time.Time // under way → begun; half open: the probes
	ended     sliding[tally]       // closed: the ends that are looked at
	good      int                  // half open: probes that went well
	retryAt   time.Time            // open: when the first probe may go
	doublings int                  // of the cooldown, by probes that failed
	rampUntil time.Time            // closed: when the ramp is over; zero: there is none
	probed    Probed
}

// Probed counts the probes of a breaker since it was made.
type Probed struct {
	Good   uint64
	Failed uint64 // or slow
	Lost   uint64 // had no end in time
}

// tally counts ends of calls.
type tally struct{ all, failed, slow int }

// NewBreaker returns a closed breaker. jitter draws from [0,1) how much of the spread
// is added to each cooldown, so that breakers which opened together do not probe
// together; nil adds nothing.
func NewBreaker(cfg BreakerConfig, jitter func() float64) *Breaker {
	b := &Breaker{jitter: jitter, state: BreakerClosed, calls: map[uint64]time.Time{}}
	b.SetConfig(cfg)
	return b
}

// SetConfig puts other rules in force. State, counts and a running cooldown stay.
func (b *Breaker) SetConfig(cfg BreakerConfig) {
	b.cfg = cfg.complete()
	b.ended.length, b.ended.width = b.cfg.Window, b.cfg.Window/windowParts
}

// State returns the state at now: a cooldown that is over ends, and so does the state
// of a probe that has run too long.
func (b *Breaker) State(now time.Time) BreakerState {
	b.advance(now)
	return b.state
}

// Allow reports whether one more call may begin while inFlight of limit run. It
// changes no count: only Begin does.
func (b *Breaker) Allow(now time.Time, inFlight, limit int) bool {
	switch b.State(now) {
	case BreakerClosed:
		return inFlight < b.rampShare(now, limit)
	case BreakerHalfOpen:
		return len(b.calls) < b.cfg.Probes
	}
	return false
}

// Most returns how many of limit calls may be in flight at now.
func (b *Breaker) Most(now time.Time, limit int) int {
	switch b.State(now) {
	case BreakerClosed:
		return b.rampShare(now, limit)
	case BreakerHalfOpen:
		return min(b.cfg.Probes, limit)
	}
	return 0
}

// Begin notes that a call was let in; half open it is a probe.
func (b *Breaker) Begin(id uint64, now time.Time) {
	b.advance(now)
	b.calls[id] = now
}

// End notes how a call ended. Ids that are unknown, or have ended, do nothing.
func (b *Breaker) End(id uint64, o Outcome, now time.Time) {
	b.advance(now)
	if _, underWay := b.calls[id]; !underWay {
		return
	}
	delete(b.calls, id)
	if o != Good && o != Slow && o != Failed {
		return
	}
	switch b.state {
	case BreakerClosed:
		b.count(o, now)
	case BreakerHalfOpen:
		b.judge(o, now)
	}
}

// count enters an end of the closed state, and opens if a share is reached.
func (b *Breaker) count(o Outcome, now time.Time) {
	b.ended.leave(now)
	t := b.ended.at(now)
	t.all++
	switch o {
	case Failed:
		t.failed++
	case Slow:
		t.slow++
	}
	if b.tooBad() {
		b.open(now)
	}
}

// tooBad reports whether enough calls ended in the window and a share is reached. The
// shares are quotients because 7 of 100 is then exactly the 0.07 of the rules.
func (b *Breaker) tooBad() bool {
	var sum tally
	for _, p := range b.ended.parts {
		sum.all += p.sum.all
		sum.failed += p.sum.failed
		sum.slow += p.sum.slow
	}
	all := float64(sum.all)
	return sum.all >= b.cfg.MinCalls &&
		(float64(sum.failed)/all >= b.cfg.Failures || float64(sum.slow)/all >= b.cfg.Slow)
}

// judge closes after enough good probes and opens again after one that was not.
func (b *Breaker) judge(o Outcome, now time.Time) {
	if o != Good {
		b.probed.Failed++
		b.reopen(now)
		return
	}
	b.probed.Good++
	if b.good++; b.good >= b.cfg.Probes {
		b.change(BreakerClosed)
		b.rampUntil = now.Add(b.rampLength())
	}
}

// Trip opens the breaker at an operator's word. After the cooldown probes go as ever.
func (b *Breaker) Trip(now time.Time) {
	b.advance(now)
	b.open(now)
}

// Reset closes the breaker at an operator's word, at once, without a ramp.
func (b *Breaker) Reset(now time.Time) {
	b.advance(now)
	b.change(BreakerClosed)
	b.doublings = 0
}

// RetryAt returns when the first probe may go while the breaker is open, else zero.
func (b *Breaker) RetryAt(now time.Time) time.Time {
	if b.State(now) != BreakerOpen {
		return time.Time{}
	}
	return b.retryAt
}
