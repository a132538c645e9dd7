package faq

import (
	"testing"
)

func TestScoresCountWhatTheySay(t *testing.T) {
	t.Parallel()
	var s tally
	near := []Option{{Entry: "a"}, {Entry: "b"}}
	s.add("a", Match{Tier: Answer, Entry: "a", Nearest: near})
	s.add("b", Match{Tier: Answer, Entry: "a", Nearest: near})
	s.add("b", Match{Tier: Offer, Entry: "a", Nearest: near})
	s.add("c", Match{Tier: Pass, Entry: "a", Nearest: near})
	s.add("", Match{Tier: Answer, Entry: "a", Nearest: near})
	s.add("", Match{Tier: Pass, Entry: "a", Nearest: near})
	want := Score{Questions: 6, Recall1: 0.25, Recall3: 0.75, Answered: 0.5, Shown: 0.5, Wrong: 2.0 / 3, False: 0.5}
	if got := s.score(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestThresholdIsTheLowestThatHolds(t *testing.T) {
	t.Parallel()
	var points []point
	for i := range 1000 { // the lower half is wrong
		points = append(points, point{kind: inScope, score: float64(i) / 1000, right: i >= 500})
	}
	if got := threshold(points, 0.05); got < 0.47 || got > 0.48 {
		t.Errorf("got %.3f: with 500 right answers, 26 wrong ones are 5 %%", got)
	}
	if got := threshold(points[:400], 0.05); got != never {
		t.Errorf("nothing is right, got %.3f", got)
	}
	if got := threshold(points[900:], 0.01); got != never {
		t.Errorf("100 right answers do not prove 99 in 100, got %.3f", got)
	}
}
