package knowledge

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"sluice/internal/chat"
)

// BM25's constants. A single Han character weighs less than a pair: in the ranking, and
// in what is covered.
const (
	saturation     = 1.2
	lengthShare    = 0.6
	characterPart  = 0.3
	characterCover = 0.7
)

// loneMatch is what a single word in common counts in what is covered of several: that
// much, by chance, many passages have of any question.
const loneMatch = 0.5

// wordCover bends what is covered of a question in words: a passage has a third of them by
// chance sooner than a third of Chinese characters and pairs. So one threshold parts alike in
// both; nothing and all stay what they are.
const wordCover = 1.3

// fewPassages is how many passages it takes to tell rare words from frequent ones.
const fewPassages = 100

// otherLanguage is what a passage in another language than the question's is worth: a
// product number is found all the same.
const otherLanguage = 0.6

// maxTerms is how much of a long question is looked for: its beginning.
const maxTerms = 300

// Hit is a passage that was found.
type Hit struct {
	Passage
	Score float64 // of BM25; to compare the hits of one question
	// Covered is the part of what the question asks for, weighed by how rare it is, that
	// the passage speaks of: 0 to 1, and comparable between questions.
	Covered float64
	// Likeness is how near the meaning of the passage is to the question's, where vectors
	// tell: up to 1, and comparable between questions of one space.
	Likeness float64

	number int32   // of the passage
	share  float64 // what Covered is bent from
}

// sheet is what a search adds up, by passage. It is used by one search after the other.
type sheet struct {
	scores, covered []float32
	matches         []uint16 // terms that the passage has
	found           []int32  // passages that have a score
	lone            float64  // what one term in common counts
}

// Search returns the passages that fit best, the best first, at most n. Those in the
// language go before equally good ones in others.
func (x *Index) Search(question, language string, n int) []Hit {
	terms := termsOf(x.reader, question)
	terms = terms[:min(len(terms), maxTerms)]
	slices.Sort(terms)
	s, lent := x.sheets.Get().(*sheet)
	if !lent {
		s = &sheet{scores: make([]float32, len(x.passages)), covered: make([]float32, len(x.passages)), matches: make([]uint16, len(x.passages))}
	}
	defer func() {
		for _, i := range s.found {
			s.scores[i], s.covered[i], s.matches[i] = 0, 0, 0
		}
		s.found = s.found[:0]
		x.sheets.Put(s)
	}()
	terms = slices.Compact(terms)
	asked := float32(0)
	for _, term := range terms {
		asked += x.count(term, s)
	}
	if s.lone = loneMatch; len(terms) == 1 {
		s.lone = 1
	}
	return x.best(s, asked, language, n)
}

// count adds what the passages with a term have of it, and returns what it is worth.
func (x *Index) count(term string, s *sheet) float32 {
	having := x.postings[term]
	rarity := rarityOf(len(having), len(x.passages))
	// Among few passages every word is frequent, and says something all the same.
	telling := rarityOf(len(having), max(len(x.passages), fewPassages))
	if utf8.RuneCountInString(term) == 1 && term[0] >= utf8.RuneSelf {
		rarity, telling = rarity*characterPart, telling*characterCover
	}
	for _, p := range having {
		if s.scores[p.passage] == 0 {
			s.found = append(s.found, p.passage)
		}
		norm := saturation * (1 - lengthShare + lengthShare*x.lengths[p.passage]/x.usual)
		s.scores[p.passage] += rarity * p.times * (saturation + 1) / (p.times + norm)
		s.covered[p.passage] += telling
		s.matches[p.passage]++
	}
	return telling
}

func rarityOf(having, all int) float32 {
	return float32(math.Log(1 + (float64(all-having)+0.5)/(float64(having)+0.5)))
}

// best takes the n best of a sheet. Among equals the order is that of documents and texts.
func (x *Index) best(s *sheet, asked float32, language string, n int) []Hit {
	hits := make([]Hit, 0, n+1)
	better := func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document), cmp.Compare(a.Text, b.Text))
	}
	for _, i := range s.found {
		p, score := &x.passages[i], float64(s.scores[i])
		if p.Language != language {
			score *= otherLanguage
		}
		if len(hits) == n && (n == 0 || score < hits[n-1].Score) {
			continue
		}
		h := Hit{Passage: *p, Score: score, Covered: float64(s.covered[i] / asked), number: i}
		if s.matches[i] == 1 {
			h.Covered *= s.lone
		}
		h.share = h.Covered
		if language != chat.Chinese {
			h.Covered = math.Pow(h.Covered, wordCover)
		}
		at, _ := slices.BinarySearchFunc(hits, h, better)
		hits = slices.Insert(hits, at, h)
		hits = hits[:min(len(hits), n)]
	}
	return hits
}
