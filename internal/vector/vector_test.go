package vector

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAVectorComesBackAsADirection(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32Range(-100, 100), 1, 40).Draw(t, "v")
		unit, err := Unit(v)
		if err != nil {
			if slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) && Likeness(v, v) > 1e-30 {
				t.Fatalf("%v: %v", v, err)
			}
			return
		}
		back, err := Decode(Encode(unit))
		if err != nil || math.Abs(Likeness(back, unit)-1) > 1e-5 || math.Abs(Likeness(back, back)-1) > 1e-5 {
			t.Fatalf("%v becomes %v, %v", unit, back, err)
		}
	})
}

func TestWhatHasNoDirectionIsRefused(t *testing.T) {
	t.Parallel()
	for name, v := range map[string][]float32{
		"nothing": {}, "zero": {0, 0}, "no number": {1, float32(math.NaN())}, "endless": {1, float32(math.Inf(1))},
		"too long": make([]float32, MaxDimensions+1),
	} {
		if _, err := Unit(v); !errors.Is(err, ErrNoDirection) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Decode([]byte{1, 2, 3}); !errors.Is(err, ErrNoDirection) {
		t.Errorf("three bytes: %v", err)
	}
}

func TestTheNearestComeInTheirOrder(t *testing.T) {
	t.Parallel()
	table, err := NewTable([][]float32{{1, 0}, {0, 1}, {0.6, 0.8}, {-1, 0}, {0.6, 0.8}})
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, one := range table.Nearest([]float32{0.8, 0.6}, 4) {
		got = append(got, one.Number)
	}
	if want := []int{2, 4, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if other := table.Nearest([]float32{1, 0, 0}, 3); other != nil {
		t.Errorf("a vector of another space is like %v", other)
	}
}

func TestATableIsOfOneSpaceAndBounded(t *testing.T) {
	t.Parallel()
	if _, err := NewTable([][]float32{{1, 0}, {1, 0, 0}}); !errors.Is(err, ErrNoDirection) {
		t.Errorf("two spaces: %v", err)
	}
	if Fits(MaxNumbers/1024+1, 1024) || !Fits(MaxNumbers/1024, 1024) {
		t.Error("the bound is not where it is said to be")
	}
	empty, err := NewTable(nil)
	if err != nil || empty.Nearest([]float32{1}, 3) != nil || empty.Dimensions() != 0 {
		t.Errorf("%+v, %v", empty, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode([]float32{1, 2, 3}))
	f.Add([]byte("no vector"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := Decode(raw)
		if err == nil && math.Abs(Likeness(v, v)-1) > 1e-3 {
			t.Errorf("%v has no length of 1", v)
		}
	})
}

func BenchmarkNearest(b *testing.B) {
	vectors := make([][]float32, MaxNumbers/1024)
	for i := range vectors {
		vectors[i] = make([]float32, 1024)
		for k := range vectors[i] {
			vectors[i][k] = float32(i%7) - float32(k%5)
		}
	}
	table, err := NewTable(vectors)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		table.Nearest(vectors[3], 50)
	}
}
