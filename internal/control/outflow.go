package control

import "time"

// Limits of what is learned of a lane's outflow.
const (
	outflowFor   = 30 * time.Second // the past that counts
	outflowLeast = time.Second      // less than that tells nothing
)

// outflow is how fast tickets have left a lane of late: by the counts of its stream, so
// whoever answered them, and however. It is not safe for concurrent use.
type outflow struct {
	past []gone // oldest first; the first may be older than outflowFor, so that the past is whole
	load lanePlaces
}

// gone is how many had left the lane at a time since it was made.
type gone struct {
	at    time.Time
	count uint64
}

// lanePlaces is how full the lane was last.
type lanePlaces struct{ depth, bound int }

// add takes in what the lane tells at now. A count that falls is that of another stream.
func (o *outflow) add(count uint64, depth, bound int, now time.Time) {
	if n := len(o.past); n > 0 && count < o.past[n-1].count {
		o.past = nil
	}
	o.past, o.load = append(o.past, gone{now, count}), lanePlaces{depth, bound}
	for len(o.past) > 1 && now.Sub(o.past[1].at) >= outflowFor {
		o.past = o.past[1:]
	}
}

// room returns when a lane that is full has a place again, as fast as it has emptied of
// late: the places that are missing ÷ that rate. ok is false while too little is known; a
// lane that nothing has left for all of outflowFor is taken to need as long again.
func (o *outflow) room() (wait time.Duration, ok bool) {
	if len(o.past) == 0 {
		return 0, false
	}
	oldest, newest := o.past[0], o.past[len(o.past)-1]
	span, left := newest.at.Sub(oldest.at), newest.count-oldest.count
	switch {
	case left == 0 && span >= outflowFor:
		return outflowFor, true
	case left == 0 || span < outflowLeast:
		return 0, false
	}
	needed := max(1, o.load.depth-o.load.bound+1)
	return time.Duration(float64(needed) * float64(span) / float64(left)), true
}
