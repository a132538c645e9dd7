package knowledge

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/vector"
)

// Reach is how many passages each of the two rankings has a say about.
const Reach = 50

// Texts returns what an embedding model is to read of each passage, by its number: the
// headings that it stands under, and its text.
func (x *Index) Texts() []string {
	all := make([]string, len(x.passages))
	for i, p := range x.passages {
		all[i] = strings.Join(append(slices.Clone(p.Headings), p.Text), "\n")
	}
	return all
}

// SearchNear returns the n passages that fit best by their words and by their meaning. near
// are passages by number, and floor is the likeness that strangers have: see Floor. Those in
// the language go before equally good ones in others.
//
// What is fused are two parts of 1, not two places: how much of the question a passage
// covers, by the best one's measure, and how far it lies above the floor. Fusing places,
// which needs no scale, gives both rankings the same say however little one of them knows:
// with vectors that know nothing but letters it halved what was found (docs/knowledge.md).
func (x *Index) SearchNear(question, language string, near []vector.Near, floor float64, n int) []Hit {
	byWords := x.Search(question, language, Reach)
	all := make([]Hit, 0, len(byWords)+len(near))
	at := map[int32]int{}
	for _, h := range byWords {
		at[h.number] = len(all)
		h.Score = h.Score / byWords[0].Score * byWords[0].share
		all = append(all, h)
	}
	for _, one := range near {
		if one.Number < 0 || one.Number >= len(x.passages) {
			continue // of another index
		}
		i, known := at[int32(one.Number)]
		if !known {
			i = len(all)
			all = append(all, Hit{Passage: x.passages[one.Number], number: int32(one.Number)})
		}
		above := max(0, one.Likeness-floor) / max(1-floor, 0.01)
		if all[i].Language != language {
			above *= otherLanguage
		}
		all[i].Likeness = one.Likeness
		all[i].Score += above
	}
	slices.SortFunc(all, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.number, b.number))
	})
	return all[:min(n, len(all))]
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
