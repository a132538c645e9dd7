package rules

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Bounds of what one intent holds.
const (
	maxPattern  = 1000 // characters
	maxTemplate = 2000 // characters
	maxExample  = 500  // characters
)

// Bounds of all intents together: what the classifier learns from in a few seconds.
const (
	maxIntents  = 200
	maxExamples = 10_000
)

func (d *document) checkIntents(intents []Intent) {
	var seen []string
	examples := exampleCheck{document: d, of: map[string]string{}}
	if n := len(intents); n > maxIntents {
		d.fault("intents", "must be at most %d, has %d", maxIntents, n)
	}
	for i, in := range intents {
		path := fmt.Sprintf("intents[%d]", i)
		if !wordName.MatchString(in.Name) {
			d.fault(path+".name", "must be 1 to 32 of a-z 0-9 _ -, is %s", quote(in.Name))
		} else if j := slices.Index(seen, in.Name); j >= 0 {
			d.fault(path+".name", "must be unique, intents[%d] is %s too", j, quote(in.Name))
		}
		seen = append(seen, in.Name)
		for k, p := range in.Patterns {
			d.checkPattern(fmt.Sprintf("%s.patterns[%d]", path, k), p)
		}
		for k, e := range in.Examples {
			examples.check(fmt.Sprintf("%s.examples[%d]", path, k), strings.TrimSpace(e), in.Name)
		}
		if in.Off && in.Name == Other {
			d.fault(path+".off", "must be false for %s: its template is the last answer of all", Other)
		}
		if in.Off && len(in.Template) == 0 {
			d.fault(path+".off", "is for shipped intents, and there is none named %s", quote(in.Name))
			continue
		}
		d.checkTemplate(path+".template", in.Template)
	}
}

// exampleCheck judges the examples of all intents.
type exampleCheck struct {
	*document
	of    map[string]string // intent by example
	count int
}

func (c *exampleCheck) check(path, example, intent string) {
	c.count++
	other, again := c.of[example]
	switch n := len([]rune(example)); {
	case n == 0:
		c.fault(path, "must not be blank")
	case n > maxExample:
		c.fault(path, "must hold at most %d characters, has %d", maxExample, n)
	case again && other != intent:
		c.fault(path, "must not be an example of %s too", quote(other))
	case c.count == maxExamples+1:
		c.fault(path, "must be at most the last of %d examples", maxExamples)
	}
	c.of[example] = intent
}

// checkPattern compiles a pattern as the classifier will. One that fits the empty text
// would fit every message.
func (d *document) checkPattern(path, p string) {
	if n := len([]rune(p)); n > maxPattern {
		d.fault(path, "must hold at most %d characters, has %d", maxPattern, n)
		return
	}
	re, err := regexp.Compile("(?i)" + p)
	if err != nil {
		reason := "cannot be compiled"
		if e, ok := err.(*syntax.Error); ok { // its text repeats the whole pattern
			reason = e.Code.String()
		}
		d.fault(path, "must be an RE2 pattern: %s", reason)
		return
	}
	if re.MatchString("") {
		d.fault(path, "must not fit the empty text")
	}
}
