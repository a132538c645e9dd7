package faq

import (
	_ "embed"
	"strings"
	"unicode"
)

// contrastLines are opposites.
//
//go:embed words/contrast.txt
var contrastLines string

// emptyLines are words that say nothing about what is asked.
//
//go:embed words/empty.txt
var emptyLines string

// guard keeps back answers that the ranker is certain of for the wrong reason. It never
// changes and is safe for concurrent use.
type guard struct {
	pairs [][2][]string
	empty map[string]bool
	blank *strings.Replacer // takes Chinese empty words out
}

// maxPairs is the room of sides.
const maxPairs = 64

func newGuard() *guard {
	g := &guard{empty: map[string]bool{}}
	for line := range strings.Lines(contrastLines) {
		left, right, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if ok && len(g.pairs) < maxPairs {
			g.pairs = append(g.pairs, [2][]string{bordered(left), bordered(right)})
		}
	}
	var chinese []string
	for word := range strings.FieldsSeq(emptyLines) {
		if word[0] < 0x80 {
			g.empty[word] = true
		} else {
			chinese = append(chinese, word, "")
		}
	}
	g.blank = strings.NewReplacer(chinese...)
	return g
}

// bordered gives English words blanks at both ends; Chinese ones have no borders.
func bordered(list string) []string {
	words := strings.Split(list, ", ")
	for i, w := range words {
		if w[0] < 0x80 {
			words[i] = " " + w + " "
		}
	}
	return words
}

// sides says on which side of each pair of opposites a text stands, a bit for each; one
// with both stands on neither.
type sides struct {
	left, right uint64
	does, not   uint64 // actions that the text names, and that it does not want
	numbers     int    // 1: they go up from the first to the last; -1: down; 0: neither
}

func (s sides) against(o sides) bool {
	return s.left&o.right|s.right&o.left|s.not&o.does|s.does&o.not != 0 || s.numbers*o.numbers < 0
}

func (g *guard) sides(plain string) sides {
	s := sides{numbers: direction(plain)}
	s.does, s.not = actions(plain)
	for i, pair := range g.pairs {
		a, b := anyIn(plain, pair[0]), anyIn(plain, pair[1])
		if a && !b {
			s.left |= 1 << i
		}
		if b && !a {
			s.right |= 1 << i
		}
	}
	return s
}

func anyIn(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// direction compares the first and the last number word: "from one to four" and "from
// four to one" are the same words.
func direction(plain string) int {
	first, last := 0, 0
	see := func(n int) {
		if n > 0 && first == 0 {
			first = n
		}
		if n > 0 {
			last = n
		}
	}
	for word := range strings.FieldsSeq(plain) {
		see(numberWord(word))
		for _, r := range word {
			see(numberSign(r))
		}
	}
	switch {
	case last > first:
		return 1
	case last < first:
		return -1
	}
	return 0
}

func numberWord(word string) int {
	for n, w := range []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"} {
		if w == word {
			return n + 1
		}
	}
	return 0
}

func numberSign(r rune) int {
	if r == '两' {
		return 2
	}
	n := 0
	for _, c := range "一二三四五六七八九十" {
		n++
		if c == r {
			return n
		}
	}
	return 0
}

// Of a question at least this must be left without its empty words.
const (
	leastHan   = 3
	leastWords = 2
)

// short reports whether too little of a plain question says what is asked.
func (g *guard) short(question string) bool {
	han, words := 0, 0
	for word := range strings.FieldsSeq(g.blank.Replace(question)) {
		before := han
		for _, r := range word {
			if unicode.Is(unicode.Han, r) {
				han++
			}
		}
		if han == before && !g.empty[word] {
			words++
		}
	}
	return han < leastHan && han/2+words < leastWords
}
