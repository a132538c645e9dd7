package mood

import (
	"strings"
	"unicode/utf8"
)

// folded brings a text to lower case, plain apostrophes and signs of one width.
func folded(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case r < utf8.RuneSelf:
			return r
		case r == '\u2019' || r == '\u2018':
			return '\''
		case '\uff21' <= r && r <= '\uff3a':
			return r - '\uff21' + 'a'
		case '\uff01' <= r && r <= '\uff5e':
			return r - '\uff01' + '!'
		}
		return r
	}, text)
}

// shortened cuts the middle out of a long text.
func shortened(text string) string {
	if len(text) <= first+last {
		return text
	}
	head := 0
	for range first {
		_, size := utf8.DecodeRuneInString(text[head:])
		head += size
	}
	tail := len(text)
	for n := 0; n < last && tail > head; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:tail])
		tail -= size
	}
	if tail <= head {
		return text
	}
	return text[:head] + "\n" + text[tail:]
}
