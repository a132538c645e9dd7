//go:build linux

package rival

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/internal/control"
)

// rig is what all measurements share.
type rig struct {
	vendors *vendors
	member  *control.Member
}

func newRig(t testing.TB) *rig {
	t.Helper()
	return &rig{vendors: startVendors(t), member: startMember(t)}
}

// trial is what is done on each way.
type trial struct {
	vendor string
	stream bool
	flight int // calls at once
	calls  int // of one turn
	turns  int
}

// delay is what the vendor of the trial takes for an answer.
func (tr trial) delay() time.Duration {
	if tr.vendor == usual {
		return usualDelay
	}
	return 0
}

// side is what was measured of one way.
type side struct {
	took   []time.Duration // of each call
	own    time.Duration   // CPU of this process, the caller's own work included
	child  time.Duration   // CPU of what stands between
	bytes  uint64
	allocs uint64
}

// turn makes the calls of one turn, as many at once as the trial says. Where the vendor
// takes its time the callers begin one after the other, as customers do, not all at once.
func (tr trial) turn(ctx context.Context, w way, into *side) error {
	messages := conversation()
	took, errs := make([][]time.Duration, tr.flight), make([]error, tr.flight)
	before, err := read(w)
	if err != nil {
		return err
	}
	var callers sync.WaitGroup
	for i := range tr.flight {
		callers.Go(func() {
			wait := time.NewTimer(tr.delay() * time.Duration(i) / time.Duration(tr.flight))
			defer wait.Stop()
			<-wait.C
			for range tr.calls / tr.flight {
				begun := time.Now()
				if errs[i] = w.once(ctx, messages, tr.stream); errs[i] != nil {
					return
				}
				took[i] = append(took[i], time.Since(begun))
			}
		})
	}
	callers.Wait()
	after, err := read(w)
	into.add(before, after)
	into.took = append(into.took, slices.Concat(took...)...)
	return errors.Join(append(errs, err)...)
}

// reading is how the counters stand.
type reading struct {
	own, child    time.Duration
	bytes, allocs uint64
}

func read(w way) (r reading, err error) {
	if w.child != nil {
		if r.child, err = w.child.cpu(); err != nil {
			return r, err
		}
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	r.bytes, r.allocs = mem.TotalAlloc, mem.Mallocs
	r.own, err = ownCPU()
	return r, err
}

func (s *side) add(before, after reading) {
	s.own += after.own - before.own
	s.child += after.child - before.child
	s.bytes += after.bytes - before.bytes
	s.allocs += after.allocs - before.allocs
}

// figures are what a way adds to a call that goes directly.
type figures struct {
	p50, p99           time.Duration // of the calls on the way
	addedP50, addedP99 time.Duration
	cpu                time.Duration // of one call: what stands between, in whichever process
	mean               time.Duration
	bytes, allocs      float64 // of one call in this process, the caller's own included
}

// measure takes turns between the direct way and w, so that whatever else the machine
// does meets both.
func (tr trial) measure(b *testing.B, base, w way) figures {
	var straight, through side
	do := func(w way, into *side) {
		if err := tr.turn(b.Context(), w, into); err != nil {
			b.Fatal(err)
		}
	}
	warm := tr
	warm.calls = tr.flight
	if err := errors.Join(warm.turn(b.Context(), base, &side{}), warm.turn(b.Context(), w, &side{})); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for i := range tr.turns {
			first, second := func() { do(base, &straight) }, func() { do(w, &through) }
			if i%2 == 1 {
				first, second = second, first
			}
			first()
			second()
		}
	}
	return compare(straight, through, w)
}

func compare(straight, through side, w way) figures {
	slices.Sort(straight.took)
	slices.Sort(through.took)
	n := len(through.took)
	f := figures{p50: at(through.took, 0.5), p99: at(through.took, 0.99)}
	f.addedP50, f.addedP99 = f.p50-at(straight.took, 0.5), f.p99-at(straight.took, 0.99)
	// A process between has done nothing but these calls. In this one the caller's own
	// work, and what broker and controller do anyhow, is on both sides.
	f.cpu = through.child / time.Duration(n)
	if w.child == nil {
		f.cpu = through.own/time.Duration(n) - straight.own/time.Duration(len(straight.took))
	}
	var sum time.Duration
	for _, d := range through.took {
		sum += d
	}
	f.mean = sum / time.Duration(n)
	f.bytes, f.allocs = float64(through.bytes)/float64(n), float64(through.allocs)/float64(n)
	return f
}

// at returns the value below which that share of sorted values lies.
func at(sorted []time.Duration, share float64) time.Duration {
	return sorted[min(int(float64(len(sorted))*share), len(sorted)-1)]
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
}
