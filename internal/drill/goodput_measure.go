package drill

import (
	"net/http"
	"time"
)

// measure counts what came of the visits of one load. The capacity is what the permits
// allow in the window with calls as long as the vendor's were. Answers are counted by the
// parts of their calls that lie in it: at its edges they would else count whole or not at
// all.
func measure(all []visit, v *vendor, w measured, limit time.Duration) GoodputResult {
	calls := v.between(w.begun, w.over)
	g := GoodputResult{MaxInFlight: mostInFlight(calls, w.from, w.to)}
	var firsts, told []time.Duration
	for _, x := range all {
		if x.high {
			g.High++
		}
		switch {
		case x.fault != nil:
			g.Faults++
			g.fault = x.fault
		case x.useful():
			g.Useful++
			firsts = append(firsts, x.first)
			if x.high {
				g.HighUseful++
			}
		case x.degraded():
			g.Degraded++
			told = append(told, x.told(limit))
		case x.left:
			g.Left++
		default:
			g.Refused++
		}
	}
	g.FirstP50MS, g.FirstP95MS = quantile(firsts, 0.5).Milliseconds(), quantile(firsts, 0.95).Milliseconds()
	g.ToldP95MS = quantile(told, 0.95).Milliseconds()
	g.time(calls, v.permits, w)
	return g
}

// time fills in what of the vendor's time in the window went into useful answers.
func (g *GoodputResult) time(calls []call, permits int, w measured) {
	var whole, inside time.Duration
	completed := 0
	for _, c := range calls {
		if c.status == http.StatusOK && !c.left && !c.end.IsZero() {
			completed++
			whole += c.took()
			inside += max(0, minTime(c.end, w.to).Sub(maxTime(c.at, w.from)))
		}
	}
	if completed == 0 {
		return
	}
	mean := whole.Seconds() / float64(completed)
	room := float64(permits) * w.to.Sub(w.from).Seconds()
	useful := inside.Seconds() * float64(min(g.Useful, completed)) / float64(completed)
	g.MeanMS, g.Capacity = 1000*mean, room/mean
	g.Answers, g.Percent = useful/mean, 100*useful/room
}

// measured is the time of a load that is looked at, within all of it.
type measured struct{ begun, from, to, over time.Time }

// spansOf makes spans of calls: one that was cut had nobody there for its answer.
func spansOf(calls []call) []span {
	all := make([]span, len(calls))
	for i, c := range calls {
		all[i] = span{c.at, c.end, c.left}
		if c.end.IsZero() {
			all[i].to = time.Now()
		}
	}
	return all
}

// gonePercent is the part of the vendor's time in a window that went to customers who had
// left.
func gonePercent(all []span, w measured) float64 {
	var busy, gone time.Duration
	for _, s := range all {
		part := minTime(s.to, w.to).Sub(maxTime(s.from, w.from))
		if part <= 0 {
			continue
		}
		busy += part
		if s.gone {
			gone += part
		}
	}
	if busy == 0 {
		return 0
	}
	return 100 * gone.Seconds() / busy.Seconds()
}
