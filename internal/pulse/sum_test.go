package pulse

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// TestSumsAreExactWhateverIsLostOrComesTwice: processes come, go and come anew under another
// name; beats are lost, repeated and out of order. Once each has been heard a last time, the
// sum is all that they counted, and it never fell.
func TestSumsAreExactWhateverIsLostOrComesTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		sum := NewSum(now)
		type life struct {
			beat  Beat
			begun time.Time
			sent  []Beat
		}
		var lives []*life
		counted := uint64(0)
		former := uint64(0)
		check := func() {
			if n := sum.Total().Counts["x"]; n < former || n > counted {
				t.Fatalf("the sum is %d after %d, of %d", n, former, counted)
			} else {
				former = n
			}
		}
		beat := func(l *life) Beat {
			l.beat.N++
			l.beat.Age = now.Sub(l.begun)
			b := l.beat
			b.Total = l.beat.clone()
			l.sent = append(l.sent, b)
			return b
		}
		t.Repeat(map[string]func(*rapid.T){
			"start": func(t *rapid.T) {
				if len(lives) < 20 {
					lives = append(lives, &life{beat: Beat{Node: fmt.Sprint("n", len(lives)), Total: newTotal()}, begun: now})
				}
			},
			"count": func(t *rapid.T) {
				if len(lives) > 0 {
					n := rapid.Uint64Range(0, 1000).Draw(t, "n")
					rapid.SampledFrom(lives).Draw(t, "life").beat.Total.count("x", n)
					counted += n
				}
			},
			"hear": func(t *rapid.T) {
				if len(lives) > 0 {
					sum.Take(beat(rapid.SampledFrom(lives).Draw(t, "life")), now)
				}
			},
			"lose": func(t *rapid.T) {
				if len(lives) > 0 {
					beat(rapid.SampledFrom(lives).Draw(t, "life"))
				}
			},
			"again": func(t *rapid.T) {
				for _, l := range lives {
					if len(l.sent) > 0 {
						sum.Take(rapid.SampledFrom(l.sent).Draw(t, "beat"), now)
					}
				}
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "s")) * time.Second)
				sum.Live(now)
			},
			"": func(*rapid.T) { check() },
		})
		for _, l := range lives {
			sum.Take(beat(l), now)
		}
		if n := sum.Total().Counts["x"]; n != counted {
			t.Fatalf("the sum is %d, counted were %d", n, counted)
		}
	})
}

// TestTheOrderOfProcessesDoesNotMatter: whichever is heard first, the sums are the same.
func TestTheOrderOfProcessesDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var beats []Beat
		for i := range rapid.IntRange(1, 8).Draw(t, "nodes") {
			total := newTotal()
			for name, n := range rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.Uint64Range(0, 1<<30)).Draw(t, "counts") {
				total.count(name, n)
			}
			var s Spread
			for _, ms := range rapid.SliceOf(rapid.IntRange(0, 1<<22)).Draw(t, "took") {
				s.Observe(time.Duration(ms) * time.Millisecond)
			}
			total.merge("took", &s)
			beats = append(beats, Beat{Node: fmt.Sprint("n", i), N: 1, Total: total})
		}
		one, two := NewSum(noon), NewSum(noon)
		for _, b := range beats {
			one.Take(b, noon)
		}
		for _, b := range rapid.Permutation(beats).Draw(t, "order") {
			two.Take(b, noon)
		}
		if !maps.Equal(one.Total().Counts, two.Total().Counts) || one.Total().Spreads["took"] != two.Total().Spreads["took"] {
			t.Fatalf("%v and %v", one.Total(), two.Total())
		}
	})
}

func TestWhatAProcessCountedBeforeIsNotOurs(t *testing.T) {
	t.Parallel()
	sum := NewSum(noon)
	take := func(node string, n uint64, age time.Duration, count uint64, at time.Time) {
		total := newTotal()
		total.count("x", count)
		sum.Take(Beat{Node: node, N: n, Age: age, Sockets: 5, Total: total}, at)
	}
	for _, step := range []struct {
		node  string
		n     uint64
		age   time.Duration
		count uint64
		after time.Duration
		want  uint64
	}{
		{"old", 100, time.Hour, 900, 0, 0},
		{"old", 101, time.Hour, 910, 2 * time.Second, 10},
		{"young", 1, 5 * time.Second, 7, 5 * time.Second, 17}, // came after we did
		{"old", 102, time.Hour, 3, 6 * time.Second, 17},       // less than it was
		{"old", 103, time.Hour, 1 << 60, 7 * time.Second, 17}, // mad
		{"young", 2, 3 * time.Hour, 9, 3 * time.Hour, 19},     // silent for long, and still the same
	} {
		take(step.node, step.n, step.age, step.count, noon.Add(step.after))
		if n := sum.Total().Counts["x"]; n != step.want {
			t.Errorf("after %s of %s: %d, want %d", step.after, step.node, n, step.want)
		}
	}
	if nodes, sockets := sum.Live(noon.Add(3*time.Hour + 5*time.Second)); nodes != 1 || sockets != 5 {
		t.Errorf("%d processes with %d sockets, want 1 with 5", nodes, sockets)
	}
	if nodes, _ := sum.Live(noon.Add(3*time.Hour + silentAfter)); nodes != 0 {
		t.Errorf("a silent process counts as live")
	}
	for i := range maxNodes + 10 {
		take(fmt.Sprint("n", i), 1, 0, 1, noon.Add(4*time.Hour))
	}
	if len(sum.nodes) != maxNodes {
		t.Errorf("%d processes are known, want %d", len(sum.nodes), maxNodes)
	}
}

func TestQuantilesAreWithinAQuarter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.IntRange(1, 1_800_000), 1, 200).Draw(t, "ms")
		var s Spread
		for _, ms := range all {
			s.Observe(time.Duration(ms) * time.Millisecond)
		}
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		got, ok := s.Quantile(q)
		if !ok {
			t.Fatal("nothing was counted")
		}
		within := 0 // how many are below 1.26 of it: at least the part q of them
		for _, ms := range all {
			if float64(ms) <= 1.26*float64(got)/float64(time.Millisecond)+1 {
				within++
			}
		}
		if float64(within) < q*float64(len(all))-1e-6 {
			t.Fatalf("%d of %d are within %s, the quantile %v", within, len(all), got, q)
		}
	})
	if _, ok := new(Spread).Quantile(0.5); ok {
		t.Error("nothing has a middle")
	}
}
