package intent

import (
	"strings"
	"unicode"
)

// What the model reads of a text: the request stands at the beginning or at the end.
const (
	headRunes = 300
	tailRunes = 200
)

// maxLetters is what is read of one word.
const maxLetters = 30

// token is a run of Han characters, a word of other letters and digits, or one sign.
type token struct {
	text []rune
	kind tokenKind
}

type tokenKind int

const (
	hanToken tokenKind = iota
	wordToken
	signToken
)

// plain brings a folded text into the form that features are made of: no longer than is
// read, simplified, digits as 0, no character more than twice in a row, no apostrophes.
func (h *han) plain(folded string) []rune {
	runes := []rune(folded)
	if len(runes) > headRunes+tailRunes {
		runes = append(runes[:headRunes], runes[len(runes)-tailRunes:]...)
	}
	out := runes[:0]
	for _, r := range runes {
		r = h.simple(r)
		if '0' <= r && r <= '9' {
			r = '0'
		}
		n := len(out)
		twice := n > 1 && out[n-1] == r && out[n-2] == r
		if r == '\'' || twice || r == '0' && n > 0 && out[n-1] == '0' {
			continue
		}
		out = append(out, r)
	}
	return out
}

// tokensOf cuts a plain text. Blanks only part the tokens.
func tokensOf(plain []rune) []token {
	var all []token
	for i := 0; i < len(plain); {
		r, from := plain[i], i
		i++
		switch {
		case isHan(r):
			for i < len(plain) && isHan(plain[i]) {
				i++
			}
			all = append(all, token{plain[from:i], hanToken})
		case inWord(r):
			for i < len(plain) && inWord(plain[i]) && !isHan(plain[i]) {
				i++
			}
			all = append(all, token{plain[from:min(i, from+maxLetters)], wordToken})
		case !unicode.IsSpace(r):
			all = append(all, token{plain[from:i], signToken})
		}
	}
	return all
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// spaced writes the words with single blanks between them and at both ends.
func spaced(tokens []token) string {
	var out strings.Builder
	out.WriteByte(' ')
	for _, t := range tokens {
		if t.kind == signToken {
			continue
		}
		for _, r := range t.text {
			out.WriteRune(r)
		}
		out.WriteByte(' ')
	}
	return out.String()
}
