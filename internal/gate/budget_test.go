package gate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestThreeRetriesAreLentAndThenEachNeedsTenCalls(t *testing.T) {
	t.Parallel()
	b, calls, retries := NewRetryBudget(0.1), 0, 0
	spend := func() {
		for b.Room(0, 48, 0.1) {
			b.Take()
			retries++
		}
	}
	spend()
	for _, want := range []struct{ calls, retries int }{{0, 3}, {39, 3}, {40, 4}, {49, 4}, {50, 5}, {100, 10}} {
		for ; calls < want.calls; calls++ {
			b.Call()
		}
		if spend(); retries != want.retries {
			t.Errorf("%d retries after %d calls, want %d", retries, calls, want.retries)
		}
	}
	if b := NewRetryBudget(0); b.Room(0, 48, 0.1) {
		t.Error("a budget of nothing lends")
	}
}

func TestTenRetriesAreSavedAtMost(t *testing.T) {
	t.Parallel()
	b, n := NewRetryBudget(0.1), 0
	for range 10_000 {
		b.Call()
	}
	for b.Room(0, 48, 0.1) {
		b.Take()
		n++
	}
	if n != 10 {
		t.Errorf("%d retries were saved, want 10", n)
	}
}

func TestRetriesUnderWayAreFew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit   int
		permits float64
		want    int
	}{
		{48, 0.1, 4}, {30, 0.1, 3}, {100, 0.29, 29}, {9, 0.1, 1}, {1, 0.1, 1}, {48, 1, 48},
		{0, 0.1, 0}, {48, 0, 0}, {48, math.NaN(), 0}, // none are wanted: none go
	} {
		b := NewRetryBudget(1)
		for range 100 {
			b.Call()
		}
		got := 0
		for b.Room(got, c.limit, c.permits) {
			got++
		}
		if got != c.want {
			t.Errorf("%g of %d: %d retries at once, want %d", c.permits, c.limit, got, c.want)
		}
	}
}

func TestAShareOutsideItsRangeIsTheNearest(t *testing.T) {
	t.Parallel()
	for in, want := range map[float64]int{-1: 0, 0.1: oneRetry / 10, 1: oneRetry, 7: oneRetry, math.Inf(1): oneRetry, math.Inf(-1): 0} {
		if got := NewRetryBudget(in).share; got != want {
			t.Errorf("a share of %g is kept as %d, want %d", in, got, want)
		}
	}
	if got := NewRetryBudget(math.NaN()).share; got != 0 {
		t.Errorf("no number is kept as %d, want 0", got)
	}
}

// facts/overload.md row 11: litellm#7130, #7262, mpfaffenberger/code_puppy#317: retries
// upon retries made 45 attempts of one. Under a vendor that fails every call, attempts
// stay within 1.1 of the calls.
func TestAttemptsUnderAVendorThatFailsEveryCall(t *testing.T) {
	t.Parallel()
	const calls = 10_000
	b, attempts := NewRetryBudget(0.1), 0
	for range calls {
		b.Call()
		attempts++
		for b.Room(0, 48, 0.1) { // each caller tries as often as it may
			b.Take()
			attempts++
		}
	}
	if attempts != 11_000 {
		t.Errorf("%d attempts for %d calls, want 11000", attempts, calls)
	}
}

func TestRetriesNeverExceedTheirShare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(-0.5, 1.5).Draw(t, "share")
		b, calls, retries := NewRetryBudget(share), 0, 0
		t.Repeat(map[string]func(*rapid.T){
			"call": func(*rapid.T) { b.Call(); calls++ },
			"retry": func(*rapid.T) {
				if b.Room(0, 48, 0.1) {
					b.Take()
					retries++
				}
			},
			"": func(t *rapid.T) {
				// As many as were lent, until that is less than the share of the calls.
				if most := max(3, min(max(share, 0), 1)*float64(calls)+1e-6*float64(calls)); float64(retries) > most {
					t.Fatalf("%d retries of %d calls, want at most %g", retries, calls, most)
				}
			},
		})
	})
}
