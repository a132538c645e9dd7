package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxMessage is the longest message in characters (Unicode code points).
const MaxMessage = 10_000

// CheckMessage says what is wrong with a customer's message, or nil: it holds 1 to
// MaxMessage characters of valid UTF-8 that are not all white space, and no control
// character other than tab and newline. The error never repeats the text.
func CheckMessage(field, s string) error {
	if !utf8.ValidString(s) {
		return Bad(field, "must be valid UTF-8")
	}
	if strings.TrimFunc(s, unseen) == "" {
		return Bad(field, "must hold at least one character that is not white space")
	}
	if n := utf8.RuneCountInString(s); n > MaxMessage {
		return Bad(field, "must hold at most %d characters, has %d", MaxMessage, n)
	}
	return CheckControls(field, s)
}

// unseen reports whether nobody sees the character: white space, or a format mark such
// as a zero-width space.
func unseen(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

// CheckControls refuses control characters other than tab and newline.
func CheckControls(field, s string) error {
	for i, r := range s {
		if unicode.IsControl(r) && r != '\t' && r != '\n' {
			return Bad(field, "must not hold the control character U+%04X (byte %d)", r, i)
		}
	}
	return nil
}
