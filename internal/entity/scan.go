package entity

import (
	"strings"

	"sluice/internal/chat"
)

// scan is one pass over a plain text.
type scan struct {
	text  string
	found []chat.Entity

	cue    cue // the last word that says what numbers mean
	cueEnd int
	noMail int // up to here no mail address begins
}

func (s *scan) run() {
	for i := 0; i < len(s.text); {
		c := s.text[i]
		switch {
		case digit(c):
			i = s.number(i)
		case letter(c):
			i = s.word(i)
		case (c == '+' || c == '(') && i+1 < len(s.text) && (digit(s.text[i+1]) || s.text[i+1] == '+'):
			i = s.phoneSign(i)
		case c >= 0xe4 && c <= 0xe9 && i+2 < len(s.text):
			i = s.han(i)
		case c == '@':
			i = max(i+1, s.wideMail(i))
		default:
			i = s.sign(i)
		}
	}
}

// add notes an entity and returns its end.
func (s *scan) add(kind chat.EntityKind, value string, start, end int) int {
	s.found = append(s.found, chat.Entity{Kind: kind, Value: value, Start: start, End: end})
	return end
}

// sign passes one sign, or an amount that begins with the sign of its money.
func (s *scan) sign(i int) int {
	for _, money := range [...]string{"$", "\u00a5", "\uffe5", "\u20ac", "\u00a3"} {
		if strings.HasPrefix(s.text[i:], money) {
			if value, end := figure(s.text, blanks(s.text, i+len(money))); end > 0 {
				return s.add(chat.EntityAmount, value, i, end)
			}
			return i + len(money)
		}
	}
	return i + 1
}

// number takes what begins with a digit: a mail address, a date, an amount, or a chain of
// groups of digits, of which the longest that makes sense is taken first.
func (s *scan) number(i int) int {
	if end := s.mail(i); end > 0 {
		return end
	}
	if value, end := date(s.text, i); end > 0 {
		return s.add(chat.EntityDate, value, i, end)
	}
	if value, end := amount(s.text, i); end > 0 {
		return s.add(chat.EntityAmount, value, i, end)
	}
	if end := alphanumeric(s.text, i); end > digits(s.text, i) {
		return s.code(i, end)
	}
	return s.chain(i)
}

// chain judges groups of digits with single signs between them.
func (s *scan) chain(i int) int {
	groups := groupsAt(s.text, i)
	for n := len(groups); n > 0; n-- {
		if kind := s.personal(groups[:n], s.near(i)); kind != "" {
			return s.add(kind, join(s.text, groups[:n]), i, groups[n-1].end)
		}
	}
	if end := dashed(s.text, groups, s.near(i)); end > 0 {
		return s.add(chat.EntityOrder, s.text[i:end], i, end)
	}
	g := groups[0]
	n := g.end - g.start
	kind := chat.EntityKind("")
	switch near := s.near(i); {
	case n < 4:
	case near == cueOrder && n <= 30, (near == cueTracking || near == cueParcel) && n <= 30 && n >= 8:
		kind = near.entity()
	case n >= 6 && n <= 30 && ordered(s.text[g.end:]):
		kind = chat.EntityOrder
	case n >= 14 && n <= 24:
		kind = chat.EntityOrder
	}
	if kind == "" {
		return g.end
	}
	s.cueEnd = g.end // a list: "orders 123456, 234567"
	return s.add(kind, s.text[g.start:g.end], i, g.end)
}

// near returns what the last cue says of a number that begins at i; cueNone: nothing near
// enough does.
func (s *scan) near(i int) cue {
	if i-s.cueEnd > reach {
		return cueNone
	}
	return s.cue
}

// reach is how many bytes a cue may stand before its number.
const reach = 40

// alphanumeric returns the end of the letters and digits from i on.
func alphanumeric(text string, i int) int {
	for i < len(text) && (digit(text[i]) || letter(text[i])) {
		i++
	}
	return i
}

func digits(text string, i int) int {
	for i < len(text) && digit(text[i]) {
		i++
	}
	return i
}

// blanks passes at most one blank.
func blanks(text string, i int) int {
	if i < len(text) && text[i] == ' ' {
		return i + 1
	}
	return i
}

func digit(c byte) bool  { return '0' <= c && c <= '9' }
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
