package knowledge

import (
	"strings"
	"unicode"

	"sluice/internal/intent"
)

// termsOf returns what a text is found by: English words without their endings, numbers,
// and single Han characters and pairs of them. The characters alone find what is
// written another way in between, but tell less, so they are few in weight.
func termsOf(r *intent.Reader, text string) []string {
	var terms []string
	runes := []rune(r.Fold(text))
	for i := 0; i < len(runes); {
		from := i
		i++
		switch {
		case unicode.Is(unicode.Han, runes[from]):
			for i < len(runes) && unicode.Is(unicode.Han, runes[i]) {
				i++
			}
			for k := from; k < i; k++ {
				empty := strings.ContainsRune(emptyHan, runes[k])
				if !empty {
					terms = append(terms, string(runes[k:k+1]))
				}
				if k+1 < i && !(empty && strings.ContainsRune(emptyHan, runes[k+1])) {
					terms = append(terms, string(runes[k:k+2]))
				}
			}
		case inWord(runes[from]):
			for i < len(runes) && inWord(runes[i]) {
				i++
			}
			if word := stem(string(runes[from:i])); !emptyWord(word) {
				terms = append(terms, word)
			}
		}
	}
	return terms
}

// emptyHan are characters that say nothing about what is asked, alone or beside another.
const emptyHan = "的了吗呢吧啊呀么怎什哪谁咋啥我你您他她它们这那是有在要会能可以就都也还很请问想帮多少几个"

func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && !unicode.Is(unicode.Han, r)
}

// stem takes the common endings off an English word: rough, but the same for the
// question and the text.
func stem(word string) string {
	for _, ending := range []struct{ from, to string }{
		{"ies", "y"}, {"sses", "ss"}, {"ations", "at"}, {"ation", "at"}, {"ings", ""}, {"ing", ""}, {"ers", "er"},
		{"ed", ""}, {"es", ""}, {"ly", ""}, {"s", ""}, {"e", ""},
	} {
		rest, ok := strings.CutSuffix(word, ending.from)
		if !ok || len(rest) < 3 || ending.from == "s" && strings.HasSuffix(rest, "s") {
			continue
		}
		if n := len(rest); ending.to == "" && n > 3 && rest[n-1] == rest[n-2] && rest[n-1] != 'l' && rest[n-1] != 's' {
			rest = rest[:n-1] // shipping, shipped
		}
		return rest + ending.to
	}
	return word
}

// emptyWord reports whether a stemmed word is in nearly every text.
func emptyWord(word string) bool {
	switch word {
	case "a", "an", "the", "is", "are", "was", "were", "be", "am", "do", "doe", "did", "i", "you", "we", "it", "this", "that",
		"my", "your", "me", "us", "of", "to", "in", "on", "for", "with", "and", "or", "if", "at", "by", "from", "as", "so",
		"what", "which", "who", "how", "when", "wher", "why", "ther", "thi", "thes", "thos", "wer", "been", "our", "they", "them", "not", "but", "than", "then", "into", "about", "just", "some", "som", "much", "many", "can", "could", "will", "would", "should", "may", "there", "any", "have", "ha", "had", "hav",
		"s", "t", "m", "don", "one", "get", "pleas":
		return true
	}
	return false
}
