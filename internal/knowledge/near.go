package knowledge

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/vector"
)

// Reach is how many passages each of the two rankings has a say about.
const Reach = 50

// rankOffset keeps the first places of a ranking from counting for everything: 60, as in
// reciprocal rank fusion's first paper (Cormack, Clarke and Büttcher 2009).
const rankOffset = 60

// Texts returns what an embedding model is to read of each passage, by its number: the
// headings that it stands under, and its text.
func (x *Index) Texts() []string {
	all := make([]string, len(x.passages))
	for i, p := range x.passages {
		all[i] = strings.Join(append(slices.Clone(p.Headings), p.Text), "\n")
	}
	return all
}

// SearchNear returns the n passages that fit best by their words and by their meaning: the
// places of both rankings are fused, so that no scale of either matters. near are passages
// by number, the most alike first. Those in the language go before others in both.
func (x *Index) SearchNear(question, language string, near []vector.Near, n int) []Hit {
	byNumber := map[int32]*Hit{}
	var all []*Hit
	enter := func(h Hit) *Hit {
		if known := byNumber[h.number]; known != nil {
			return known
		}
		h.Score = 0
		byNumber[h.number] = &h
		all = append(all, &h)
		return &h
	}
	for place, h := range x.Search(question, language, Reach) {
		enter(h).Score += 1 / float64(rankOffset+place)
	}
	for place, one := range x.ordered(near, language) {
		h := enter(Hit{Passage: x.passages[one.Number], number: int32(one.Number)})
		h.Likeness = one.Likeness
		h.Score += 1 / float64(rankOffset+place)
	}
	slices.SortFunc(all, func(a, b *Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Covered, a.Covered), cmp.Compare(a.number, b.number))
	})
	hits := make([]Hit, 0, n)
	for _, h := range all[:min(n, len(all))] {
		hits = append(hits, *h)
	}
	return hits
}

// ordered are near passages as the language ranks them. Numbers that the index does not
// have are left out.
func (x *Index) ordered(near []vector.Near, language string) []vector.Near {
	worth := func(one vector.Near) float64 {
		if x.passages[one.Number].Language != language {
			return one.Likeness * otherLanguage
		}
		return one.Likeness
	}
	some := slices.DeleteFunc(slices.Clone(near), func(one vector.Near) bool {
		return one.Number < 0 || one.Number >= len(x.passages)
	})
	slices.SortStableFunc(some, func(a, b vector.Near) int { return cmp.Compare(worth(b), worth(a)) })
	return some[:min(len(some), Reach)]
}

// strangers is the part of the small talk that no passage may be taken for an answer to.
const strangers = 0.95

// Floor returns the likeness from which on a passage is about a question. best are, of
// messages that no document answers, how like the nearest passage is to each: what a model
// gives to strangers differs from model to model, so it is measured on the passages at hand.
func Floor(best []float64) float64 {
	if len(best) == 0 {
		return 1
	}
	sorted := slices.Sorted(slices.Values(best))
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*strangers))]
}
