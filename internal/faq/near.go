package faq

import (
	"slices"
	"strings"

	"sluice/internal/vector"
)

// Vectors are those of Texts, all of length 1 and in one space.
type Vectors struct {
	Space string
	Of    map[string][]float32
}

// of returns the vector of a text; nil: there is none.
func (v *Vectors) of(text string) []float32 {
	if v == nil {
		return nil
	}
	return v.Of[text]
}

// Texts returns what a base with vectors needs the vectors of: the questions and answers of
// its entries, and the small talk that it is measured on.
func Texts(entries []Entry) []string {
	var all []string
	for _, e := range entries {
		for _, language := range e.Languages() {
			all = append(all, e.Questions[language]...)
			if answer := e.Answers[language]; answer != "" {
				all = append(all, answer)
			}
		}
	}
	return append(all, SmallTalk()...)
}

// SmallTalk returns messages that no entry and no document answers.
func SmallTalk() []string {
	return slices.Collect(func(yield func(string) bool) {
		for line := range strings.Lines(talkLines) {
			if !yield(strings.TrimSpace(line)) {
				return
			}
		}
	})
}

// Space names the space of the vectors that the base can be asked with; empty: none, words
// alone tell.
func (b *Base) Space() string {
	if b.former != nil {
		return b.former.space
	}
	return b.space
}

// dimensions returns how long the vectors are; 0: there are none.
func (r *ranker) dimensions() int {
	for _, p := range r.all {
		if p.vector != nil {
			return len(p.vector)
		}
	}
	return 0
}

// approach adds to fits how near the vector is to those of their phrasings.
func (r *ranker) approach(fits []fit, v []float32) {
	if v == nil {
		return
	}
	for _, p := range r.all {
		if p.vector == nil {
			continue
		}
		if near := (vector.Likeness(v, p.vector) - r.floor) / (1 - r.floor); near > fits[p.entry].near {
			fits[p.entry].near = near
		}
	}
}

// floor returns the likeness that the small talk has on average to its nearest phrasing:
// what a model gives to strangers differs from model to model.
func (v *Vectors) floor(r *ranker) float64 {
	if v == nil {
		return 0
	}
	sum, n := 0.0, 0
	for _, text := range SmallTalk() {
		q := v.of(text)
		if q == nil {
			continue
		}
		fits := make([]fit, len(r.entries))
		r.approach(fits, q)
		best := 0.0
		for _, f := range fits {
			best = max(best, f.near)
		}
		sum, n = sum+best, n+1
	}
	return min(sum/float64(max(1, n)), 0.95)
}

// weighNear has vectors say something where that holds on what was held out: no more wrong
// answers than are allowed. Else words alone tell.
func (b *Base) weighNear(points []point, vectors *Vectors) {
	b.near = judge{answerFrom: never, offerFrom: never}
	if vectors == nil || len(points) == 0 {
		return
	}
	b.near = calibrate(points)
	answered, wrong := expect(points, b.near.answerFrom)
	if wrong > MaxWrong {
		return
	}
	b.space = vectors.Space
	b.found.Near = &NearCalibration{Points: len(points), Answered: answered, Wrong: wrong}
}
