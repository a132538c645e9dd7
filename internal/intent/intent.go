// Package intent tells what a customer wants from the words of the message: stage 1
// asks it once for each ticket. It is plain code without I/O, fast enough to stand
// before the acceptance.
package intent

import (
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

// Other is the name for a message that no pattern fits.
const Other = "other"

// Class is one intent as the classifier sees it.
type Class struct {
	Name   string // unique
	Urgent bool   // asked first, and heeds negations. Defaults to false.
	// Patterns are RE2 expressions, any one of which is enough. They are matched without
	// regard to case against the folded text: NFKC, lower case, one width.
	Patterns []string
}

// Classifier finds the class of a text. It never changes and is safe for concurrent use.
//
// It knows no more than its patterns: a complaint in polite words is missed.
type Classifier struct {
	rules []rule // urgent ones first
	words *automaton
}

// rule is one pattern of one class.
type rule struct {
	class  string
	urgent bool
	re     *regexp.Regexp
	needs  need
	always bool // no words to look for: the pattern itself is run on every text
}

// New compiles the classes. Urgent ones come first, and each kind in the given order.
func New(classes []Class) (*Classifier, error) {
	ordered := slices.Clone(classes)
	slices.SortStableFunc(ordered, func(a, b Class) int { return rank(a) - rank(b) })
	c := &Classifier{words: newAutomaton()}
	for _, class := range ordered {
		for i, p := range class.Patterns {
			re, err := regexp.Compile("(?i)" + p)
			if err != nil {
				return nil, fmt.Errorf("compile pattern %d of intent %s: %w", i, class.Name, err)
			}
			r := rule{class: class.Name, urgent: class.Urgent, re: re, needs: needOf(p)}
			r.always = len(r.needs.words) == 0 || !c.words.add(r.needs.words, len(c.rules))
			c.rules = append(c.rules, r)
		}
	}
	c.words.build()
	return c, nil
}

func rank(c Class) int {
	if c.Urgent {
		return 0
	}
	return 1
}

// Classify returns the first class with a pattern that fits, or Other. A negated match
// of an urgent class ("not a complaint", "不用转人工") does not count. The time grows
// with the length of the text, never faster.
func (c *Classifier) Classify(text string) (name string, urgent bool) {
	text = fold(text)
	seen := c.words.scan(text, len(c.rules))
	for i := range c.rules {
		r := &c.rules[i]
		if r.always || seen[i].first > 0 {
			if r.fits(text, seen[i]) {
				return r.class, r.urgent
			}
		}
	}
	return Other, false
}

// maxLooks bounds how many matches of one pattern are asked whether they are negated.
const maxLooks = 16

// fits reports whether the rule applies to a text in which its words were seen.
func (r *rule) fits(text string, at span) bool {
	if r.needs.exact && !r.always && !r.urgent {
		return true
	}
	from, to := r.window(text, at)
	if !r.urgent {
		return r.re.MatchString(text[from:to])
	}
	one := r.re.FindStringIndex(text[from:to])
	if one == nil {
		return false
	}
	if !negated(text, from+one[0], from+one[1]) {
		return true
	}
	for _, m := range r.re.FindAllStringIndex(text[from:to], maxLooks) {
		if !negated(text, from+m[0], from+m[1]) {
			return true
		}
	}
	return false
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
