package gate

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestCallsInASecond(t *testing.T) {
	t.Parallel()
	w := NewCallWindow(2)
	for _, c := range []struct {
		at     time.Duration
		goes   bool
		nextAt time.Duration
	}{
		{0, true, 0},
		{600 * time.Millisecond, true, 600 * time.Millisecond},
		{callSecond - 1, false, callSecond},
		{callSecond, true, callSecond}, // the first is old enough
		// A window that begins with each tick would let two more go here.
		{1200 * time.Millisecond, false, callSecond + 600*time.Millisecond},
		{callSecond + 600*time.Millisecond - 1, false, callSecond + 600*time.Millisecond},
		{callSecond + 600*time.Millisecond, true, callSecond + 600*time.Millisecond},
	} {
		now := at(c.at)
		if got := w.NextAt(now); !got.Equal(at(c.nextAt)) {
			t.Errorf("at %s the next may go at %s, want %s", c.at, got.Sub(begin), c.nextAt)
		}
		if got := w.Room(now); got != c.goes {
			t.Errorf("at %s room: %v, want %v", c.at, got, c.goes)
		}
		if c.goes {
			w.Take(now)
		}
	}
}

func TestOtherCallsInASecond(t *testing.T) {
	t.Parallel()
	w := NewCallWindow(0)
	for range 100 {
		if !w.Room(begin) || !w.NextAt(begin).Equal(begin) {
			t.Fatal("a window without a limit has no room")
		}
		w.Take(begin)
	}
	w.SetLimit(100) // what went before counts
	if w.Room(at(callSecond - 1)) {
		t.Error("a limit that was set later does not know the last second")
	}
	if !w.Room(at(callSecond)) {
		t.Error("no room a second later")
	}
	w.SetLimit(-5)
	if !w.Room(begin) {
		t.Error("a negative limit is one")
	}
}

func TestAGreedyCallerGetsNearlyTheWholeQuota(t *testing.T) {
	t.Parallel()
	for _, qps := range []int{1, 3, 50, 1000} {
		w, n := NewCallWindow(qps), 0
		for now := begin; now.Before(at(10 * time.Second)); now = now.Add(100 * time.Microsecond) {
			if w.Room(now) {
				w.Take(now)
				n++
			}
		}
		if n > 10*qps || n < 10*qps*9/10 {
			t.Errorf("%d calls in 10 s at %d a second", n, qps)
		}
		if got := len(w.spending.parts.parts); got > 112 {
			t.Errorf("%d parts are kept, want at most 112", got)
		}
	}
}

// facts/overload.md row 6: litellm#40291, #27736: each of four nodes looked at its own
// counter, and the limit was four limits. Here all four ask the one window, in any
// order: ε is 0, in every window of a second and not only in those of a clock.
func TestFourNodesShareOneQuota(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		qps := rapid.IntRange(1, 20).Draw(t, "qps")
		w, now := NewCallWindow(qps), begin
		var took []time.Time
		for range rapid.IntRange(1, 300).Draw(t, "asks") {
			now = now.Add(time.Duration(rapid.IntRange(0, 60_000).Draw(t, "µs")) * time.Microsecond)
			for range 4 {
				exact := begun(took, now, callSecond)
				room := w.Room(now)
				if room && exact >= qps {
					t.Fatalf("room although %d of %d began in the last 1.1 s", exact, qps)
				}
				if longer := begun(took, now, callSecond+callPart); !room && longer < qps {
					t.Fatalf("no room although only %d of %d began in the last 1.11 s", longer, qps)
				}
				if next := w.NextAt(now); room != next.Equal(now) || next.After(now.Add(callSecond+callPart)) {
					t.Fatalf("room %v, but the next may go in %s", room, next.Sub(now))
				}
				if room {
					w.Take(now)
					took = append(took, now)
				}
			}
			if rapid.IntRange(0, 20).Draw(t, "change") == 0 { // of controller
				shot := w.Snapshot(now)
				w = NewCallWindow(qps)
				w.Restore(shot, now)
			}
		}
		for _, end := range took {
			if n := begun(took, end, callSecond); n > qps {
				t.Fatalf("%d calls in the 1.1 s up to %s, want at most %d", n, end.Sub(begin), qps)
			}
		}
	})
}

// begun counts what began in the length up to now, its far end left out.
func begun(all []time.Time, now time.Time, length time.Duration) int {
	n := 0
	for _, at := range slices.Backward(all) {
		if !at.After(now) && now.Sub(at) < length {
			n++
		}
	}
	return n
}

func TestManyChangesOfControllerDoNotStretchTheSecond(t *testing.T) {
	t.Parallel()
	w, now := NewCallWindow(1000), begin
	for range 400 {
		w.Take(now)
		shot := overWire(t, w.Snapshot(now))
		w = NewCallWindow(1000)
		w.Restore(shot, now)
		now = now.Add(5 * time.Millisecond)
	}
	if used := w.spending.used; used < 220 || used > 222 {
		t.Errorf("%d calls count, want the 220 of 1.1 s or 2 more", used)
	}
}

func TestNextAtIsExactForTheFirstThatWaits(t *testing.T) {
	t.Parallel()
	w := NewCallWindow(3)
	for _, ms := range []time.Duration{0, 4, 300} {
		w.Take(at(ms * time.Millisecond))
	}
	if got, want := w.NextAt(at(500*time.Millisecond)), at(callSecond+4*time.Millisecond); !got.Equal(want) {
		t.Errorf("next at %s, want %s: two that began together leave together", got.Sub(begin), want.Sub(begin))
	}
	w.SetLimit(1)
	if got, want := w.NextAt(at(500*time.Millisecond)), at(callSecond+300*time.Millisecond); !got.Equal(want) {
		t.Errorf("next at %s of a lower limit, want %s", got.Sub(begin), want.Sub(begin))
	}
}
