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

// side is what one turn on a way came to.
type side struct {
	took  []time.Duration // by each call, sorted
	aside []time.Duration // what of it was not with the vendor's client, sorted
	spent reading
}

// turn makes the calls of one turn, as many at once as the trial says. Where the vendor
// takes its time the callers begin one after the other, as customers do, not all at once.
func (tr trial) turn(ctx context.Context, r *rig, w way) (side, error) {
	before, err := r.read(w)
	if err != nil {
		return side{}, err
	}
	sides, errs := make([]side, tr.flight), make([]error, tr.flight)
	var callers sync.WaitGroup
	for i := range tr.flight {
		callers.Go(func() {
			wait := time.NewTimer(tr.delay() * time.Duration(i) / time.Duration(tr.flight))
			defer wait.Stop()
			<-wait.C
			sides[i], errs[i] = tr.caller(ctx, w)
		})
	}
	callers.Wait()
	after, err := r.read(w)
	all := side{spent: after.since(before)}
	for _, s := range sides {
		all.took, all.aside = append(all.took, s.took...), append(all.aside, s.aside...)
	}
	slices.Sort(all.took)
	slices.Sort(all.aside)
	return all, errors.Join(append(errs, err)...)
}

// caller makes one caller's calls of a turn.
func (tr trial) caller(ctx context.Context, w way) (side, error) {
	var s side
	messages := conversation()
	for range tr.calls / tr.flight {
		var client time.Duration
		begun := time.Now()
		if err := w.once(withClock(ctx, &client), messages, tr.stream); err != nil {
			return s, err
		}
		took := time.Since(begun)
		s.took, s.aside = append(s.took, took), append(s.aside, took-client)
	}
	return s, nil
}

// reading is how the counters stand.
type reading struct {
	own, child, vendor time.Duration // CPU of this process, of what stands between, of the vendor
	bytes, allocs      uint64
}

func (r *rig) read(w way) (got reading, err error) {
	if w.child != nil {
		if got.child, err = w.child.cpu(); err != nil {
			return got, err
		}
	}
	if got.vendor, err = r.vendors.cpu(); err != nil {
		return got, err
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	got.bytes, got.allocs = mem.TotalAlloc, mem.Mallocs
	got.own, err = ownCPU()
	return got, err
}

func (r reading) since(before reading) reading {
	return reading{
		own: r.own - before.own, child: r.child - before.child, vendor: r.vendor - before.vendor,
		bytes: r.bytes - before.bytes, allocs: r.allocs - before.allocs,
	}
}

// pair is a turn of direct calls and one on a way, made one after the other.
type pair struct{ straight, through side }

// measure takes turns between the direct way and w, so that whatever else the machine
// does meets both.
func (tr trial) measure(b *testing.B, r *rig, base, w way) figures {
	do := func(tr trial, w way) side {
		s, err := tr.turn(b.Context(), r, w)
		if err != nil {
			b.Fatalf("%s: %v; it says: %s", w.name, err, w.said())
		}
		return s
	}
	warm := tr
	warm.calls = tr.flight
	do(warm, base)
	do(warm, w)
	var pairs []pair
	for b.Loop() {
		for i := range tr.turns {
			var p pair
			if i%2 == 0 {
				p.straight = do(tr, base)
			}
			p.through = do(tr, w)
			if i%2 == 1 {
				p.straight = do(tr, base)
			}
			pairs = append(pairs, p)
		}
	}
	return compare(pairs, w)
}
