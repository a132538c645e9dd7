package valve

import (
	"math"
	"time"
)

// maxCalls is how many calls a window remembers: some 160 a second over five minutes.
// Beyond it the oldest are forgotten early, and the window is shorter than its time.
const maxCalls = 50_000

// Times to the first token are counted in steps of a twentieth, from a millisecond on: a
// percentile is known to 5 %, always from above.
const (
	tokenBase  = time.Millisecond
	tokenRatio = 1.05
	tokenSteps = 300 // up to some 38 minutes
)

// Call is a call of a vendor on behalf of a customer that waits, and how it ended.
type Call struct {
	Failed bool
	// FirstToken is the time to it; 0: none came, or the call was not streamed.
	FirstToken time.Duration
}

// calls are those of a sliding window. It is not safe for concurrent use.
type calls struct {
	window time.Duration
	all    []past // a ring
	first  int
	count  int
	failed int
	timed  int
	steps  [tokenSteps]int
}

// past is a call in the window.
type past struct {
	at     time.Time
	step   int16 // none: no first token
	failed bool
}

const none = -1

func (c *calls) add(call Call, now time.Time) {
	c.forget(now)
	if c.count == maxCalls {
		c.drop()
	}
	p := past{at: now, step: none, failed: call.Failed}
	if call.FirstToken > 0 && !call.Failed {
		p.step = int16(stepOf(call.FirstToken))
		c.timed++
		c.steps[p.step]++
	}
	if p.failed {
		c.failed++
	}
	if c.count == len(c.all) {
		c.grow()
	}
	c.all[(c.first+c.count)%len(c.all)] = p
	c.count++
}

// grow doubles the ring, and lays it out from its first call.
func (c *calls) grow() {
	larger := make([]past, min(max(64, 2*len(c.all)), maxCalls))
	for i := range c.count {
		larger[i] = c.all[(c.first+i)%len(c.all)]
	}
	c.all, c.first = larger, 0
}

// forget drops what is older than the window at now.
func (c *calls) forget(now time.Time) {
	for c.count > 0 && now.Sub(c.all[c.first].at) >= c.window {
		c.drop()
	}
}

func (c *calls) drop() {
	p := c.all[c.first]
	if p.failed {
		c.failed--
	}
	if p.step != none {
		c.timed--
		c.steps[p.step]--
	}
	c.first = (c.first + 1) % len(c.all)
	c.count--
}

// errors returns the part of the calls that failed.
func (c *calls) errors() float64 {
	if c.count == 0 {
		return 0
	}
	return float64(c.failed) / float64(c.count)
}

// p99 returns the 99th percentile of the times to the first token, at most 5 % too long.
func (c *calls) p99() time.Duration {
	rank := (c.timed*99 + 99) / 100
	for step, n := range c.steps {
		if rank -= n; rank <= 0 && n > 0 {
			return atMost(step)
		}
	}
	return 0
}

// next returns when the oldest call leaves the window; the zero time: there is none.
func (c *calls) next() time.Time {
	if c.count == 0 {
		return time.Time{}
	}
	return c.all[c.first].at.Add(c.window)
}

func stepOf(d time.Duration) int {
	step := int(math.Ceil(math.Log(float64(d)/float64(tokenBase)) / math.Log(tokenRatio)))
	return min(max(step, 0), tokenSteps-1)
}

// atMost is the longest time of a step.
func atMost(step int) time.Duration {
	return time.Duration(float64(tokenBase) * math.Pow(tokenRatio, float64(step)))
}
