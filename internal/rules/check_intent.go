package rules

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"sluice/internal/chat"
)

// Bounds of what one intent holds.
const (
	maxPattern  = 1000 // characters
	maxTemplate = 2000 // characters
)

var language = regexp.MustCompile(`^[a-z]{2}$`)

func (d *document) checkIntents(intents []Intent) {
	var seen []string
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
			if strings.TrimSpace(e) == "" {
				d.fault(fmt.Sprintf("%s.examples[%d]", path, k), "must not be blank")
			}
		}
		d.checkTemplate(path+".template", in.Template)
	}
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

func (d *document) checkTemplate(path string, template map[string]string) {
	for _, lang := range []string{chat.Chinese, chat.English} {
		if strings.TrimSpace(template[lang]) == "" {
			d.fault(path+"."+lang, "must be given")
		}
	}
	for lang, text := range template {
		if !language.MatchString(lang) {
			d.fault(fmt.Sprintf("%s.%s", path, strings.Trim(quote(lang), `"`)), "must be a language code of two letters")
		} else if n := len([]rune(text)); n > maxTemplate {
			d.fault(path+"."+lang, "must hold at most %d characters, has %d", maxTemplate, n)
		}
	}
}
