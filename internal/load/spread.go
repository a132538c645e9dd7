package load

import (
	"math"
	"slices"
)

// Spread tells how a number of samples lie. Percentiles are exact, by nearest rank: of n
// sorted samples, the p-th is number ⌈p·n/100⌉, counted from 1. It is always one of the
// samples. All are 0 when there is none.
type Spread struct {
	Count int   `json:"count"`
	P50   int64 `json:"p50"`
	P95   int64 `json:"p95"`
	P99   int64 `json:"p99"`
	Max   int64 `json:"max"`
}

func spreadOf(samples []int64) Spread {
	n := len(samples)
	if n == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(samples))
	rank := func(percent int) int64 { return sorted[(percent*n+99)/100-1] }
	return Spread{Count: n, P50: rank(50), P95: rank(95), P99: rank(99), Max: sorted[n-1]}
}

// Bucket counts the samples above the bucket before it and up to UpToMS.
type Bucket struct {
	UpToMS int64 `json:"up_to_ms"`
	Count  int   `json:"count"`
}

const buckets = 30 // at most

// histogramOf counts samples in buckets of one round width.
func histogramOf(samples []int64) []Bucket {
	if len(samples) == 0 {
		return nil
	}
	width := roundUp(float64(max(slices.Max(samples), 1)) / buckets)
	out := make([]Bucket, 0, buckets)
	for up := width; ; up += width {
		out = append(out, Bucket{UpToMS: up})
		if up >= slices.Max(samples) {
			break
		}
	}
	for _, s := range samples {
		out[max(s-1, 0)/width].Count++
	}
	return out
}

// roundUp returns the next of 1, 2, 5, 10, 20, 50 …
func roundUp(x float64) int64 {
	unit := math.Pow(10, math.Floor(math.Log10(max(x, 1))))
	for _, n := range []float64{1, 2, 5} {
		if n*unit >= x {
			return int64(n * unit)
		}
	}
	return int64(10 * unit)
}
