package intent

import (
	_ "embed"
	"strings"
)

// conceptLines are words and phrases that mean alike to a service desk, one idea a line:
// they carry what is learnt from one wording over to another.
//
//go:embed words/concepts.txt
var conceptLines string

// concepts finds the ideas in a text.
type concepts struct {
	words *automaton
	count int
}

func newConcepts() *concepts { return conceptsOf(conceptLines) }

// bordered gives an English word blanks at both ends, one with a star only before it.
// Chinese ones have no borders.
func bordered(word string) string {
	if word[0] >= 0x80 {
		return word
	}
	if stem, ok := strings.CutSuffix(word, "*"); ok {
		return " " + stem
	}
	return " " + word + " "
}

// in returns the ideas of a text, which has single blanks between words and at its ends.
func (c *concepts) in(text string) []uint64 {
	var found []uint64
	for i, at := range c.words.scan(text, c.count) {
		if at.first > 0 {
			found = append(found, uint64(i))
		}
	}
	return found
}
