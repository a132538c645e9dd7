package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold brings a text into the one form that patterns are written for: NFKC, which also
// makes full-width letters and punctuation plain, lower case, straight apostrophes, no
// invisible characters, and no blanks between two Han characters, which people put in
// to get past filters.
func fold(text string) string {
	f := folder{out: make([]byte, 0, len(text)+utf8.UTFMax)}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t':
			f.blank = true
			i++
		case c < utf8.RuneSelf:
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			f.before(false)
			f.out = append(f.out, c)
			i++
		case hanAt(text, i):
			f.before(true)
			f.out = append(f.out, text[i], text[i+1], text[i+2])
			i += 3
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			f.rare(r)
			i += size
		}
	}
	f.before(false)
	if f.odd { // ASCII, Han and CJK punctuation are normal as they stand
		return strings.ToLower(norm.NFKC.String(string(f.out)))
	}
	return string(f.out)
}

// hanAt reports whether U+4000 to U+9FFF stands at i: Han, and some signs that NFKC
// leaves alone as well. It looks at the bytes because most of a Chinese text passes here.
func hanAt(text string, i int) bool {
	return text[i] >= 0xe4 && text[i] <= 0xe9 && i+2 < len(text) && text[i+1]&0xc0 == 0x80 && text[i+2]&0xc0 == 0x80
}

type folder struct {
	out   []byte
	blank bool // blanks wait to be written as one
	han   bool // the last character was Han
	odd   bool // NFKC has work to do
}

// before writes the blank that waits, unless it stands between two Han characters.
func (f *folder) before(han bool) {
	if f.blank && !(han && f.han) {
		f.out = append(f.out, ' ')
	}
	f.blank, f.han = false, han
}

// rare takes what is neither ASCII nor common Han.
func (f *folder) rare(r rune) {
	switch {
	case r == '\u3000':
		f.blank = true
		return
	case unicode.Is(unicode.Cf, r):
		return
	case '\uff01' <= r && r <= '\uff5e':
		r = unicode.ToLower(r - '\uff01' + '!')
	case r == '\u2019' || r == '\u2018':
		r = '\''
	case r < '\u3001' || r > '\u3011':
		f.odd = true
	}
	f.before(false)
	f.out = utf8.AppendRune(f.out, r)
}
