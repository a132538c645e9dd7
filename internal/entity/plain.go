package entity

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain brings full-width letters, digits and signs, all kinds of dashes and blanks to
// ASCII and takes out what nobody sees, such as the marks that phones put around a copied
// number. at tells where each byte of the plain text, and its end, stands in the given
// one; nil: they are the same.
func plain(text string) (out string, at []int) {
	i := odd(text)
	if i == len(text) {
		return text, nil
	}
	b := make([]byte, i, len(text))
	copy(b, text)
	at = make([]int, i, len(text)+1)
	for k := range at {
		at[k] = k
	}
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if ascii, is := narrow(r); is {
			b, at = append(b, ascii), append(at, i)
		} else if !unseen(r) {
			b = append(b, text[i:i+size]...)
			for range size {
				at = append(at, i)
			}
		}
		i += size
	}
	return string(b), append(at, len(text))
}

// odd returns where the first byte stands that may begin something to be changed. Common
// Chinese characters are none, but Chinese commas are.
func odd(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case 0xc2, 0xcb, 0xd8, 0xe1, 0xe2, 0xef:
			return i
		case 0xe3:
			if strings.HasPrefix(text[i:], "\u3000") {
				return i
			}
		}
	}
	return len(text)
}

func narrow(r rune) (byte, bool) {
	switch {
	case '\uff01' <= r && r <= '\uff5e':
		return byte(r - '\uff01' + '!'), true
	case r >= '\u2010' && r <= '\u2015', r == '\u2212', r == '\ufe63':
		return '-', true
	case r == '\u3000', r == '\u00a0', r == '\u202f', r >= '\u2000' && r <= '\u200a':
		return ' ', true
	}
	return 0, false
}

// unseen are marks that only steer how text is shown.
func unseen(r rune) bool { return r >= 0xad && unicode.Is(unicode.Cf, r) }
