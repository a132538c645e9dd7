package plan

import (
	"math"
	"time"
)

// line is a waiting line before a number of permits, as A. K. Erlang described it in 1917
// (M/M/c): messages come by chance, calls take a time of exponential spread. Real calls
// spread less, so waits are rather shorter than these; bursts make them longer.
type line struct {
	permits int           // at least 1
	rate    float64       // calls a second that come in
	call    time.Duration // mean
}

// busy is the share of the permits that is in use on average; from 1 on the line grows
// without end.
func (l line) busy() float64 { return l.rate * l.call.Seconds() / float64(l.permits) }

// waits is the probability that a call finds every permit in use (Erlang's C).
func (l line) waits() float64 {
	if l.busy() >= 1 {
		return 1
	}
	offered := l.rate * l.call.Seconds()
	blocked := 1.0 // Erlang's B, by the recurrence over the number of permits
	for k := 1; k <= l.permits; k++ {
		blocked = offered * blocked / (float64(k) + offered*blocked)
	}
	return blocked / (1 - l.busy()*(1-blocked))
}

// spare is how many more calls a second could be taken.
func (l line) spare() float64 { return float64(l.permits)/l.call.Seconds() - l.rate }

// longer is the share of calls that wait longer than d; where more come in than can be
// taken, the share that cannot be, since whoever waited too long leaves the line.
func (l line) longer(d time.Duration) float64 {
	if l.busy() >= 1 {
		return 1 - 1/l.busy()
	}
	return l.waits() * math.Exp(-l.spare()*d.Seconds())
}

// quantile is the wait that a share of all calls does not exceed; negative: there is no end
// to it.
func (l line) quantile(share float64) time.Duration {
	if l.busy() >= 1 {
		return -1
	}
	if l.waits() <= 1-share {
		return 0
	}
	return time.Duration(math.Log(l.waits()/(1-share)) / l.spare() * float64(time.Second))
}
