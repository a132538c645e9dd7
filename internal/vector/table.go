package vector

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// MaxNumbers bounds a table: 64 MiB. It holds 16,384 vectors of 1,024 dimensions, among
// which a search takes some 10 ms of one core.
const MaxNumbers = 16 << 20

// ErrBounds is returned for more vectors than a table holds.
var ErrBounds = errors.New("more vectors than a table holds")

// Table holds vectors of one space by number and compares a question with every one of
// them: exact, and nothing to tune. It never changes and is safe for concurrent use.
type Table struct {
	dimensions int
	numbers    []float32
}

// Near is a vector with how like it is to the one that was asked for.
type Near struct {
	Number   int // place in the table
	Likeness float64
}

// Fits reports whether a table holds so many vectors.
func Fits(vectors, dimensions int) bool {
	return dimensions > 0 && vectors <= MaxNumbers/dimensions
}

// NewTable returns a table of vectors of length 1, which must have as many dimensions each.
func NewTable(vectors [][]float32) (*Table, error) {
	if len(vectors) == 0 {
		return &Table{}, nil
	}
	t := &Table{dimensions: len(vectors[0])}
	if !Fits(len(vectors), t.dimensions) {
		return nil, fmt.Errorf("%d vectors of %d dimensions: %w", len(vectors), t.dimensions, ErrBounds)
	}
	t.numbers = make([]float32, 0, len(vectors)*t.dimensions)
	for i, v := range vectors {
		if len(v) != t.dimensions {
			return nil, fmt.Errorf("vector %d has %d dimensions, others have %d: %w", i, len(v), t.dimensions, ErrNoDirection)
		}
		t.numbers = append(t.numbers, v...)
	}
	return t, nil
}

// Dimensions returns how many numbers each vector has; 0: the table is empty.
func (t *Table) Dimensions() int { return t.dimensions }

// Nearest returns the n vectors that are most like v, the best first. A v of another
// number of dimensions is like none.
func (t *Table) Nearest(v []float32, n int) []Near {
	if len(v) != t.dimensions || n <= 0 || t.dimensions == 0 {
		return nil
	}
	best := make([]Near, 0, n+1)
	better := func(a, b Near) int { return cmp.Or(cmp.Compare(b.Likeness, a.Likeness), a.Number-b.Number) }
	for i := range len(t.numbers) / t.dimensions {
		one := Near{i, Likeness(v, t.numbers[i*t.dimensions:][:t.dimensions])}
		if len(best) == n && one.Likeness <= best[n-1].Likeness {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, one, better)
		best = slices.Insert(best, at, one)
		best = best[:min(len(best), n)]
	}
	return best
}
