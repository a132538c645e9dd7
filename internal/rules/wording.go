package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/chat"
)

// Texts are wordings of one answer. A document may give one as a plain text.
type Texts []string

// Gap is a place in a text that is filled in for each ticket, such as {order}.
var Gap = regexp.MustCompile(`\{([a-z_]+)\}`)

// Gaps are the names of what can be filled in.
func Gaps() []string { return []string{"order", "tracking", "name"} }

// maxWordings is the most wordings of one template in one language.
const maxWordings = 20

func (d *document) checkTemplate(path string, template map[string]Texts) {
	for _, lang := range []string{chat.Chinese, chat.English} {
		if len(template[lang]) == 0 {
			d.fault(path+"."+lang, "must be given")
		}
	}
	for lang, texts := range template {
		if lang != chat.Chinese && lang != chat.English {
			d.fault(fmt.Sprintf("%s.%s", path, strings.Trim(quote(lang), `"`)), "unknown language, must be %s or %s", chat.Chinese, chat.English)
			continue
		}
		d.checkWordings(path+"."+lang, texts)
	}
}

// checkWordings judges the wordings of one language. One of them must need nothing: it is
// there for every message.
func (d *document) checkWordings(path string, texts Texts) {
	if n := len(texts); n > maxWordings {
		d.fault(path, "must be at most %d texts, has %d", maxWordings, n)
	}
	whole := len(texts) == 0
	for i, text := range texts {
		at := path
		if _, listed := d.at[fmt.Sprintf("%s[%d]", path, i)]; listed {
			at = fmt.Sprintf("%s[%d]", path, i)
		}
		switch n := len([]rune(text)); {
		case strings.TrimSpace(text) == "" && len(texts) == 1:
			d.fault(at, "must be given")
		case strings.TrimSpace(text) == "":
			d.fault(at, "must not be blank")
		case n > maxTemplate:
			d.fault(at, "must hold at most %d characters, has %d", maxTemplate, n)
		case slices.Contains(texts[:i], text):
			d.fault(at, "must be unique")
		}
		gaps := Gap.FindAllStringSubmatch(text, -1)
		whole = whole || len(gaps) == 0
		for _, gap := range gaps {
			if !slices.Contains(Gaps(), gap[1]) {
				d.fault(at, "must hold no other gaps than {%s}, holds {%s}", strings.Join(Gaps(), "}, {"), gap[1])
			}
		}
	}
	if !whole {
		d.fault(path, "must hold a text without gaps, for messages that name nothing")
	}
}
