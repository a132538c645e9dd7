package intent

import (
	"math"
	"slices"
	"strings"
)

// Reader takes texts apart for those who compare texts instead of classifying them. It
// never changes and is safe for concurrent use.
type Reader struct {
	reader *reader
	ideas  *concepts
}

// Blocks is how many kinds of features a Reader tells apart: those of the classifier,
// and last the ideas of the Reader's own list.
const Blocks = blocks + 1

const ofIdea feature = 64

// NewReader makes a reader with a list of ideas beside the classifier's, in the form of
// words/concepts.txt.
func NewReader(lines string) *Reader {
	return &Reader{reader: newReader(), ideas: conceptsOf(lines)}
}

func conceptsOf(lines string) *concepts {
	c := &concepts{words: newAutomaton()}
	for line := range strings.Lines(lines) {
		_, list, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || line[0] == '#' {
			continue
		}
		var words []string
		for word := range strings.SplitSeq(list, ", ") {
			words = append(words, bordered(word))
		}
		if c.words.add(words, c.count) {
			c.count++
		}
	}
	c.words.build()
	return c
}

// Plain returns the one form of a text: folded, simplified, its words with single blanks
// between them and at both ends, without signs; digits are 0.
func (r *Reader) Plain(text string) string {
	return spaced(tokensOf(r.reader.han.plain(fold(text))))
}

// Features returns the hashes of what the text has, with repeats. Block tells their kind.
func (r *Reader) Features(text string) []uint64 {
	folded := fold(text)
	all := r.reader.features(folded)
	found := r.ideas.in(spaced(tokensOf(r.reader.han.plain(folded))))
	for _, one := range found {
		all = append(all, and(hash(blocks, ofIdea), one))
	}
	if len(found) > maxConcepts {
		return all
	}
	for i, one := range found {
		for _, other := range found[i+1:] {
			all = append(all, and(and(hash(blocks, ofIdea+1), one), other))
		}
	}
	return all
}

// Block returns which of the Blocks a feature is of.
func Block(feature uint64) int { return int(feature & blockMask) }

// Probabilities returns what the model alone makes of a text, by the names of its
// classes; extra ones are left out. Patterns have no say.
func (m *Model) Probabilities(text string) map[string]float64 {
	logits := m.read(fold(text))
	most, sum := slices.Max(logits), 0.0
	of := map[string]float64{}
	for i, class := range m.classes {
		p := math.Exp(logits[i] - most)
		if !class.extra {
			of[class.name] = p
			sum += p
		}
	}
	for name := range of {
		of[name] /= sum
	}
	return of
}

// Fold returns a text as patterns see it, in simplified characters: words, signs and
// digits stay.
func (r *Reader) Fold(text string) string {
	simple, _ := r.reader.han.simplified(fold(text))
	return simple
}
