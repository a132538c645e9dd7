package worker

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/chat"
)

// writing is what can be said of the script of a text.
type writing int

const (
	unclear writing = iota
	right           // of the language that it should be in
	wrong           // almost wholly of another one
)

// Letters that a text is judged by; a Han character says as much as hanLetters of them.
// pure letters of the right script are enough to go on where there are no others, since the
// customer waits for the first word, and sure where there are; many decide in any case, and
// few decide at the end of a text, least where it has none of the right script. What holds hardly any is not held back beyond longest bytes.
const (
	hanLetters = 4
	pure       = 8
	pureHan    = 12 // a third character: Japanese sentences begin with two as well
	least      = 4
	sure       = 24
	many       = 40
	few        = 16
	longest    = 800
)

// writingOf judges a reply that should be in a language. ended: no more of it comes. Code,
// quotations, addresses, names and order numbers do not count: names begin with a capital,
// numbers hold digits.
func writingOf(text, language string, ended bool) writing {
	own, other := letters(text, language)
	switch {
	case other >= many && own*8 <= other, ended && other >= few && own*8 <= other:
		return wrong
	case ended && own == 0 && (other >= least || language == chat.Chinese && isPlain(text)):
		return wrong
	case own >= pureOf(language) && other == 0, own >= sure && own*2 >= other, own+other >= 2*many, ended, len(text) >= longest:
		return right
	}
	return unclear
}

// letters counts those of the language and of others.
func letters(text, language string) (own, other int) {
	han, latin, rest, kana := 0, 0, 0, 0
	for i := 0; i < len(text); {
		if end := skipped(text, i); end > i {
			i = end
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.Is(unicode.Han, r):
			han += hanLetters
		case isLatin(r) || unicode.IsDigit(r):
			var n int
			if n, size = word(text[i:], language); n > 0 {
				latin += n
			}
		case unicode.IsLetter(r):
			rest += hanLetters / 2
			if unicode.Is(unicode.Hiragana, r) {
				kana++
			}
		}
		i += size
	}
	if kana > 1 && kana*hanLetters*3 >= han { // sentences of Japanese
		han, rest = 0, rest+han
	}
	if language == chat.Chinese {
		return han, latin + rest
	}
	return latin, han + rest
}

func pureOf(language string) int {
	if language == chat.Chinese {
		return pureHan
	}
	return pure
}

// plainWords are English answers that a capital does not make a name.
const plainWords = " done yes no sure hello hi thanks sorry shipped delivered refunded cancelled canceled confirmed received understood noted welcome certainly absolutely great perfect resolved approved completed "

// isPlain reports whether a text has no other words than these.
func isPlain(text string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	for _, w := range words {
		if !strings.Contains(plainWords, " "+strings.ToLower(w)+" ") {
			return false
		}
	}
	return len(words) > 0
}

// quotes open and close what is quoted: code, and the names of things.
var quotes = [...][2]string{{"```", "```"}, {"`", "`"}, {"“", "”"}, {"「", "」"}, {"『", "』"}, {"《", "》"}}

// skipped returns where a quotation ends that begins at i; i: none does.
func skipped(text string, i int) int {
	for _, q := range quotes {
		inside, opened := strings.CutPrefix(text[i:], q[0])
		if !opened {
			continue
		}
		if n := strings.Index(inside, q[1]); n >= 0 {
			return i + len(q[0]) + n + len(q[1])
		}
		return len(text) // its end is still to come
	}
	return i
}

// word returns how many letters of the Latin word that text begins with count, and its
// length in bytes. In a Chinese text a word with a capital is a name.
func word(text, language string) (count, size int) {
	common := true
	for size < len(text) {
		r, n := utf8.DecodeRuneInString(text[size:])
		switch {
		case isLatin(r):
			if count++; unicode.IsUpper(r) && language == chat.Chinese {
				common = false
			}
		case unicode.IsDigit(r) || r == '@' || r == '_' || r == '/' || r == '.' && inWord(text, size+1):
			common = false
		case r != '\'' && r != '-':
			if !common || strings.HasPrefix(text[size:], "://") || strings.EqualFold(text[:size], "ok") || strings.EqualFold(text[:size], "okay") {
				count = 0
			}
			return count, size
		}
		size += n
	}
	if !common || strings.EqualFold(text, "ok") || strings.EqualFold(text, "okay") {
		count = 0
	}
	return count, size
}

func inWord(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[i:])
	return i < len(text) && (isLatin(r) || unicode.IsDigit(r))
}

func isLatin(r rune) bool { return unicode.Is(unicode.Latin, r) }
