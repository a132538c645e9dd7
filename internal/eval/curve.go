package eval

import (
	"context"

	"sluice/internal/intent"
)

// Point is what is reached with a part of the examples.
type Point struct {
	Share  float64          `json:"share"`
	Learnt int              `json:"learnt"`
	Scores map[string]Score `json:"scores"`
}

// Curve learns from a quarter, a half, three quarters and all of the examples, and
// judges each time. The parts grow out of each other.
func Curve(ctx context.Context, c *intent.Classifier, examples, messages []intent.Example) ([]Point, error) {
	const quarters = 4
	var points []Point
	for n := 1; n <= quarters; n++ {
		some := share(examples, n, quarters)
		m, err := intent.Train(ctx, some, nil)
		if err != nil {
			return nil, err
		}
		points = append(points, Point{
			Share: float64(n) / quarters, Learnt: len(some), Scores: Judge(c.With(m), messages).Intents,
		})
	}
	return points, nil
}

// share takes n of every few examples of each intent and language.
func share(examples []intent.Example, n, of int) []intent.Example {
	type group struct{ intent, language string }
	seen := map[group]int{}
	var some []intent.Example
	for _, e := range examples {
		g := group{e.Intent, e.Language}
		if seen[g]%of < n {
			some = append(some, e)
		}
		seen[g]++
	}
	return some
}
