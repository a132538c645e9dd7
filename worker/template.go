package worker

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/chat"
)

// gap is a place in a wording that is filled in for each ticket: {order}, {tracking}, {name}.
var gap = regexp.MustCompile(`\{([a-z_]+)\}`)

// longestValue is the most characters of what fills a gap; a longer one fills none.
const longestValue = 40

// noted makes a second wording of a template that has only one.
var noted = map[string]string{
	chat.Chinese: "您这条新消息也已经一并记下，不用重复发送。",
	chat.English: "This further message is noted as well; there is no need to send it again.",
}

// templates are the answers that need no vendor: intent → language → wordings.
//
// The wordings are of two sides, and a ticket gets one of the side that its turn in the
// session has, so that two messages in a row never get the same text, whatever they are
// about and name. Every intent has on either side a wording without gaps, and no text is
// on both sides.
type templates map[string]map[string][2][]wording

// wording is one text with the names of its gaps.
type wording struct {
	text string
	gaps []string
}

func newTemplates(texts map[string]map[string][]string) templates {
	all, sides := templates{}, map[string]int{}
	for _, intent := range slices.Sorted(maps.Keys(texts)) {
		all[intent] = map[string][2][]wording{}
		for _, language := range slices.Sorted(maps.Keys(texts[intent])) {
			if len(gapless(texts[intent][language])) > 0 {
				all[intent][language] = twoSides(texts[intent][language], language, sides)
			}
		}
	}
	return all
}

// twoSides parts wordings between the sides. One that stands elsewhere already keeps its side.
func twoSides(texts []string, language string, known map[string]int) (of [2][]wording) {
	put := func(text string, side int) {
		if was, there := known[text]; there {
			side = was
		}
		known[text] = side
		of[side] = append(of[side], wordingOf(text))
	}
	plain := gapless(texts)
	for i, text := range plain {
		put(text, (i+1)%2) // the first one is for the first message
	}
	i := 0
	for _, text := range texts {
		if !slices.Contains(plain, text) {
			put(text, (i+1)%2)
			i++
		}
	}
	for side := range of {
		for n := 1; !slices.ContainsFunc(of[side], func(w wording) bool { return len(w.gaps) == 0 }); n++ {
			more := noted[language]
			if more == "" {
				more = noted[chat.English]
			}
			put(plain[0]+strings.Repeat("\n\n"+more, n), side) // n: even that may stand elsewhere
		}
	}
	return of
}

// gapless returns the texts without gaps.
func gapless(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return text == "" || gap.MatchString(text) })
}

func wordingOf(text string) wording {
	w := wording{text: text}
	for _, found := range gap.FindAllStringSubmatch(text, -1) {
		w.gaps = append(w.gaps, found[1])
	}
	return w
}

// choose returns the text for a ticket, and its language. Of the wordings whose gaps can
// all be filled in, those that have any come first: they say most.
func (t templates) choose(ticket *chat.Ticket) (text, language string) {
	language = ticket.Language
	if _, known := t[Other][language]; !known {
		language = chat.English
	}
	sides, known := t[ticket.Intent][language]
	if !known {
		sides = t[Other][language]
	}
	values, turn := valuesOf(ticket), max(1, ticket.Turn)
	var best []wording
	for _, w := range sides[turn%2] {
		switch {
		case slices.ContainsFunc(w.gaps, func(name string) bool { return values[name] == "" }):
		case len(best) > 0 && min(1, len(best[0].gaps)) > min(1, len(w.gaps)):
		case len(best) > 0 && min(1, len(best[0].gaps)) < min(1, len(w.gaps)):
			best = []wording{w}
		default:
			best = append(best, w)
		}
	}
	w := best[turn/2%len(best)]
	return gap.ReplaceAllStringFunc(w.text, func(name string) string { return values[name[1:len(name)-1]] }), language
}

// valuesOf returns what a ticket has for the gaps.
func valuesOf(t *chat.Ticket) map[string]string {
	values := map[string]string{}
	for _, e := range t.Entities {
		name := string(e.Kind)
		if (e.Kind == chat.EntityOrder || e.Kind == chat.EntityTracking) && values[name] == "" {
			values[name] = plainValue(e.Value)
		}
	}
	if t.Customer != nil {
		values["name"] = plainValue(t.Customer.Name)
	}
	return values
}

// plainValue returns what a customer or caller wrote so that it is read as no markup and
// as one line; empty where nothing is left, or too much.
func plainValue(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || strings.ContainsRune(" -.·'", r) {
			return r
		}
		return -1
	}, s))
	if utf8.RuneCountInString(s) > longestValue {
		return ""
	}
	return s
}
