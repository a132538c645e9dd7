package drill

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// quantile is by nearest rank; 0 of nothing is 0.
func quantile(of []time.Duration, share float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	rank := int(math.Ceil(share*float64(len(sorted)))) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}

func sortedKeys[K cmp.Ordered, V any](of map[K]V) []K { return slices.Sorted(maps.Keys(of)) }

// mostInFlight returns the most of calls that ran at once between two instants.
func mostInFlight(calls []call, from, to time.Time) int {
	type step struct {
		at time.Time
		by int
	}
	var steps []step
	for _, c := range calls {
		if !c.at.Before(to) || (!c.end.IsZero() && !c.end.After(from)) {
			continue
		}
		begun := c.at
		if begun.Before(from) {
			begun = from
		}
		steps = append(steps, step{begun, 1})
		if !c.end.IsZero() {
			steps = append(steps, step{c.end, -1})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.by, b.by)) })
	now, most := 0, 0
	for _, s := range steps {
		if !s.at.Before(to) {
			break
		}
		now += s.by
		most = max(most, now)
	}
	return most
}

// silence returns how many of calls came from one instant on before the first pause of at
// least so long, and when that began. A pause that lasts up to the other instant counts.
func silence(calls []call, from, to time.Time, least time.Duration) (before int, since time.Time, found bool) {
	last := from
	for _, c := range calls {
		if c.at.Before(from) || !c.at.Before(to) {
			continue
		}
		if c.at.Sub(last) >= least {
			return before, last, true
		}
		before++
		last = c.at
	}
	if to.Sub(last) >= least {
		return before, last, true
	}
	return before, last, false
}

// nth returns the n-th of the calls, counted from 1, that came after an instant and were
// answered well, by the order of their ends.
func nth(calls []call, n int, after time.Time) (call, bool) {
	var good []call
	for _, c := range calls {
		if c.at.After(after) && c.status == 200 && !c.left && !c.end.IsZero() {
			good = append(good, c)
		}
	}
	slices.SortFunc(good, func(a, b call) int { return a.end.Compare(b.end) })
	if len(good) < n {
		return call{}, false
	}
	return good[n-1], true
}

// calledBetween counts the calls that came in a span.
func calledBetween(calls []call, from, to time.Time) (n int) {
	for _, c := range calls {
		if !c.at.Before(from) && c.at.Before(to) {
			n++
		}
	}
	return n
}

// arrivals returns when the calls came, in order.
func arrivals(calls []call) []time.Time {
	all := make([]time.Time, len(calls))
	for i, c := range calls {
		all[i] = c.at
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
