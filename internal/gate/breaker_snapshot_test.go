package gate

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// overWire returns what comes out at the other end.
func overWire[T any](t *testing.T, in T) T {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out T
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever a breaker is at, one that another controller restores from its snapshot
// goes on in the same way, by a clock of its own.
func TestARestoredBreakerGoesOn(t *testing.T) {
	t.Parallel()
	for name, bring := range map[string]func(*testing.T, *ward){
		"closed":                    func(*testing.T, *ward) {},
		"open":                      func(_ *testing.T, w *ward) { w.run(10, Failed); w.pass(12 * time.Second) },
		"half open":                 func(t *testing.T, w *ward) { w.half(t) },
		"half open, good and under": func(t *testing.T, w *ward) { w.half(t); w.run(2, Good); w.begin(); w.pass(time.Second); w.begin() },
		"open for longer":           func(t *testing.T, w *ward) { w.half(t); w.run(1, Failed); w.pass(time.Second) },
		"in the ramp":               func(t *testing.T, w *ward) { w.half(t); w.run(3, Good); w.pass(7 * time.Second) },
		"in a ramp after a failure": func(t *testing.T, w *ward) {
			w.half(t)
			w.run(1, Failed)
			w.pass(time.Minute)
			w.run(3, Good)
			w.pass(16 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(BreakerConfig{})
			bring(t, w)
			shot := w.Snapshot(w.now)
			next := &ward{Breaker: NewBreaker(BreakerConfig{}, nil), now: w.now.Add(1000 * time.Hour), last: w.last}
			next.Restore(overWire(t, shot), next.now)
			for second := range 200 {
				if a, b := w.Snapshot(w.now), next.Snapshot(next.now); !reflect.DeepEqual(a, b) {
					t.Fatalf("after %ds\nthe former is  %+v\nthe restored   %+v", second, a, b)
				}
				if a, b := w.allows(), next.allows(); a != b {
					t.Fatalf("after %ds the former lets go: %v, the restored: %v", second, a, b)
				}
				w.pass(time.Second)
				next.pass(time.Second)
			}
		})
	}
}

func TestAProbeOfTheFormerControllerEndsAtTheNext(t *testing.T) {
	t.Parallel()
	w := newWard(BreakerConfig{})
	w.half(t)
	w.run(2, Good)
	probe := w.begin()
	next := newWard(BreakerConfig{})
	next.Restore(overWire(t, w.Snapshot(w.now)), next.now)
	next.end(probe, Good)
	next.want(t, BreakerClosed)
}

func TestAMadSnapshotDoesNotLast(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]BreakerSnapshot{
		"nothing":             {},
		"unknown state":       {State: "ajar", Doublings: 4},
		"open for a century":  {State: BreakerOpen, RetryIn: 1 << 62, Doublings: 1 << 40},
		"open until long ago": {State: BreakerOpen, RetryIn: -1 << 62, Doublings: -1},
		"too many good":       {State: BreakerHalfOpen, Good: 1 << 40},
		"less than none good": {State: BreakerHalfOpen, Good: -1 << 40},
		"probes from ahead":   {State: BreakerHalfOpen, Probes: map[uint64]time.Duration{1: -1 << 62, 2: -1 << 62, 3: -1 << 62}},
		"an endless ramp":     {State: BreakerClosed, RampFor: 1 << 62},
	} {
		w := newWard(BreakerConfig{})
		w.Restore(s, w.now)
		for range 3 { // probes may be lost ones, and a cooldown of six minutes follows
			w.pass(6 * time.Minute)
			if w.State(w.now) != BreakerClosed && w.allows() {
				w.run(3, Good)
			}
		}
		w.pass(20 * time.Second)
		if w.State(w.now) != BreakerClosed || !w.Allow(w.now, 47, 48) {
			t.Errorf("%s: the breaker is %s after 18 minutes", name, w.State(w.now))
		}
	}
}
