package intent

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// need says which words a text must hold for a pattern to fit: at least one of them. A
// regular expression takes about a millisecond for a long message; looking for the
// words of all patterns in one pass takes a twentieth of that.
type need struct {
	words []string // none: unknown, the pattern must be run
	exact bool     // a text with one of the words fits, no more to ask
	reach int      // the most bytes that a match has; 0: no limit is known
}

// maxWords bounds the words of one pattern; beyond it a wider need must do.
const maxWords = 64

func needOf(pattern string) need {
	parsed, err := syntax.Parse("(?i)"+pattern, syntax.Perl)
	if err != nil {
		return need{}
	}
	parsed = parsed.Simplify()
	s := setOf(parsed)
	if !s.usable() {
		return need{}
	}
	n := need{words: s.words, exact: s.whole && !s.asserts}
	if reach := reachOf(parsed); reach <= maxReach {
		n.reach = reach
	}
	return n
}

const maxReach = 4096

// reachOf returns the most bytes that a match can have, above maxReach when there is no
// telling.
func reachOf(re *syntax.Regexp) int {
	sum := 0
	switch re.Op {
	case syntax.OpLiteral:
		sum = len(re.Rune) * utf8.UTFMax
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		sum = utf8.UTFMax
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		return maxReach + 1
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			sum = max(sum, reachOf(sub))
		}
	default:
		for _, sub := range re.Sub {
			sum += reachOf(sub)
		}
	}
	return min(sum, maxReach+1)
}

// set is what is known of the texts that a part of a pattern fits.
type set struct {
	words   []string // each fitting text holds one of them
	whole   bool     // and is one of them
	asserts bool     // but there are assertions to meet besides
}

func (s set) usable() bool { return s.least() > 0 }

// least returns the length of the shortest word: the longer, the rarer in texts.
func (s set) least() int {
	if len(s.words) == 0 {
		return 0
	}
	least := len(s.words[0])
	for _, w := range s.words {
		least = min(least, len(w))
	}
	return least
}

func setOf(re *syntax.Regexp) set {
	switch re.Op {
	case syntax.OpLiteral:
		return set{words: []string{strings.ToLower(string(re.Rune))}, whole: true}
	case syntax.OpCharClass:
		return classSet(re.Rune)
	case syntax.OpCapture:
		return setOf(re.Sub[0])
	case syntax.OpConcat:
		return concatSet(re.Sub)
	case syntax.OpAlternate:
		return alternateSet(re.Sub)
	case syntax.OpPlus:
		s := setOf(re.Sub[0])
		return set{words: s.words}
	case syntax.OpQuest:
		s := setOf(re.Sub[0])
		if s.whole {
			return set{words: append(slices.Clone(s.words), ""), whole: true, asserts: s.asserts}
		}
		return set{}
	case syntax.OpEmptyMatch:
		return set{words: []string{""}, whole: true}
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return set{words: []string{""}, whole: true, asserts: true}
	}
	return set{}
}

// classSet lists the characters of a small class.
func classSet(ranges []rune) set {
	var words []string
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] >= maxWords || len(words) >= maxWords {
			return set{}
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if c := string(unicode.ToLower(r)); norm.NFKC.IsNormalString(c) { // no folded text holds the others
				words = append(words, c)
			}
		}
	}
	slices.Sort(words)
	return set{words: slices.Compact(words), whole: true}
}

// concatSet joins the words of neighbours while they are few; where a gap lies between,
// the rarest run is what is looked for.
func concatSet(subs []*syntax.Regexp) set {
	var best set
	run := set{words: []string{""}, whole: true}
	broken, asserts := false, false
	keep := func(s set) {
		if s.least() > best.least() {
			best = s
		}
	}
	for _, sub := range subs {
		s := setOf(sub)
		asserts = asserts || s.asserts
		if s.whole && len(s.words)*len(run.words) <= maxWords {
			run.words = cross(run.words, s.words)
			continue
		}
		broken = true
		keep(run)
		keep(s)
		run.words = []string{""}
		if s.whole { // begin anew with this one
			run.words = s.words
		}
	}
	keep(run)
	if !broken {
		return set{words: run.words, whole: true, asserts: asserts}
	}
	return set{words: best.words}
}

func cross(left, right []string) []string {
	all := make([]string, 0, len(left)*len(right))
	for _, l := range left {
		for _, r := range right {
			all = append(all, l+r)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func alternateSet(subs []*syntax.Regexp) set {
	all := set{whole: true}
	for _, sub := range subs {
		s := setOf(sub)
		if len(s.words) == 0 || len(all.words)+len(s.words) > 4*maxWords {
			return set{}
		}
		all.words = append(all.words, s.words...)
		all.whole = all.whole && s.whole
		all.asserts = all.asserts || s.asserts
	}
	return all
}
