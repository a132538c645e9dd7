package gate

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// siege plays random histories against a breaker and keeps its own books.
type siege struct {
	*ward
	cfg      BreakerConfig
	running  map[uint64]time.Time // begun and not ended, whether or not the breaker knows
	probes   map[uint64]time.Time // of the present half-open time
	state    BreakerState
	openedAt time.Time // when the state was seen to be open
}

// TestBreakerHoldsWhateverIsLost: never more probes at once than allowed; nothing goes
// for a whole cooldown; no probe, however lost, keeps it half open; and a vendor that is
// well again gets its whole limit back in bounded time.
func TestBreakerHoldsWhateverIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := BreakerConfig{
			Window: 10 * time.Second, MinCalls: rapid.IntRange(1, 5).Draw(t, "minimum"), Failures: 0.5, Slow: 0.3,
			Cooldown: 30 * time.Second, Probes: rapid.IntRange(1, 5).Draw(t, "probes"), ProbeFor: 20 * time.Second,
		}
		jitter := rapid.Float64Range(0, 0.999).Draw(t, "jitter")
		s := &siege{
			ward: &ward{Breaker: NewBreaker(cfg, func() float64 { return jitter }), now: begin},
			cfg:  cfg, running: map[uint64]time.Time{}, probes: map[uint64]time.Time{}, state: BreakerClosed,
		}
		t.Repeat(map[string]func(*rapid.T){
			"":        s.check,
			"begin":   s.tryBegin,
			"begin 2": s.tryBegin,
			"end":     s.endOne,
			"end bad": s.endBad,
			"clock":   s.clock,
			"restore": s.restore,
		})
		s.recovers(t)
	})
}

// look follows the state and forgets the probes of a half-open time that is over.
func (s *siege) look() {
	state := s.State(s.now)
	if state == s.state {
		return
	}
	if state == BreakerOpen {
		s.openedAt = s.now
	}
	clear(s.probes)
	s.state = state
}

func (s *siege) tryBegin(t *rapid.T) {
	s.look()
	if !s.allows() {
		return
	}
	if s.state == BreakerOpen {
		t.Fatal("an open breaker lets a call go")
	}
	id := s.ward.begin()
	s.running[id] = s.now
	if s.state == BreakerHalfOpen {
		s.probes[id] = s.now
	}
}

func (s *siege) endOne(t *rapid.T) {
	s.endAs(t, rapid.SampledFrom([]Outcome{Good, Good, Good, Slow, Failed, Ignored, Throttled}).Draw(t, "outcome"))
}

func (s *siege) endBad(t *rapid.T) { s.endAs(t, Failed) }

func (s *siege) endAs(t *rapid.T, o Outcome) {
	if len(s.running) == 0 {
		t.Skip("nothing runs")
	}
	s.look()
	id := rapid.SampledFrom(slices.Sorted(maps.Keys(s.running))).Draw(t, "call")
	_, probe := s.probes[id]
	before := s.state
	s.end(id, o)
	s.end(id, Failed) // a repeat
	delete(s.running, id)
	delete(s.probes, id)
	s.look()
	if before == BreakerHalfOpen && !probe && s.state != before {
		t.Fatalf("the end of an older call made a half-open breaker %s", s.state)
	}
}

func (s *siege) clock(t *rapid.T) {
	s.pass(time.Duration(rapid.IntRange(0, 25_000).Draw(t, "ms")) * time.Millisecond)
	s.look()
}

func (s *siege) restore(t *rapid.T) {
	s.look()
	shot := s.Snapshot(s.now)
	s.Breaker = NewBreaker(s.cfg, s.jitter)
	s.Restore(shot, s.now)
}

func (s *siege) check(t *rapid.T) {
	s.look()
	if len(s.probes) > s.cfg.Probes {
		t.Fatalf("%d probes at once, want at most %d", len(s.probes), s.cfg.Probes)
	}
	for id, at := range s.probes {
		if s.now.Sub(at) >= s.cfg.ProbeFor {
			t.Fatalf("half open although probe %d has run for %s", id, s.now.Sub(at))
		}
	}
	// The opening may have been seen late, but no later than the clock's one step.
	if s.state != BreakerOpen {
		return
	}
	if left := s.RetryAt(s.now).Sub(s.now); left <= 0 || left > 6*time.Minute {
		t.Fatalf("open, and the first probe goes in %s", left)
	}
	if since := s.RetryAt(s.now).Sub(s.openedAt); since < s.cfg.Cooldown-25*time.Second {
		t.Fatalf("the cooldown ends %s after the opening", since)
	}
}

// recovers loses every end that is still to come, and answers all new calls well.
func (s *siege) recovers(t *rapid.T) {
	for start := s.now; s.State(s.now) != BreakerClosed || !s.rampUntil.IsZero(); s.pass(time.Second) {
		if s.allows() {
			s.run(1, Good)
		}
		if spent := s.now.Sub(start); spent > s.cfg.ProbeFor+6*time.Minute+20*time.Second+6*time.Second {
			t.Fatalf("%s after %s of good answers", s.State(s.now), spent)
		}
	}
	if !s.Allow(s.now, 47, 48) || s.Allow(s.now, 48, 48) {
		t.Fatal("closed without its whole limit")
	}
}

// TestAFullyOpenedBreakerLetsNothingIn asks at random moments of a cooldown.
func TestAFullyOpenedBreakerLetsNothingIn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.Float64Range(0, 0.999).Draw(t, "jitter")
		w := &ward{Breaker: NewBreaker(BreakerConfig{}, func() float64 { return drawn }), now: begin}
		w.run(10, Failed)
		end := w.RetryAt(w.now)
		if d := end.Sub(w.now); d < 30*time.Second || d > 36*time.Second {
			t.Fatalf("cooldown %s, want 30s to 36s", d)
		}
		for w.now.Before(end) {
			if w.allows() {
				t.Fatalf("a call goes %s before the end of the cooldown", end.Sub(w.now))
			}
			w.pass(time.Duration(rapid.Int64Range(1, int64(10*time.Second)).Draw(t, "step")))
		}
		if !w.allows() {
			t.Fatal("no probe goes after the cooldown")
		}
	})
}
