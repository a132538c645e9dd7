package gate

import (
	"math"
	"time"
)

// rate is how fast things may go: burst at once, and one more each every. The zero value
// is no limit.
type rate struct {
	every time.Duration
	burst int
}

// slowestEvery bounds what a small factor makes of a rate.
const slowestEvery = 24 * time.Hour

// newRate is perSecond in whole nanoseconds, rounded up: nothing goes faster than it may.
// 0 is no limit.
func newRate(perSecond, burst int) rate {
	if perSecond == 0 {
		return rate{}
	}
	every := (time.Second + time.Duration(perSecond) - 1) / time.Duration(perSecond)
	return rate{every: every, burst: max(burst, 1)}
}

// slowed is the rate at a part of its speed and of its burst.
func (r rate) slowed(factor float64) rate {
	if r.every == 0 || factor <= 0 || factor >= 1 {
		return r
	}
	return rate{
		every: time.Duration(min(math.Ceil(float64(r.every)/factor), float64(slowestEvery))),
		burst: max(int(float64(r.burst)*factor+tiny), 1),
	}
}

// tiny makes up for numbers that have no exact form in binary, such as 0.29 × 100.
const tiny = 1e-9

// whole is how long an empty bucket takes to be full.
func (r rate) whole() time.Duration { return r.every * time.Duration(r.burst) }

// bucket holds the permission to go: a burst when it is full. All that it keeps is when it
// is full again, so that it takes one time, is never rounded, and is worth forgetting as
// soon as that time has passed. It is not safe for concurrent use.
type bucket struct{ fullAt time.Time }

// opensAt returns when one more may go, if none goes before: now, or later.
func (b bucket) opensAt(r rate, now time.Time) time.Time {
	if r.every == 0 {
		return now
	}
	return later(now, later(b.fullAt, now).Add(r.every-r.whole()))
}

func (b *bucket) take(r rate, now time.Time) {
	if r.every > 0 {
		b.fullAt = later(b.fullAt, now).Add(r.every)
	}
}

// giveBack undoes a take, less the time since: who can tell what the bucket would have
// run over by then. So no stretch of time ever has more than without the take.
func (b *bucket) giveBack(r rate, takenAt, now time.Time) {
	b.fullAt = b.fullAt.Add(-max(0, r.every-max(0, now.Sub(takenAt))))
}

// empty takes the bucket to have been empty at a time.
func (b *bucket) empty(r rate, at time.Time) { b.fullAt = later(b.fullAt, at.Add(r.whole())) }

// change makes the bucket one of another rate: what was taken from it stays taken.
func (b *bucket) change(from, to rate, now time.Time) {
	missing := b.fullAt.Sub(now)
	if from.every == 0 || missing <= 0 {
		return
	}
	taken := min((missing+from.every-1)/from.every, time.Duration(to.burst))
	b.fullAt = now.Add(taken * to.every)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
