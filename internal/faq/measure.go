package faq

import (
	"context"
	_ "embed"
	"math"
	"slices"
)

// talkLines are messages that no shop's entry answers.
//
//go:embed words/talk.txt
var talkLines string

// How the certainty is measured.
const (
	folds     = 5
	groups    = 5
	maxPoints = 4_000 // of the phrasings, each seen twice; of more a part is taken
)

// measure sees each phrasing as a ranker does that did not learn it, and as one does
// that did not learn any of its entry, by words alone and with vectors. Leaving the entry out of a ranker that has learnt
// it would not do: what it has learnt of the others is shaped by it.
func (b *Base) measure(ctx context.Context, all []phrasing, vectors *Vectors) (points, nearer []point, err error) {
	turn := turns(all)
	for part := range folds {
		held := func(i int) bool { return !all[i].answer && turn[i]%folds == part }
		some, fused, err := b.heldOut(ctx, all, held, inScope)
		if err != nil {
			return nil, nil, err
		}
		points, nearer = append(points, some...), append(nearer, fused...)
	}
	for part := range min(groups, len(b.entries)) {
		held := func(i int) bool { return all[i].entry%groups == part }
		some, fused, err := b.heldOut(ctx, all, held, near)
		if err != nil {
			return nil, nil, err
		}
		points, nearer = append(points, some...), append(nearer, fused...)
	}
	for _, text := range SmallTalk() {
		q := b.question(text)
		points = append(points, b.see(b.ranker, q, far))
		if q.vector = vectors.of(text); q.vector != nil {
			nearer = append(nearer, b.see(b.ranker, q, far))
		}
	}
	return points, nearer, nil
}

// turns numbers the phrasings of each entry and language, so that a fold has its part of
// each.
func turns(all []phrasing) []int {
	type place struct {
		entry    int
		language string
	}
	seen, turn := map[place]int{}, make([]int, len(all))
	for i, p := range all {
		if p.answer {
			continue
		}
		at := place{p.entry, p.language}
		turn[i] = seen[at] + p.entry // entries begin with different folds
		seen[at]++
	}
	return turn
}

// heldOut learns from what is not held, and has a look at the phrasings that are.
func (b *Base) heldOut(ctx context.Context, all []phrasing, held func(int) bool, k kind) (points, nearer []point, _ error) {
	var learnt []phrasing
	for i, p := range all {
		if !held(i) {
			learnt = append(learnt, p)
		}
	}
	if len(learnt) == 0 || len(learnt) == len(all) {
		return nil, nil, nil
	}
	r, err := newRanker(ctx, b.vocabulary.size(), b.entries, learnt)
	if err != nil {
		return nil, nil, err
	}
	r.floor = b.ranker.floor
	stride := 1 + 2*len(all)/maxPoints
	for i, p := range all {
		if !held(i) || p.answer || i%stride != 0 {
			continue
		}
		if i%256 == 0 && ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if p.vector != nil {
			nearer = append(nearer, b.see(r, p, k))
			p.vector = nil
		}
		points = append(points, b.see(r, p, k))
	}
	return points, nearer, nil
}

// see has a ranker look at a text as if it were a question.
func (b *Base) see(r *ranker, p phrasing, k kind) point {
	got := r.rank(p.has, p.vector)
	best := got.best[0]
	return point{
		kind: k, right: k == inScope && best.entry == p.entry,
		signals: got.signals(b.wanted(best, p.has)), doubted: b.doubts(r, p, best),
	}
}

// offerTalk is the part of the small talk that nothing is offered for.
const offerTalk = 0.75

// judge tells from signals how certain the best entry is, and what is done from where on.
type judge struct {
	logistic
	answerFrom float64
	offerFrom  float64
}

// calibrate fits the certainty and chooses from where on to answer and to offer. The points
// get their scores.
func calibrate(points []point) judge {
	j := judge{logistic: fitLogistic(points), answerFrom: never, offerFrom: never}
	var talk []float64
	right := 0
	for i := range points {
		points[i].score = j.score(points[i].signals)
		if points[i].kind == far {
			talk = append(talk, points[i].score)
		}
		if points[i].right {
			right++
		}
	}
	if right > 0 {
		j.answerFrom = threshold(points, MaxWrong)
		slices.Sort(talk)
		j.offerFrom = math.Min(j.answerFrom, talk[int(float64(len(talk))*offerTalk)])
	}
	return j
}

// expect returns which part of the questions in scope would be answered from a score on,
// and which part of all answers would be wrong.
func expect(points []point, from float64) (answered, wrong float64) {
	weights := weigh(points)
	var given, bad, inside, scope float64
	for i, p := range points {
		if p.kind == inScope {
			scope++
		}
		if p.score < from || p.doubted {
			continue
		}
		given += weights[i]
		if p.kind == inScope {
			inside++
		}
		if !p.right {
			bad += weights[i]
		}
	}
	if given == 0 {
		return 0, 0
	}
	return inside / scope, bad / given
}
