package intent

import (
	"regexp"
	"unicode/utf8"
)

// rule is one pattern of one class.
type rule struct {
	class  int // place in Classifier.classes
	urgent bool
	re     *regexp.Regexp
	needs  need
	always bool // no words to look for: the pattern itself is run on every text
}

// maxLooks bounds how many matches of one pattern are asked whether they are negated.
const maxLooks = 16

// evidence is what the patterns of a class say.
type evidence int8

const (
	silent evidence = iota
	denied          // something fits, but each time its own clause denies it
	fitting
)

// look says what the rule makes of a text in which its words were seen.
func (r *rule) look(text string, at span) evidence {
	if r.needs.exact && !r.always && !r.urgent {
		return fitting
	}
	from, to := r.window(text, at)
	one := r.re.FindStringIndex(text[from:to])
	if one == nil {
		return silent
	}
	if !r.urgent || !negated(text, from+one[0], from+one[1]) {
		return fitting
	}
	for _, m := range r.re.FindAllStringIndex(text[from:to], maxLooks) {
		if !negated(text, from+m[0], from+m[1]) {
			return fitting
		}
	}
	return denied
}

// window returns the part of the text that all matches lie in. A match holds a word and
// is no longer than reach, so none begins at the cut, and what ^, $ and \b would wrongly
// see there does not matter.
func (r *rule) window(text string, at span) (from, to int) {
	if r.always || r.needs.reach == 0 {
		return 0, len(text)
	}
	const margin = utf8.UTFMax
	from = wholeRunes(text, max(0, at.first-r.needs.reach-margin))
	to = wholeRunes(text, min(len(text), at.last+r.needs.reach+margin))
	return from, to
}
