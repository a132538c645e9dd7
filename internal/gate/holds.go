package gate

import (
	"slices"
	"time"
)

// holdsKept is how many of the latest times in use are looked at, and holdsNeeded from
// how many on nobody is refused for them.
const (
	holdsKept   = 128
	holdsNeeded = 8
)

// leastHold is the shortest time that a call takes: a permit that comes back sooner was
// not used, and tells nothing.
const leastHold = 5 * time.Millisecond

// holds remembers for how long the latest permits of a vendor were in use.
type holds struct {
	times []time.Duration // a ring once it is full
	next  int
	p75   time.Duration
	stale bool
}

func (h *holds) add(d time.Duration) {
	if d < leastHold {
		return
	}
	h.stale = true
	if len(h.times) < holdsKept {
		h.times = append(h.times, d)
		return
	}
	h.times[h.next] = d
	h.next = (h.next + 1) % holdsKept
}

// upper returns the third quartile, not the mean: times in use are skewed, and a
// prediction from the mean lets in who then waits in vain. 0: fewer than needed are known.
func (h *holds) upper(needed int) time.Duration {
	if len(h.times) < needed {
		return 0
	}
	if h.stale {
		sorted := slices.Sorted(slices.Values(h.times))
		h.p75, h.stale = sorted[len(sorted)*3/4], false
	}
	return h.p75
}
