package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Languages that replies are written in.
const (
	Chinese = "zh"
	English = "en"
)

// Language returns the language of the reply to text: what Spoken says, else English.
func Language(text, locale string) string {
	if language := Spoken(text, locale); language != "" {
		return language
	}
	return English
}

// Spoken returns the language in which the writer of text is answered: that of the text,
// then that of the locale which the caller named. It is empty where neither says: the
// text is a number, a code, a product ("iPhone 15"), a sign or an "ok", and the locale is none.
//
// A text with Chinese words is Chinese, in simplified or traditional characters, also
// where most of it is Latin: mixed messages come from people who read Chinese. Only one
// whose sentences are Latin and whose Han characters are few and no sentence (a product's
// name) is English, and so is one in Japanese. Pinyin is Chinese. Any other script is answered in English.
func Spoken(text, locale string) string {
	var c counts
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if latin(r) || '0' <= r && r <= '9' {
			size = c.word(text[i:])
		} else {
			c.sign(r)
		}
		i += size
	}
	if language := c.language(); language != "" {
		return language
	}
	return localeLanguage(locale)
}

func localeLanguage(locale string) string {
	switch primary, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(locale), "_", "-"), "-"); primary {
	case "":
		return ""
	case Chinese, "yue", "wuu", "cmn":
		return Chinese
	}
	return English
}

// counts is what a text is made of.
type counts struct {
	han, kana, other int
	grammar          bool // a Han character that sentences are made with
	words            int  // Latin words that are no codes
	names            int  // of them those with a capital at the beginning alone
	products         int  // words such as iPhone: with a capital behind a small letter
	pinyin           int  // of the words those that are read as Chinese
	sure             bool // one of them can be nothing else
}

// word counts the Latin word that text begins with and returns its length in bytes. One
// with a digit is a code, and "ok" is said in every language.
func (c *counts) word(text string) int {
	digits, n := false, 0
	capitals, inner := 0, false
	for n < len(text) {
		r, size := rune(text[n]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[n:])
		}
		digit := '0' <= r && r <= '9'
		if !digit && r != '\'' && !latin(r) {
			break
		}
		digits = digits || digit
		if 'A' <= r && r <= 'Z' {
			capitals++
			inner = inner || n > 0 && 'a' <= text[n-1] && text[n-1] <= 'z'
		}
		n += size
	}
	switch word := text[:n]; {
	case digits, strings.EqualFold(word, "ok"), strings.EqualFold(word, "okay"):
	case inner:
		c.products++
	default:
		c.words++
		if capitals == 1 && 'A' <= word[0] && word[0] <= 'Z' {
			c.names++
		}
		if capitals == 0 || len(word) > 1 && c.words == 1 && c.names == 1 {
			c.spelt(strings.ToLower(word), capitals)
		}
	}
	return n
}

func (c *counts) sign(r rune) {
	switch {
	case r < utf8.RuneSelf:
	case r >= 0x4e00 && r <= 0x9fff:
		c.han++
		c.grammar = c.grammar || strings.ContainsRune(grammar, r)
	case r >= 0x3041 && r <= 0x30ff && r != '・' && r != 'ー':
		c.kana++
	case unicode.Is(unicode.Han, r):
		c.han++
	case unicode.IsLetter(r) && (r < 0xff00 || r > 0xffef): // full-width letters are codes, mostly
		c.other++
	}
}

// grammar are characters that Chinese sentences are made with and names seldom hold.
const grammar = "的了吗嗎呢吧啊我你您他她它怎么麼什哪谁誰是不没沒请請帮幫给給在有要能会會想把被还還就都也这這那个個为為"

func (c *counts) language() string {
	switch {
	case c.han > 0 && c.kana*3 >= c.han: // Japanese
		return English
	case c.han > 0 && (c.grammar || c.words < 4 || c.han*2 >= c.words):
		return Chinese
	case c.other == 0 && c.kana == 0 && c.isPinyin():
		return Chinese
	case c.products > 0 && c.names == c.words && c.other == 0 && c.kana == 0: // "iPhone 15 Pro"
		return ""
	case c.words > 0 || c.other > 0 || c.kana > 0:
		return English
	}
	return ""
}

// latin reports whether r is a letter of a Latin script.
func latin(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return r >= 0xc0 && r <= 0x24f && r != 0xd7 && r != 0xf7
}
