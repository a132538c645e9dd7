package knowledge

import (
	"sync"

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
	sheets    sync.Pool // of *sheet, for searches
}

// posting is a passage with how often it has a term.
type posting struct {
	passage int32
	times   float32
}

// headingTimes is what a term in a heading counts beside one in the text.
const headingTimes = 1.5

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
