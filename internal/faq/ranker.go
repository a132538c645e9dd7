package faq

import (
	"cmp"
	"context"
	"math"
)

// maxTrained is how many entries are learnt: above it the likeness alone ranks, because
// learning takes time and room with the square of the entries.
const maxTrained = 300

// ranker orders the entries by how well they fit a text. It never changes and is safe
// for concurrent use.
type ranker struct {
	entries []Entry
	all     []phrasing
	scales  *scales
	index   [][]posting // by feature
	lean    []sides     // of each entry: where most of its phrasings stand
	model   *softmax    // nil: likeness alone
	floor   float64     // likeness by vectors that strangers have: from there on it counts
}

// posting is a phrasing that has a feature, with its weight there.
type posting struct {
	phrasing int32
	weight   float32
}

// newRanker learns from some phrasings. All their features are in the vocabulary.
func newRanker(ctx context.Context, features int, entries []Entry, all []phrasing) (*ranker, error) {
	r := &ranker{
		entries: entries, all: all, scales: newScales(features, all, len(entries)),
		index: make([][]posting, features), lean: lean(len(entries), all),
	}
	vectors := make([][]weighted, len(all))
	for i, p := range all {
		vectors[i], _ = r.scales.vector(p.has)
		for _, f := range vectors[i] {
			r.index[f.number] = append(r.index[f.number], posting{int32(i), f.weight})
		}
	}
	if len(entries) > maxTrained {
		return r, nil
	}
	var err error
	r.model, err = learn(ctx, features, len(entries), all, vectors)
	return r, err
}

// fit is an entry with how well it fits.
type fit struct {
	entry    int
	cos      float64 // likeness of its nearest phrasing
	p        float64 // of the softmax
	matched  float64 // part of the nearest phrasing that the text has too
	phrasing int     // the nearest one; none: nothing in common
	near     float64 // likeness of its nearest phrasing by vectors, above the floor; 0: unknown
}

const none = -1

func (f fit) fused() float64 { return f.cos + f.p + f.near }

// ranking is what a ranker makes of a text.
type ranking struct {
	best   [ranked]fit // the best first
	n      int         // how many of them there are
	agreed bool        // likeness and softmax have the same favourite
	mass   float64     // part of the text that is known
	has    int         // features of the text
}

// ranked is how many entries are kept: those to offer.
const ranked = 3

func (r *ranker) rank(has []count, vector []float32) ranking {
	text, mass := r.scales.vector(has)
	fits := r.fits(text)
	r.approach(fits, vector)
	got := ranking{mass: mass, has: len(has)}
	alike, probable := 0, 0
	for k, f := range fits {
		if f.cos > fits[alike].cos {
			alike = k
		}
		if f.p > fits[probable].p {
			probable = k
		}
		r.keep(&got, f)
	}
	got.agreed = alike == probable
	return got
}

// likeness is what a phrasing has in common with a text.
type likeness struct{ whole, matched float32 }

// fits are all entries, in their order.
func (r *ranker) fits(text []weighted) []fit {
	found := make([]likeness, len(r.all))
	for _, f := range text {
		for _, p := range r.index[f.number] {
			l := &found[p.phrasing]
			l.whole += p.weight * f.weight
			l.matched += p.weight * p.weight
		}
	}
	fits := make([]fit, len(r.entries))
	for k := range fits {
		fits[k] = fit{entry: k, phrasing: none}
	}
	for i, l := range found {
		f := &fits[r.all[i].entry]
		if float64(l.whole) > f.cos {
			f.cos, f.phrasing, f.matched = float64(l.whole), i, float64(l.matched)
		}
	}
	if r.model != nil {
		p := make([]float64, len(fits))
		r.model.probabilities(text, p)
		for k := range fits {
			fits[k].p = p[k]
		}
	}
	return fits
}

// keep puts a fit in its place among the best.
func (r *ranker) keep(got *ranking, f fit) {
	at := got.n
	for at > 0 && r.before(f, got.best[at-1]) {
		at--
	}
	if at == ranked {
		return
	}
	got.n = min(got.n+1, ranked)
	copy(got.best[at+1:], got.best[at:got.n-1])
	got.best[at] = f
}

func (r *ranker) before(f, o fit) bool {
	return cmp.Or(cmp.Compare(f.fused(), o.fused()), r.entries[f.entry].Priority-r.entries[o.entry].Priority) > 0
}

// signals are what the certainty of the best entry is judged by; the first is constant.
type signals [12]float64

// signals needs how probable the intent of the best entry is.
func (r ranking) signals(wanted float64) signals {
	best, next, agreed := r.best[0], r.best[1], 0.0
	if r.agreed {
		agreed = 1
	}
	return signals{
		1, best.cos, best.cos - next.cos, best.p, best.p - next.p,
		r.mass, best.matched, agreed, math.Log(float64(1 + r.has)), wanted,
		best.near, best.near - next.near,
	}
}

// An entry leans to a side on which at least this many of its phrasings stand, and not
// many stand on the other; and so it does what they do.
const (
	leanFrom  = 2
	leanTimes = 4
)

// lean needs the phrasings of an entry side by side.
func lean(entries int, all []phrasing) []sides {
	var left, right, does [maxPairs]int
	of := make([]sides, entries)
	for i, p := range all {
		for b := range maxPairs {
			left[b] += int(p.sides.left >> b & 1)
			right[b] += int(p.sides.right >> b & 1)
			does[b] += int(p.sides.does >> b & 1)
		}
		if i+1 < len(all) && all[i+1].entry == p.entry {
			continue
		}
		for b := range maxPairs {
			if left[b] >= leanFrom && left[b] >= leanTimes*right[b] {
				of[p.entry].left |= 1 << b
			}
			if right[b] >= leanFrom && right[b] >= leanTimes*left[b] {
				of[p.entry].right |= 1 << b
			}
			if does[b] >= leanFrom {
				of[p.entry].does |= 1 << b
			}
		}
		left, right, does = [maxPairs]int{}, [maxPairs]int{}, [maxPairs]int{}
	}
	return of
}

// opposed reports whether a question stands on the other side than the entry or its
// nearest phrasing.
func (r *ranker) opposed(question sides, f fit) bool {
	return question.against(r.lean[f.entry]) || f.phrasing != none && question.against(r.all[f.phrasing].sides)
}
