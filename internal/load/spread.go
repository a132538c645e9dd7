package load

import (
	"slices"

	"sluice/internal/report"
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
	width := report.RoundUp(float64(max(slices.Max(samples), 1)) / buckets)
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
