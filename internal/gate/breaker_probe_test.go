package gate

import (
	"testing"
	"time"
)

// facts/overload.md row 18: safe-global/safe-client-gateway#3442: half open admitted
// everyone while the upstream hung.
func TestAHangingVendorSeesNoMoreThanItsProbes(t *testing.T) {
	t.Parallel()
	w := newWard(BreakerConfig{ProbeFor: 20 * time.Second})
	w.half(t)
	let := 0
	for range 1000 { // 10 s in which everybody tries
		if w.allows() {
			let++
			w.begin()
		}
		w.pass(10 * time.Millisecond)
	}
	if let != 3 {
		t.Errorf("%d probes went to a vendor that hangs, want 3", let)
	}
	w.want(t, BreakerHalfOpen)
}

func TestHalfOpenEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends []Outcome
		want BreakerState
	}{
		"two good ones do not close":         {[]Outcome{Good, Good}, BreakerHalfOpen},
		"three do":                           {[]Outcome{Good, Good, Good}, BreakerClosed},
		"the first that fails opens":         {[]Outcome{Good, Good, Failed}, BreakerOpen},
		"slow is as bad":                     {[]Outcome{Good, Slow}, BreakerOpen},
		"429, 4xx and cancels say nothing":   {[]Outcome{Throttled, Ignored, Ignored, Throttled, Throttled}, BreakerHalfOpen},
		"nor do they undo or add to the sum": {[]Outcome{Good, Throttled, Good, Ignored, Good}, BreakerClosed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWard(BreakerConfig{})
			w.half(t)
			for _, o := range c.ends {
				w.run(1, o)
			}
			w.want(t, c.want)
		})
	}
}

// facts/overload.md row 16: alibaba/sentinel-golang#196, gh-aw-mcpg#10686,
// getnora-io/nora#607, cc-switch#7206, erpc/erpc#1118: half open for ever because a probe
// was blocked, lost, cancelled or refused.
func TestALostProbeFails(t *testing.T) {
	t.Parallel()
	w := newWard(BreakerConfig{ProbeFor: 20 * time.Second})
	w.half(t)
	w.begin()
	w.pass(time.Second)
	late := w.begin()
	w.pass(19*time.Second - time.Nanosecond)
	w.want(t, BreakerHalfOpen)
	w.pass(time.Nanosecond)
	w.want(t, BreakerOpen)
	if got := w.RetryAt(w.now).Sub(w.now); got != time.Minute {
		t.Errorf("cooldown after a lost probe is %s, want the doubled 1m", got)
	}
	w.end(late, Good)
	w.want(t, BreakerOpen)
}

func TestALostProbeFailsWhenItsTimeIsOverThoughNobodyLooked(t *testing.T) {
	t.Parallel()
	w := newWard(BreakerConfig{ProbeFor: 20 * time.Second})
	w.half(t)
	lost := w.begin()
	w.pass(time.Second)
	w.begin()                // a second one is lost too: the first decides
	w.pass(49 * time.Second) // it failed 30 s ago
	if got := w.RetryAt(w.now).Sub(w.now); got != 30*time.Second {
		t.Errorf("first probe in %s, want in 30s: a minute after the lost one failed", got)
	}
	w.pass(30 * time.Second)
	w.end(lost, Failed)
	w.want(t, BreakerHalfOpen)
}

// facts/overload.md row 16, again: a probe that says nothing gives its place to another.
func TestAProbeThatSaysNothingFreesItsPlace(t *testing.T) {
	t.Parallel()
	w := newWard(BreakerConfig{})
	w.half(t)
	ids := []uint64{w.begin(), w.begin(), w.begin()}
	for i, o := range []Outcome{Ignored, Throttled, Good} {
		if w.allows() {
			t.Fatalf("a fourth probe goes before the end of probe %d", i+1)
		}
		w.end(ids[i], o)
		w.end(ids[i], o) // twice frees one place
		if !w.allows() {
			t.Fatalf("%q does not free the probe's place", o)
		}
		w.begin()
	}
	w.want(t, BreakerHalfOpen)
}

// Three streams from before the opening closed a half-open breaker, or freed the places
// of three more probes (facts/overload.md section 4, failsafe-go).
func TestCallsFromBeforeTheOpeningSayNothing(t *testing.T) {
	t.Parallel()
	w := newWard(BreakerConfig{})
	var old []uint64
	for range 12 {
		old = append(old, w.begin())
	}
	w.half(t)
	for range 3 {
		w.begin()
	}
	for i, id := range old {
		w.end(id, []Outcome{Good, Failed, Slow, Ignored}[i%4])
	}
	w.want(t, BreakerHalfOpen)
	if w.allows() {
		t.Error("the end of an old call freed the place of a probe")
	}
}
