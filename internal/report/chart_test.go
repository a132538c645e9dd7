package report

import (
	"strings"
	"testing"
)

func TestCurvesShareTheirAxes(t *testing.T) {
	t.Parallel()
	c := NewChart("two", High)
	most, last := c.Curves(
		Curve{"low", []Point{{0, 0}, {10, 5}}},
		Curve{"high", []Point{{0, 10}, {20, 2.5}}},
	)
	if most != 10 || last != 20 {
		t.Errorf("axes up to %d and %d, want 10 and 20", most, last)
	}
	if len(c.Lines) != 2 || len(c.Legend) != 2 || c.Lines[0].Class == c.Lines[1].Class {
		t.Fatalf("lines %+v, legend %+v", c.Lines, c.Legend)
	}
	// The first line ends in the middle of both axes, the second begins at the top left.
	if got, want := c.Lines[0].Points, "48.0,194.0 380.0,101.0"; got != want {
		t.Errorf("points %s, want %s", got, want)
	}
	if got, want := c.Lines[1].Points, "48.0,8.0 712.0,147.5"; got != want {
		t.Errorf("points %s, want %s", got, want)
	}
}

func TestRoundNumbers(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]int64{0: 1, 1: 1, 1.2: 2, 3: 5, 7: 10, 10: 10, 11: 20, 640: 1000} {
		if got := RoundUp(x); got != want {
			t.Errorf("RoundUp(%v) = %d, want %d", x, got, want)
		}
	}
}

func TestGridIsAligned(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	Grid{{"name", "count", ""}, {"größe", "7", "odd"}, {"x", "12345678"}}.Write(&b)
	if want := "name      count\ngröße         7  odd\nx      12345678\n"; b.String() != want {
		t.Errorf("grid\n%swant\n%s", b.String(), want)
	}
}
