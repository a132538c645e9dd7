//go:build linux

package rival

import (
	"cmp"
	"slices"
	"testing"
	"time"
)

// figures are what a way adds to a call that goes directly. Each is the median over pairs
// of turns: a neighbour on the machine who spoils some of them spoils no figure.
type figures struct {
	p50, p99             time.Duration // of the calls on the way
	addedP50, addedP99   time.Duration
	insideP50, insideP99 time.Duration // of what stands between in this process alone; 0: nothing
	cpu                  time.Duration // of one call: what stands between, in whichever process
	vendor               time.Duration // CPU of the vendor for one call
	mean                 time.Duration
	bytes, allocs        float64 // of one call in this process, the caller's own included
}

// compare makes the figures of a way.
func compare(pairs []pair, w way) figures {
	f := figures{
		p50:      median(pairs, func(p pair) time.Duration { return at(p.through.took, 0.5) }),
		p99:      median(pairs, func(p pair) time.Duration { return at(p.through.took, 0.99) }),
		addedP50: median(pairs, func(p pair) time.Duration { return at(p.through.took, 0.5) - at(p.straight.took, 0.5) }),
		addedP99: median(pairs, func(p pair) time.Duration { return at(p.through.took, 0.99) - at(p.straight.took, 0.99) }),
		mean:     median(pairs, func(p pair) time.Duration { return p.through.mean() }),
		vendor:   median(pairs, func(p pair) time.Duration { return p.through.call(p.through.spent.vendor) }),
		bytes:    median(pairs, func(p pair) float64 { return p.through.share(p.through.spent.bytes) }),
		allocs:   median(pairs, func(p pair) float64 { return p.through.share(p.through.spent.allocs) }),
	}
	if w.inside {
		f.insideP50 = median(pairs, func(p pair) time.Duration { return at(p.through.aside, 0.5) })
		f.insideP99 = median(pairs, func(p pair) time.Duration { return at(p.through.aside, 0.99) })
	}
	// A process between has done nothing but these calls. In this one the caller's own
	// work, and what broker and controller do anyhow, is on both sides.
	f.cpu = median(pairs, func(p pair) time.Duration {
		if w.child != nil {
			return p.through.call(p.through.spent.child)
		}
		return p.through.call(p.through.spent.own) - p.straight.call(p.straight.spent.own)
	})
	return f
}

// at returns the value below which that share of sorted values lies.
func at(sorted []time.Duration, share float64) time.Duration {
	return sorted[min(int(float64(len(sorted))*share), len(sorted)-1)]
}

func (s side) mean() time.Duration {
	var sum time.Duration
	for _, d := range s.took {
		sum += d
	}
	return s.call(sum)
}

// call returns what comes to one call.
func (s side) call(sum time.Duration) time.Duration { return sum / time.Duration(len(s.took)) }

func (s side) share(sum uint64) float64 { return float64(sum) / float64(len(s.took)) }

func median[T any, V cmp.Ordered](all []T, of func(T) V) V {
	values := make([]V, len(all))
	for i, one := range all {
		values[i] = of(one)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (f figures) report(b *testing.B) {
	// The built-in figures would be those of a whole round of turns.
	b.ReportMetric(float64(f.mean), "ns/op")
	b.ReportMetric(f.bytes, "B/op")
	b.ReportMetric(f.allocs, "allocs/op")
	b.ReportMetric(float64(f.p50), "p50-ns")
	b.ReportMetric(float64(f.p99), "p99-ns")
	b.ReportMetric(float64(f.addedP50), "added-p50-ns")
	b.ReportMetric(float64(f.addedP99), "added-p99-ns")
	b.ReportMetric(float64(f.cpu), "added-cpu-ns/op")
	if f.insideP50 > 0 {
		b.ReportMetric(float64(f.insideP50), "inside-p50-ns")
		b.ReportMetric(float64(f.insideP99), "inside-p99-ns")
	}
	b.ReportMetric(float64(f.vendor), "vendor-cpu-ns/op")
}
