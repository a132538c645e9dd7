package drill

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// after is so many milliseconds after noon.
func after(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }

// ran is a call that ended well.
func ran(from, to int) call { return call{at: after(from), end: after(to), status: 200} }

func TestQuantilesAreNearestRank(t *testing.T) {
	t.Parallel()
	of := []time.Duration{40, 10, 30, 20}
	for share, want := range map[float64]time.Duration{0: 10, 0.25: 10, 0.5: 20, 0.51: 30, 0.95: 40, 1: 40} {
		if got := quantile(of, share); got != want {
			t.Errorf("quantile %v is %d, want %d", share, got, want)
		}
	}
	if quantile(nil, 0.5) != 0 {
		t.Error("a quantile of nothing")
	}
}

func TestMostInFlightCountsOnlyItsSpan(t *testing.T) {
	t.Parallel()
	calls := []call{ran(0, 100), ran(50, 150), ran(100, 300), ran(120, 130), {at: after(200)}}
	for _, c := range []struct{ from, to, want int }{
		{0, 50, 1}, {0, 51, 2}, {0, 120, 2}, {0, 121, 3}, {150, 200, 1}, {150, 1000, 2}, {400, 500, 1}, {-50, 0, 0},
	} {
		if got := mostInFlight(calls, after(c.from), after(c.to)); got != c.want {
			t.Errorf("from %d to %d: %d in flight, want %d", c.from, c.to, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var calls []call
		for range rapid.IntRange(0, 20).Draw(t, "n") {
			from := rapid.IntRange(0, 50).Draw(t, "from")
			calls = append(calls, ran(from, from+rapid.IntRange(1, 30).Draw(t, "took")))
		}
		from := rapid.IntRange(0, 60).Draw(t, "span from")
		to := from + rapid.IntRange(1, 40).Draw(t, "span")
		most := 0
		for at := from; at < to; at++ {
			n := 0
			for _, c := range calls {
				if !c.at.After(after(at)) && c.end.After(after(at)) {
					n++
				}
			}
			most = max(most, n)
		}
		if got := mostInFlight(calls, after(from), after(to)); got != most {
			t.Fatalf("%d in flight, want %d", got, most)
		}
	})
}

func TestSilenceIsTheFirstLongPause(t *testing.T) {
	t.Parallel()
	calls := []call{ran(10, 20), ran(50, 60), ran(90, 100), ran(1200, 1300)}
	for name, c := range map[string]struct {
		to, least, before, since int
		found                    bool
	}{
		"in the middle":  {2000, 1000, 3, 90, true},
		"at the end":     {2500, 1200, 4, 1200, true},
		"too short":      {1300, 1200, 4, 1200, false},
		"cut by the end": {1000, 900, 3, 90, true},
	} {
		before, since, found := silence(calls, noon, after(c.to), time.Duration(c.least)*time.Millisecond)
		if before != c.before || !since.Equal(after(c.since)) || found != c.found {
			t.Errorf("%s: %d calls before %s, %t", name, before, since.Sub(noon), found)
		}
	}
}

func TestTheNthGoodCallIsByItsEnd(t *testing.T) {
	t.Parallel()
	calls := []call{
		ran(0, 500), ran(20, 900), ran(30, 400), {at: after(40), end: after(50), status: 503},
		{at: after(60), end: after(70), status: 200, left: true}, {at: after(80)}, ran(90, 800),
	}
	for n, want := range map[int]int{1: 400, 2: 800, 3: 900} {
		if got, found := nth(calls, n, after(10)); !found || !got.end.Equal(after(want)) {
			t.Errorf("number %d ended at %s, want %d ms", n, got.end.Sub(noon), want)
		}
	}
	if _, found := nth(calls, 4, after(10)); found {
		t.Error("there are only three")
	}
}
