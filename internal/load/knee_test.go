package load

import (
	"slices"
	"strings"
	"testing"
)

func TestStepsBeyondTheKneeAreKnown(t *testing.T) {
	t.Parallel()
	good := func(n int, mean float64) *Step {
		p95 := int64(mean * 1.5)
		return &Step{AtOnce: n, Completed: 40, MeanMS: mean, PerSecond: float64(n) * 1000 / mean, Took: Spread{Count: 40, P95: p95}}
	}
	for name, c := range map[string]struct {
		base, below, step *Step
		why               string
		hard              bool
	}{
		"the first one":              {step: good(1, 100)},
		"twice the throughput":       {base: good(1, 100), below: good(10, 100), step: good(20, 100)},
		"a tenth more":               {base: good(1, 100), below: good(10, 100), step: good(20, 180)},
		"less than a tenth more":     {good(1, 100), good(10, 100), good(20, 186), "throughput gains 8%", false},
		"a small step that pays":     {base: good(1, 100), below: good(10, 100), step: good(11, 108)},
		"a small step that does not": {good(1, 100), good(10, 100), good(11, 109.9), "throughput gains 1%", false},
		"slow in the tail":           {good(1, 100), good(10, 100), good(40, 201), "more than 2 times the 150 ms", false},
		"one refused":                {good(1, 100), good(10, 100), &Step{AtOnce: 20, Completed: 30, Refused: 1}, "1 of 31 calls refused", true},
		"one in twenty failed":       {base: good(1, 100), below: good(10, 100), step: func() *Step { s := good(20, 100); s.Failed = 2; return s }()},
		"more failed":                {good(1, 100), good(10, 100), &Step{AtOnce: 20, Completed: 30, Failed: 2}, "2 of 32 calls failed", true},
		"nothing completed":          {nil, nil, &Step{AtOnce: 1, Failed: 1}, "no call completed", true},
	} {
		why, hard := c.step.judge(c.base, c.below)
		if hard != c.hard || (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, hard %t; want %q, %t", name, why, hard, c.why, c.hard)
		}
	}
}

func TestStepsGrowAndThenCloseIn(t *testing.T) {
	t.Parallel()
	for most, want := range map[int][]int{1: {1}, 4: {1, 2, 4}, 50: {1, 2, 5, 10, 20, 50}, 120: {1, 2, 5, 10, 20, 50, 100, 120}} {
		if got := stepsUpTo(most); !slices.Equal(got, want) {
			t.Errorf("up to %d: %v, want %v", most, got, want)
		}
	}
	for _, c := range [][3]int{{50, 100, 71}, {50, 71, 60}, {60, 65, 0}, {1, 2, 0}, {2, 5, 3}, {20, 21, 0}} {
		if got := between(c[0], c[1]); got != c[2] {
			t.Errorf("between %d and %d: %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

func TestProposalsRoundDown(t *testing.T) {
	t.Parallel()
	knee := &Step{AtOnce: 9, MeanMS: 500, PerSecond: 18}
	for name, c := range map[string]struct {
		beyond       *Step
		share        float64
		permits, qps int
	}{
		"refused": {&Step{AtOnce: 12, Hard: true}, 0.7, 6, 12},
		"slower":  {&Step{AtOnce: 12}, 0.8, 7, 14},
		"no knee": {nil, 0.8, 7, 14},
	} {
		p := propose(knee, c.beyond)
		if p.Share != c.share || p.Permits != c.permits || p.QPS != c.qps || p.Found != (c.beyond != nil) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := propose(&Step{AtOnce: 1, PerSecond: 0.2}, nil); p.Permits != 1 || p.QPS != 1 {
		t.Errorf("the least vendor: %+v", p)
	}
}
