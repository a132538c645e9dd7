package main

import (
	"context"
	"time"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// series is the input of a test, in memory.
type series []storage.Series

func (s *series) add(l labels.Labels, values []parser.SequenceValue, every time.Duration) {
	var samples []chunks.Sample
	for i, v := range values {
		if !v.Omitted {
			samples = append(samples, sample{int64(i) * every.Milliseconds(), v.Value})
		}
	}
	*s = append(*s, storage.NewListSeries(l, samples))
}

// Querier implements storage.Queryable. The engine itself leaves out what is too old or too new.
func (s series) Querier(int64, int64) (storage.Querier, error) { return querier{s}, nil }

type querier struct{ all series }

// Select implements storage.Querier.
func (q querier) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	set := &set{at: -1}
	for _, s := range q.all {
		fits := true
		for _, m := range matchers {
			fits = fits && m.Matches(s.Labels().Get(m.Name))
		}
		if fits {
			set.all = append(set.all, s)
		}
	}
	return set
}

// LabelValues implements storage.LabelQuerier.
func (querier) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// LabelNames implements storage.LabelQuerier.
func (querier) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// Close implements storage.LabelQuerier.
func (querier) Close() error { return nil }

// set is a result.
type set struct {
	all []storage.Series
	at  int
}

func (s *set) Next() bool                        { s.at++; return s.at < len(s.all) }
func (s *set) At() storage.Series                { return s.all[s.at] }
func (s *set) Err() error                        { return nil }
func (s *set) Warnings() annotations.Annotations { return nil }

// sample is a number at a time in milliseconds.
type sample struct {
	t int64
	v float64
}

func (s sample) T() int64                      { return s.t }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.v }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }
