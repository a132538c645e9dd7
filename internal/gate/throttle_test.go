package gate

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func at(d time.Duration) time.Time { return begin.Add(d) }

// facts/overload.md row 12: litellm#7669: retries went at once, whatever Retry-After said.
func TestAPauseLastsUntilTheLatestRetryAfter(t *testing.T) {
	t.Parallel()
	type hit struct{ at, retryAfter time.Duration }
	for name, c := range map[string]struct {
		hits []hit
		want time.Duration
	}{
		"as told":                   {[]hit{{0, 20 * time.Second}}, 20 * time.Second},
		"the later one":             {[]hit{{0, 5 * time.Second}, {time.Second, 20 * time.Second}}, 21 * time.Second},
		"no sooner for a later hit": {[]hit{{0, 20 * time.Second}, {time.Second, 2 * time.Second}}, 20 * time.Second},
		"none named":                {[]hit{{0, 0}}, time.Second},
		"in the past":               {[]hit{{0, -time.Minute}}, time.Second},
		"none named, in a pause":    {[]hit{{0, 20 * time.Second}, {5 * time.Second, 0}}, 20 * time.Second},
		"a tenth of a second":       {[]hit{{0, 100 * time.Millisecond}}, 100 * time.Millisecond},
		"a day is an hour":          {[]hit{{0, 24 * time.Hour}}, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			th := NewThrottle(48)
			if th.Paused(begin) || !th.PausedUntil().IsZero() {
				t.Fatal("a new throttle pauses")
			}
			for _, h := range c.hits {
				th.Hit(begin, at(h.at), h.retryAfter)
			}
			if got := th.PausedUntil().Sub(begin); got != c.want {
				t.Errorf("paused until %s, want %s", got, c.want)
			}
			if !th.Paused(at(c.want-time.Nanosecond)) || th.Paused(at(c.want)) {
				t.Error("the pause does not end when it says")
			}
		})
	}
}

func TestALimitIsCutOncePerGeneration(t *testing.T) {
	t.Parallel()
	type hit struct{ granted, at time.Duration }
	for name, c := range map[string]struct {
		limit int
		hits  []hit
		want  int
	}{
		"none":                               {48, nil, 48},
		"one":                                {48, []hit{{0, time.Second}}, 33},
		"rounded down":                       {9, []hit{{0, time.Second}}, 6},
		"a herd that ran together cuts once": {48, slices.Repeat([]hit{{0, time.Second}}, 40), 33},
		"the rest of the herd, later":        {48, []hit{{0, time.Second}, {500 * time.Millisecond, 5 * time.Second}}, 33},
		"granted in the moment of the cut":   {48, []hit{{0, time.Second}, {time.Second, 5 * time.Second}}, 33},
		"granted after the cut":              {48, []hit{{0, time.Second}, {2 * time.Second, 3 * time.Second}}, 24},
		"never below half":                   {48, []hit{{0, 1 * time.Second}, {2 * time.Second, 3 * time.Second}, {4 * time.Second, 5 * time.Second}}, 24},
		"half of an odd limit, rounded up":   {7, []hit{{0, time.Second}, {2 * time.Second, 3 * time.Second}}, 4},
		"one stays one":                      {1, []hit{{0, time.Second}}, 1},
		"none stays none":                    {0, []hit{{0, time.Second}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			th := NewThrottle(c.limit)
			now := begin
			for _, h := range c.hits {
				now = at(h.at)
				th.Hit(at(h.granted), now, 0)
			}
			if got := th.Limit(now); got != c.want {
				t.Errorf("limit %d, want %d", got, c.want)
			}
		})
	}
}

func TestALimitComesBackByOnePerCleanTenSeconds(t *testing.T) {
	t.Parallel()
	th := NewThrottle(10)
	th.Hit(begin, begin, 5*time.Second) // 7; the clean time begins after the pause
	for _, c := range []struct {
		at   time.Duration
		want int
	}{
		{0, 7}, {15*time.Second - 1, 7}, {15 * time.Second, 8}, {25*time.Second - 1, 8}, {25 * time.Second, 9},
	} {
		if got := th.Limit(at(c.at)); got != c.want {
			t.Errorf("after %s the limit is %d, want %d", c.at, got, c.want)
		}
	}
	// An old call's hit cuts nothing, yet the ten seconds begin again.
	th.Hit(begin, at(30*time.Second), time.Second)
	if got := th.Limit(at(41*time.Second - 1)); got != 9 {
		t.Errorf("limit %d ten seconds after a hit, want 9", got)
	}
	if got := th.Limit(at(time.Hour)); got != 10 {
		t.Errorf("limit %d after an hour, want the configured 10", got)
	}
	// What came back counts before the next cut, though nobody looked meanwhile.
	th.Hit(at(time.Hour), at(time.Hour), time.Second)           // 7
	th.Hit(at(61*time.Minute), at(61*time.Minute), time.Second) // of 10 again
	if got := th.Limit(at(61 * time.Minute)); got != 7 {
		t.Errorf("limit %d after the second cut, want 7", got)
	}
}

func TestAnotherConfiguredLimitKeepsTheCut(t *testing.T) {
	t.Parallel()
	th := NewThrottle(48)
	th.Hit(begin, begin, time.Second) // 33, 15 below
	for _, c := range []struct{ set, want int }{{60, 45}, {48, 33}, {24, 12}, {0, 0}, {-1, 0}, {48, 33}} {
		th.SetLimit(c.set)
		if got := th.Limit(begin); got != c.want {
			t.Errorf("of %d configured the limit is %d, want %d", c.set, got, c.want)
		}
	}
	th.SetLimit(24) // 12 is its floor: one clean time later it is 13, not 10 short of it
	if got := th.Limit(at(11 * time.Second)); got != 13 {
		t.Errorf("limit %d, want 13", got)
	}
}

func TestARestoredThrottleGoesOn(t *testing.T) {
	t.Parallel()
	th := NewThrottle(48)
	th.Hit(begin, begin, 20*time.Second)
	now, later := at(5*time.Second), at(1000*time.Hour)
	next := NewThrottle(48)
	next.Restore(overWire(t, th.Snapshot(now)), later)
	if got := next.Limit(later); got != 33 {
		t.Errorf("limit %d, want 33", got)
	}
	if got := next.PausedUntil().Sub(later); got != 15*time.Second {
		t.Errorf("paused for %s, want 15s", got)
	}
	next.Hit(later.Add(-6*time.Second), later, 0)
	if got := next.Limit(later); got != 33 {
		t.Errorf("a call from before the cut cut again, to %d", got)
	}
	if got := next.Limit(later.Add(25 * time.Second)); got != 34 {
		t.Errorf("limit %d ten clean seconds after the pause, want 34", got)
	}
	next.Restore(ThrottleSnapshot{PauseFor: 1 << 62, Below: 1 << 62, CutAgo: -1 << 62}, later)
	if got := next.Limit(later); got != 24 || next.PausedUntil().After(later.Add(time.Hour)) {
		t.Errorf("a mad snapshot made the limit %d and the pause %s", got, next.PausedUntil().Sub(later))
	}
	next = NewThrottle(48)
	next.Restore(ThrottleSnapshot{Below: 15}, later)
	if got := next.Limit(later.Add(10*time.Second - 1)); got != 33 {
		t.Errorf("limit %d less than ten seconds after the change, want 33", got)
	}
	next.Restore(ThrottleSnapshot{}, later)
	next.Hit(time.Time{}, later, 0) // nobody knows when it was granted: it counts
	if got := next.Limit(later); got != 33 {
		t.Errorf("limit %d after the first hit, want 33", got)
	}
}

// TestThrottleStaysBetweenFloorAndCeiling compares with a list of all that happened.
func TestThrottleStaysBetweenFloorAndCeiling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		configured := rapid.IntRange(0, 60).Draw(t, "limit")
		th, now, until := NewThrottle(configured), begin, time.Time{}
		last, cuts, hits := th.Limit(now), 0, []time.Time{}
		bounds := func(t *rapid.T) {
			if got := th.Limit(now); got > configured || 2*got < configured {
				t.Fatalf("limit %d of %d", got, configured)
			}
			if th.Paused(now) != now.Before(until) {
				t.Fatalf("paused until %s, want %s", th.PausedUntil().Sub(begin), until.Sub(begin))
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"": bounds,
			"hit": func(t *rapid.T) {
				granted := now.Add(-time.Duration(rapid.IntRange(0, 30).Draw(t, "ago")) * time.Second)
				after := time.Duration(rapid.IntRange(0, 4000).Draw(t, "retry after")) * time.Second
				before := th.Limit(now)
				th.Hit(granted, now, after)
				if end := now.Add(min(max(after, time.Second), time.Hour)); end.After(until) {
					until = end
				}
				if th.Limit(now) < before {
					cuts++
				}
				hits = append(hits, now)
				last = th.Limit(now)
			},
			"clock": func(t *rapid.T) {
				step := time.Duration(rapid.IntRange(0, 90_000).Draw(t, "ms")) * time.Millisecond
				now = now.Add(step)
				got := th.Limit(now)
				if rise := got - last; rise < 0 || rise > int(step/cleanFor)+1 {
					t.Fatalf("the limit went from %d to %d in %s", last, got, step)
				}
				last = got
			},
			"limit": func(t *rapid.T) {
				configured = rapid.IntRange(0, 60).Draw(t, "limit")
				th.SetLimit(configured)
				last = th.Limit(now)
			},
		})
		if cuts > len(hits) {
			t.Fatalf("%d cuts of %d hits", cuts, len(hits))
		}
		if now = now.Add(2 * time.Hour); th.Limit(now) != configured || th.Paused(now) {
			t.Fatalf("limit %d of %d two hours later", th.Limit(now), configured)
		}
	})
}

func ExampleThrottle() {
	th, now := NewThrottle(48), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	th.Hit(now.Add(-2*time.Second), now, 3*time.Second)
	fmt.Println(th.Paused(now), th.Limit(now))
	now = now.Add(13 * time.Second)
	fmt.Println(th.Paused(now), th.Limit(now))
	// Output:
	// true 33
	// false 34
}
