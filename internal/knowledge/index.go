package knowledge

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"sluice/internal/intent"
)

// Index finds passages. It never changes and is safe for concurrent use; whoever owns it
// puts another in its place when a new version is published.
type Index struct {
	version   string
	documents int
	passages  []Passage
	reader    *intent.Reader
	postings  map[string][]posting
	lengths   []float32 // of passages, in terms
	usual     float32   // mean of the lengths
}

// posting is a passage with how often it has a term.
type posting struct {
	passage int32
	times   float32
}

// BM25's constants, and what a term in a heading counts beside one in the text. A single
// Han character weighs less than a pair: in the ranking, and in what is covered.
const (
	saturation     = 1.2
	lengthShare    = 0.6
	headingTimes   = 1.5
	characterPart  = 0.3
	characterCover = 0.7
)

func (x *Index) add(p Passage) {
	n := int32(len(x.passages))
	x.passages = append(x.passages, p)
	times, length := map[string]float32{}, float32(0)
	var order []string
	count := func(text string, weight float32) {
		for _, term := range termsOf(x.reader, text) {
			if times[term] == 0 {
				order = append(order, term)
			}
			times[term] += weight
			length++
		}
	}
	count(p.Text, 1)
	for _, heading := range p.Headings {
		count(heading, headingTimes)
	}
	for _, term := range order {
		x.postings[term] = append(x.postings[term], posting{n, times[term]})
	}
	x.lengths = append(x.lengths, length)
}

// Version names what is indexed: the same for the same documents.
func (x *Index) Version() string { return x.version }

// Documents returns how many documents there are.
func (x *Index) Documents() int { return x.documents }

// Passages returns how many passages there are.
func (x *Index) Passages() int { return len(x.passages) }

// Hit is a passage that was found.
type Hit struct {
	Passage
	Score float64 // of BM25; to compare the hits of one question
	// Covered is the part of what the question asks for, weighed by how rare it is, that
	// the passage speaks of: 0 to 1, and comparable between questions.
	Covered float64
}

// Threshold is the least that a passage should cover of a question to answer from it,
// where nobody has chosen another one.
const Threshold = 0.3

// otherLanguage is what a passage in another language than the question's is worth: a
// product number is found all the same.
const otherLanguage = 0.6

// Search returns the passages that fit best, the best first, at most n. Those in the
// language go before equally good ones in others.
func (x *Index) Search(question, language string, n int) []Hit {
	terms := termsOf(x.reader, question)
	slices.Sort(terms)
	terms = slices.Compact(terms)
	scores, covered := map[int32]float64{}, map[int32]float64{}
	asked := 0.0
	for _, term := range terms {
		having := x.postings[term]
		rarity := math.Log(1 + (float64(len(x.passages)-len(having))+0.5)/(float64(len(having))+0.5))
		telling := rarity
		if utf8.RuneCountInString(term) == 1 && term[0] >= utf8.RuneSelf {
			rarity, telling = rarity*characterPart, rarity*characterCover
		}
		asked += telling
		for _, p := range having {
			norm := saturation * (1 - lengthShare + lengthShare*float64(x.lengths[p.passage]/x.usual))
			times := float64(p.times)
			scores[p.passage] += rarity * times * (saturation + 1) / (times + norm)
			covered[p.passage] += telling
		}
	}
	hits := make([]Hit, 0, len(scores))
	for i, score := range scores {
		p := x.passages[i]
		if p.Language != language {
			score *= otherLanguage
		}
		hits = append(hits, Hit{Passage: p, Score: score, Covered: covered[i] / asked})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Text, b.Text))
	})
	return hits[:min(n, len(hits))]
}
