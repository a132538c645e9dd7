package sim

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"sluice/internal/chat"
)

//go:embed phrases.json
var phrases []byte

// Languages that the model answers in, by the text of the question.
const (
	chinese = "zh"
	english = "en"
)

// book holds what the model can say. It is read only.
type book struct {
	Voices map[string]voice `json:"voices"`
	Topics []topic          `json:"topics"` // the first whose words occur decides; the last has none
}

// voice holds the phrases of a language that belong to no topic.
type voice struct {
	Ask      []string `json:"ask"`
	Found    []string `json:"found"`
	Failed   []string `json:"failed"`
	Cited    []string `json:"cited"`
	FollowUp string   `json:"followup"`
	Back     []string `json:"back"` // words that point back to an earlier question
}

// topic is a kind of question.
type topic struct {
	Name    string              `json:"name"`
	Acts    bool                `json:"acts"`  // its tools have side effects
	Order   bool                `json:"order"` // is about one order
	Small   bool                `json:"small"` // small talk: nothing to look up
	Tools   []string            `json:"tools"` // parts of the names of tools that serve it
	Words   map[string][]string `json:"words"`
	Answers map[string][]string `json:"answers"`
}

func loadBook() (*book, error) {
	b := &book{}
	if err := json.Unmarshal(phrases, b); err != nil {
		return nil, err
	}
	for _, lang := range []string{chinese, english} {
		v := b.Voices[lang]
		if len(v.Ask) == 0 || len(v.Found) == 0 || len(v.Failed) == 0 || len(v.Cited) == 0 {
			return nil, fmt.Errorf("language %s: a phrase is missing", lang)
		}
		for _, t := range b.Topics {
			if len(t.Answers[lang]) == 0 {
				return nil, fmt.Errorf("topic %s: no answer in language %s", t.Name, lang)
			}
		}
	}
	if len(b.Topics) == 0 {
		return nil, fmt.Errorf("no topics")
	}
	return b, nil
}

// topicsOf returns the topics whose words occur in the question, in the book's order, or
// the last topic alone.
func (b *book) topicsOf(question, lang string) []topic {
	var out []topic
	for _, t := range b.Topics {
		if mentions(question, lang, t.Words[lang]) {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		out = b.Topics[len(b.Topics)-1:]
	}
	return out
}

// mentions reports whether one of the words occurs: anywhere in Chinese, at the start of
// a word in English, which finds plurals as well.
func mentions(s, lang string, words []string) bool {
	if lang == english {
		s = " " + strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}), " ") + " "
	}
	for _, w := range words {
		if lang == english {
			w = " " + w
			if len(w) <= 4 {
				w += " " // "hi" is not the start of "history"
			}
		}
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func languageOf(s string) string {
	if chat.Language(s, "") == chat.Chinese {
		return chinese
	}
	return english
}
