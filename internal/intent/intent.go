// Package intent tells what a customer wants from the words of the message: stage 1
// asks it once for each ticket. It is plain code without I/O, fast enough to stand
// before the acceptance. Patterns answer from the first moment; a model trained on
// examples joins them as soon as there is one.
package intent

import (
	"fmt"
	"regexp"
	"slices"
)

// Other is the name for a message that fits nothing.
const Other = "other"

// Class is one intent as the classifier sees it.
type Class struct {
	Name   string // unique
	Urgent bool   // asked first, and heeds negations. Defaults to false.
	// Patterns are RE2 expressions, any one of which is enough. They are matched without
	// regard to case against the folded text: NFKC, lower case, one width.
	Patterns []string
}

// Result is what the classifier makes of a message.
type Result struct {
	Intent string // the most probable class, or Other
	// Urgent is whether the message may be of an urgent class: the doubt is the
	// customer's gain, so it can hold of a message whose most probable class is not.
	Urgent     bool
	Confidence float64 // probability of Intent; 1 where a pattern alone decides
	Unknown    bool    // nothing fits well enough to rely on Intent
}

// Classifier finds the class of a text. It never changes and is safe for concurrent use.
type Classifier struct {
	classes []Class // urgent ones first, each kind in the given order
	rules   []rule
	words   *automaton
	simple  *han
	model   *Model // nil: patterns alone
	joins   []join // of the model's classes
	taught  []bool // of our classes: the model has seen enough of it to be asked
}

// New compiles the classes. Urgent ones come first, and each kind in the given order.
func New(classes []Class) (*Classifier, error) {
	c := &Classifier{classes: slices.Clone(classes), words: newAutomaton(), simple: newHan()}
	slices.SortStableFunc(c.classes, func(a, b Class) int { return rank(a) - rank(b) })
	c.taught = make([]bool, len(c.classes))
	for k, class := range c.classes {
		for i, p := range class.Patterns {
			re, err := regexp.Compile("(?i)" + p)
			if err != nil {
				return nil, fmt.Errorf("compile pattern %d of intent %s: %w", i, class.Name, err)
			}
			r := rule{class: k, urgent: class.Urgent, re: re, needs: needOf(p)}
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

// Urgent reports whether the class is an urgent one.
func (c *Classifier) Urgent(class string) bool {
	return slices.ContainsFunc(c.classes, func(own Class) bool { return own.Name == class && own.Urgent })
}

// Classify tells what the text wants. A negated match of an urgent pattern ("not a
// complaint", "不用转人工") does not count. The time grows with the length of the text,
// never faster, and the model reads no more than the first and the last characters.
func (c *Classifier) Classify(text string) Result {
	text = fold(text)
	if c.model == nil {
		return c.byPattern(text)
	}
	evidence := c.ask(text)
	left, denies := cut(text)
	if left != text && !says(left) && !slices.Contains(evidence, fitting) {
		return Result{Intent: Other, Unknown: true}
	}
	return c.weigh(c.model.read(left), evidence, denies)
}

// byPattern answers by the first class with a pattern that fits.
func (c *Classifier) byPattern(text string) Result {
	for k, says := range c.ask(text) {
		if says == fitting {
			return Result{Intent: c.classes[k].Name, Urgent: c.classes[k].Urgent, Confidence: 1}
		}
	}
	return Result{Intent: Other, Unknown: true}
}

// ask returns what the patterns of each class say of the folded text, as it stands and
// in simplified characters.
func (c *Classifier) ask(text string) []evidence {
	says := make([]evidence, len(c.classes))
	c.match(text, says)
	if simple, differs := c.simple.simplified(text); differs {
		c.match(simple, says)
	}
	return says
}

func (c *Classifier) match(text string, says []evidence) {
	seen := c.words.scan(text, len(c.rules))
	for i := range c.rules {
		r := &c.rules[i]
		if says[r.class] != fitting && (r.always || seen[i].first > 0) {
			says[r.class] = max(says[r.class], r.look(text, seen[i]))
		}
	}
}
