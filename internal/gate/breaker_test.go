package gate

import (
	"math"
	"slices"
	"testing"
	"time"
)

// ward is a breaker with a clock and numbered calls.
type ward struct {
	*Breaker
	now  time.Time
	last uint64
}

func newWard(cfg BreakerConfig) *ward { return &ward{Breaker: NewBreaker(cfg, nil), now: begin} }

func (w *ward) pass(d time.Duration) { w.now = w.now.Add(d) }

func (w *ward) begin() uint64 {
	w.last++
	w.Begin(w.last, w.now)
	return w.last
}

func (w *ward) end(id uint64, o Outcome) { w.End(id, o, w.now) }

// run lets calls begin and end at once, as often as said.
func (w *ward) run(n int, o Outcome) {
	for range n {
		w.end(w.begin(), o)
	}
}

func (w *ward) want(t *testing.T, state BreakerState) {
	t.Helper()
	if got := w.State(w.now); got != state {
		t.Fatalf("after %s the breaker is %s, want %s", w.now.Sub(begin), got, state)
	}
}

// half makes the breaker open and waits until it is half open.
func (w *ward) half(t *testing.T) {
	t.Helper()
	w.run(10, Failed)
	w.want(t, BreakerOpen)
	w.pass(30 * time.Second)
	w.want(t, BreakerHalfOpen)
}

func (w *ward) allows() bool { return w.Allow(w.now, 0, 48) }

func TestBreakerOpensAtItsShares(t *testing.T) {
	t.Parallel()
	type ends struct {
		n int
		o Outcome
	}
	for name, c := range map[string]struct {
		cfg  BreakerConfig
		ends []ends
		want BreakerState
	}{
		"too few ends say nothing":       {ends: []ends{{9, Failed}}, want: BreakerClosed},
		"the tenth says it":              {ends: []ends{{10, Failed}}, want: BreakerOpen},
		"half failed":                    {ends: []ends{{5, Good}, {5, Failed}}, want: BreakerOpen},
		"less than half failed":          {ends: []ends{{6, Good}, {4, Failed}}, want: BreakerClosed},
		"three of ten slow":              {ends: []ends{{7, Good}, {3, Slow}}, want: BreakerOpen},
		"two of ten slow":                {ends: []ends{{8, Good}, {2, Slow}}, want: BreakerClosed},
		"failed and slow are two shares": {ends: []ends{{4, Good}, {4, Failed}, {2, Slow}}, want: BreakerClosed},
		// facts/overload.md row 15: QuantumNous/new-api#4100, #4585
		"one of a hundred failed":  {ends: []ends{{50, Good}, {1, Failed}, {49, Good}}, want: BreakerClosed},
		"a stray failure at first": {ends: []ends{{1, Failed}}, want: BreakerClosed},
		"a stray 429":              {ends: []ends{{10, Good}, {1, Throttled}}, want: BreakerClosed},
		"nothing but 429":          {ends: []ends{{500, Throttled}}, want: BreakerClosed},
		// facts/overload.md row 16: erpc/erpc#1118
		"429, 4xx and cancels do not thin the failures": {ends: []ends{{50, Throttled}, {50, Ignored}, {5, Good}, {5, Failed}}, want: BreakerOpen},
		"nor do they make up the minimum":               {ends: []ends{{50, Throttled}, {50, Ignored}, {9, Failed}}, want: BreakerClosed},
		"a word of another version":                     {ends: []ends{{50, "brilliant"}, {9, Failed}}, want: BreakerClosed},
		"seven of a hundred are 0.07":                   {cfg: BreakerConfig{Failures: 0.07}, ends: []ends{{93, Good}, {7, Failed}}, want: BreakerOpen},
		"six of a hundred are not":                      {cfg: BreakerConfig{Failures: 0.07}, ends: []ends{{94, Good}, {6, Failed}}, want: BreakerClosed},
		"all must fail, and do":                         {cfg: BreakerConfig{Failures: 1, MinCalls: 1}, ends: []ends{{1, Failed}}, want: BreakerOpen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(c.cfg)
			for _, e := range c.ends {
				w.run(e.n, e.o)
			}
			w.want(t, c.want)
		})
	}
}

func TestBreakerLooksAtTheWindowOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gap  time.Duration
		want BreakerState
	}{
		"inside":             {10*time.Second - time.Nanosecond, BreakerOpen},
		"exactly a window":   {10 * time.Second, BreakerClosed},
		"long ago":           {time.Hour, BreakerClosed},
		"at the same moment": {0, BreakerOpen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(BreakerConfig{})
			w.run(9, Failed)
			w.pass(c.gap)
			w.run(1, Failed)
			w.want(t, c.want)
		})
	}
}

// A call counts when it ends: 48 hung streams must not outweigh 40 failures, as they do
// where calls under way are part of the sum (facts/overload.md section 4, gobreaker).
func TestHungCallsDoNotKeepTheBreakerShut(t *testing.T) {
	t.Parallel()
	w := newWard(BreakerConfig{})
	for range 48 {
		w.begin()
	}
	w.run(10, Failed)
	w.want(t, BreakerOpen)
}

// facts/overload.md row 14: litellm PR #34836: 25 straight failures left the vendor in
// rotation, and its cooldown was honoured only now and then.
func TestNothingGoesForTheWholeCooldown(t *testing.T) {
	t.Parallel()
	w := newWard(BreakerConfig{})
	let := 0
	for range 25 {
		if w.allows() {
			let++
			w.run(1, Failed)
		}
	}
	if let != 10 {
		t.Errorf("%d of 25 calls to a vendor that fails went, want the 10 of the minimum", let)
	}
	opened := w.now
	for w.now.Before(opened.Add(30 * time.Second)) {
		if w.allows() {
			t.Fatalf("a call goes %s after the opening", w.now.Sub(opened))
		}
		if got := w.RetryAt(w.now); !got.Equal(opened.Add(30 * time.Second)) {
			t.Fatalf("first probe at %s, want 30s after the opening", got.Sub(opened))
		}
		w.pass(10 * time.Millisecond)
	}
	if !w.allows() || !w.RetryAt(w.now).IsZero() {
		t.Errorf("no probe goes after the cooldown, or it is still to come")
	}
}

func TestCooldownIsSpread(t *testing.T) {
	t.Parallel()
	for drawn, want := range map[float64]time.Duration{0: 30 * time.Second, 0.5: 33 * time.Second, 0.999: 35994 * time.Millisecond} {
		b := NewBreaker(BreakerConfig{}, func() float64 { return drawn })
		b.Trip(begin)
		if got := b.RetryAt(begin).Sub(begin); got != want {
			t.Errorf("jitter %g: cooldown %s, want %s", drawn, got, want)
		}
	}
}

func TestCooldownDoublesWithEachBadProbe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cooldown time.Duration
		want     []time.Duration
	}{
		"to five minutes":        {30 * time.Second, []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute}},
		"from above the longest": {7 * time.Minute, []time.Duration{7 * time.Minute, 7 * time.Minute, 7 * time.Minute}},
		"to exactly the longest": {150 * time.Second, []time.Duration{150 * time.Second, 5 * time.Minute, 5 * time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(BreakerConfig{Cooldown: c.cooldown})
			w.run(10, Failed)
			bad := []Outcome{Failed, Slow} // a slow probe is no better
			for i, want := range c.want {
				if got := w.RetryAt(w.now).Sub(w.now); got != want {
					t.Fatalf("cooldown %d is %s, want %s", i+1, got, want)
				}
				w.pass(want)
				w.want(t, BreakerHalfOpen)
				w.run(1, bad[i%2])
				w.want(t, BreakerOpen)
			}
		})
	}
}

func TestCooldownIsItselfAgainAfterAWholeRamp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ ramp, want time.Duration }{
		"opens again early in the ramp":  {time.Second, time.Minute},
		"opens again late in the ramp":   {20*time.Second - time.Nanosecond, time.Minute},
		"opens again after a whole ramp": {20 * time.Second, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(BreakerConfig{})
			w.half(t)
			w.run(1, Failed)
			w.pass(time.Minute)
			w.run(3, Good)
			w.want(t, BreakerClosed)
			w.pass(c.ramp)
			w.run(10, Failed)
			if got := w.RetryAt(w.now).Sub(w.now); got != c.want {
				t.Errorf("cooldown is %s, want %s", got, c.want)
			}
			w.pass(c.want)
			w.run(1, Failed) // and it goes on doubling from there
			if got := w.RetryAt(w.now).Sub(w.now); got != 2*c.want {
				t.Errorf("the next cooldown is %s, want %s", got, 2*c.want)
			}
		})
	}
}

func TestTheWindowIsEmptyAfterClosing(t *testing.T) {
	t.Parallel()
	w := newWard(BreakerConfig{Cooldown: time.Second})
	w.run(10, Failed)
	w.pass(time.Second)
	left := w.begin()
	w.run(3, Good)
	w.want(t, BreakerClosed)
	w.end(left, Failed) // a probe that was not needed
	w.run(9, Failed)
	w.want(t, BreakerClosed)
	w.run(1, Failed)
	w.want(t, BreakerOpen)
}

func TestTheRampAfterClosing(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int][]int{
		48:          {5, 12, 24, 48},
		1:           {1, 1, 1, 1},
		10:          {1, 3, 5, 10},
		250:         {25, 63, 125, 250},
		0:           {0, 0, 0, 0},
		math.MaxInt: {math.MaxInt/100*10 + 1, math.MaxInt/100*25 + 2, math.MaxInt/100*50 + 4, math.MaxInt},
	} {
		w := newWard(BreakerConfig{})
		w.half(t)
		w.run(3, Good)
		var got []int
		for range 4 {
			got = append(got, w.room(limit))
			w.pass(5*time.Second - time.Nanosecond)
			if last := w.room(limit); last != got[len(got)-1] {
				t.Errorf("limit %d: step %d ends early", limit, len(got))
			}
			w.pass(time.Nanosecond)
		}
		if !slices.Equal(got, want) {
			t.Errorf("limit %d: steps %v, want %v", limit, got, want)
		}
	}
}

// room returns how many may be in flight: Allow says yes below it and no at it.
func (w *ward) room(limit int) int {
	n := w.rampShare(w.now, limit)
	if w.Allow(w.now, n, limit) || (n > 0 && !w.Allow(w.now, n-1, limit)) {
		return -1
	}
	return n
}

func TestAnOperatorOpensAndCloses(t *testing.T) {
	t.Parallel()
	w := newWard(BreakerConfig{})
	running := w.begin()
	w.Trip(w.now)
	w.want(t, BreakerOpen)
	w.pass(10 * time.Second)
	w.Trip(w.now) // the cooldown begins again
	if got := w.RetryAt(w.now).Sub(w.now); got != 30*time.Second {
		t.Errorf("first probe in %s, want in 30s", got)
	}
	w.Reset(w.now)
	w.want(t, BreakerClosed)
	if !w.Allow(w.now, 47, 48) || w.Allow(w.now, 48, 48) {
		t.Error("a reset breaker does not give the whole limit at once")
	}
	w.end(running, Failed)
	w.run(9, Failed)
	w.want(t, BreakerClosed) // the call from before the reset is not the tenth
}

func TestAResetForgetsTheRampAndTheDoubling(t *testing.T) {
	t.Parallel()
	w := newWard(BreakerConfig{})
	w.half(t)
	w.run(1, Failed)
	w.pass(time.Minute)
	w.run(3, Good)
	if w.Allow(w.now, 5, 48) {
		t.Fatal("no ramp after closing")
	}
	w.Reset(w.now)
	if !w.Allow(w.now, 47, 48) {
		t.Error("the ramp is still there after a reset")
	}
	w.run(10, Failed)
	if got := w.RetryAt(w.now).Sub(w.now); got != 30*time.Second {
		t.Errorf("cooldown after a reset is %s, want 30s", got)
	}
}

func TestOtherRulesKeepTheState(t *testing.T) {
	t.Parallel()
	w := newWard(BreakerConfig{})
	w.run(9, Failed)
	w.SetConfig(BreakerConfig{MinCalls: 20, Window: time.Minute})
	w.pass(30 * time.Second)
	w.run(10, Failed)
	w.want(t, BreakerClosed)
	w.run(1, Failed) // the twentieth, in the longer window
	w.want(t, BreakerOpen)
	w.SetConfig(BreakerConfig{Cooldown: time.Second, Probes: 1})
	w.pass(30*time.Second - time.Nanosecond)
	w.want(t, BreakerOpen) // the cooldown that runs stays
	w.pass(time.Nanosecond)
	w.begin()
	if w.allows() {
		t.Error("a second probe goes, want 1")
	}
}
