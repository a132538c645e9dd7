package entity

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain brings full-width letters, digits and signs, digits of other scripts, all kinds of
// dashes and blanks to ASCII and takes out what nobody sees, such as the marks that phones put around a copied
// number. pieces tell where the plain text stands in the given one.
func plain(text string) (out string, pieces []piece) {
	i := odd(text, 0)
	if i == len(text) {
		return text, nil
	}
	b := make([]byte, 0, len(text))
	from := 0
	for ; i < len(text); i = odd(text, i) {
		r, size := utf8.DecodeRuneInString(text[i:])
		ascii, narrowed := narrow(r)
		if narrowed || unseen(r) {
			b = append(b, text[from:i]...)
			if narrowed {
				b = append(b, ascii)
			}
			from = i + size
			pieces = append(pieces, piece{len(b), from})
		}
		i += size
	}
	return string(append(b, text[from:]...)), pieces
}

// piece is a part of a plain text: from at on it stands at origin in the given text.
type piece struct{ at, origin int }

// origin returns where a place of the plain text stands in the given one.
func origin(pieces []piece, at int) int {
	i, _ := slices.BinarySearchFunc(pieces, at, func(p piece, at int) int {
		if p.at <= at {
			return -1
		}
		return 1
	})
	if i == 0 {
		return at
	}
	return pieces[i-1].origin + at - pieces[i-1].at
}

// odd returns where from i on the first byte stands that may begin something to be
// changed. Common Chinese characters are none.
func odd(text string, i int) int {
	for ; i < len(text); i++ {
		if c := text[i]; c < 0xc2 || c >= 0xe4 && c <= 0xe9 {
			continue
		}
		switch text[i] {
		case 0xc2, 0xcb, 0xd8, 0xd9, 0xdb, 0xdf, 0xdc, 0xe0, 0xe1, 0xe2, 0xef, 0xf0, 0xf3:
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
	for _, digits := range unicode.Nd.R16 { // digits of other scripts stand in blocks of ten
		if rune(digits.Lo) <= r && r <= rune(digits.Hi) && r >= utf8.RuneSelf {
			return '0' + byte((r-rune(digits.Lo))%10), true
		}
	}
	return 0, false
}

// unseen are marks that only steer how text is shown.
func unseen(r rune) bool { return r >= 0xad && unicode.Is(unicode.Cf, r) }
