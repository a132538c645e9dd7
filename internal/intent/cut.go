package intent

import (
	"regexp"
	"strings"
	"unicode"
)

// deniable are what customers say that they do not want, and words that have another sense
// beside some others. Patterns know more of them; this is what the model takes for urgent on
// its own.
var deniable = regexp.MustCompile(`(?:转接?|找|叫)?(?:人工|真人|活人)(?:客服|服务|坐席)?|(?:找|转|联系)?客服|投诉|退款|退钱|(?:打|回)电话` +
	`|\b(?:zhuan ?)?ren ?gong\b|\btui ?kuan\b|\btou ?su\b` +
	`|\b(?:refunds?|money back|complain(?:ts?|ing)?|(?:human |real |live )?(?:agents?|humans?|persons?|operators?|representatives?)|anyone|someone|call ?back)\b` +
	`|\b(?:transfer|connect|call|phone|ring) me\b(?: back\b| to [a-z]+\b| with [a-z]+\b)?`)

// praise has words of complaints in it.
var praise = regexp.MustCompile(`(?:五|5)(?:颗)?星(?:的)?好评|\b(?:five|5)[- ]stars?\b`)

// robot is what is left to who wants no person.
var robot = regexp.MustCompile(`(?:智能)?机器人|\b(?:the |a |this )?(?:chat ?)?(?:ro)?bots?\b`)

// maxCuts bounds what is looked at.
const maxCuts = 64

// leastLeft is how many letters must be left of a text from which something was cut.
const leastLeft = 2

// cut takes out of a folded text what is denied in it, as the model would read it for a
// wish, and reports whether anything is. Where the rules of refunds are asked for, returns
// stand beside them.
func cut(text string) (left string, denies bool) {
	found := deniable.FindAllStringIndex(text, maxCuts)
	if found == nil && !praise.MatchString(text) {
		return text, false
	}
	var kept strings.Builder
	done := 0
	for _, m := range found {
		from, how := denial(text, m[0], m[1])
		if how == wanted {
			continue
		}
		kept.WriteString(text[done:max(done, from)])
		done, denies = m[1], true
		if how == ruled {
			kept.WriteString(inGeneral(text[m[0]:m[1]]))
		}
	}
	kept.WriteString(text[done:])
	left = praise.ReplaceAllString(kept.String(), "")
	if denies {
		left = robot.ReplaceAllString(left, "")
	}
	return left, denies
}

// says reports whether a text has letters enough to be read.
func says(text string) bool {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n >= leastLeft
}
