package faq

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/internal/chat"
)

// Bounds of a list.
const (
	MaxEntries   = 5_000
	MaxPhrasings = 30_000
	MaxQuestion  = 500   // characters of one phrasing
	MaxAnswer    = 4_000 // characters of one answer
	MaxID        = 100   // bytes
)

// FewPhrasings is how many phrasings an entry should have in a language: with fewer it
// is hardly ever found certain enough to answer.
const FewPhrasings = 5

// ErrBounds is returned for a list that holds more, or less, than the bounds allow.
var ErrBounds = errors.New("out of bounds")

// Entry is one question with its answer, in one language or several.
type Entry struct {
	ID        string              `json:"id"`
	Intent    string              `json:"intent,omitempty"`   // the intent that it belongs to
	Questions map[string][]string `json:"questions"`          // phrasings by language
	Answers   map[string]string   `json:"answers"`            // by language
	Priority  int                 `json:"priority,omitempty"` // of entries that fit alike the one with the higher goes first. Defaults to 0.
}

// Check says what is wrong with a list, or nil.
func Check(entries []Entry) error {
	if n := len(entries); n == 0 || n > MaxEntries {
		return fmt.Errorf("%d entries, must be 1 to %d: %w", n, MaxEntries, ErrBounds)
	}
	seen := map[string]bool{}
	phrasings := 0
	for _, e := range entries {
		if seen[e.ID] {
			return &Fault{Entry: e.ID, Field: "id", Reason: "is there twice"}
		}
		seen[e.ID] = true
		if err := e.check(); err != nil {
			return err
		}
		for _, questions := range e.Questions {
			phrasings += len(questions)
		}
	}
	if phrasings > MaxPhrasings {
		return fmt.Errorf("%d phrasings, at most %d: %w", phrasings, MaxPhrasings, ErrBounds)
	}
	return nil
}

// Check says which field of an entry is wrong, as a *Fault, or nil. Whoever asks in a
// language must be answered in it; lists that were stored before that was asked for still
// hold.
func (e Entry) Check() error {
	if err := e.check(); err != nil {
		return err
	}
	for _, language := range e.Languages() {
		if len(e.Questions[language]) > 0 && e.Answers[language] == "" {
			return &Fault{Entry: e.ID, Field: "answers." + language, Reason: "must be given: there are questions in " + language}
		}
	}
	return nil
}

func (e Entry) check() error {
	fault := func(field, format string, args ...any) error {
		return &Fault{Entry: e.ID, Field: field, Reason: fmt.Sprintf(format, args...)}
	}
	if e.ID == "" || len(e.ID) > MaxID || strings.ContainsFunc(e.ID, strange) || !utf8.ValidString(e.ID) {
		return fault("id", "id has %d bytes, must be 1 to %d: letters, digits, _ - .", len(e.ID), MaxID)
	}
	asked := false
	for _, language := range e.Languages() {
		if language != chat.Chinese && language != chat.English {
			return fault("questions", "language %q, must be %s or %s", language, chat.Chinese, chat.English)
		}
		for i, q := range e.Questions[language] {
			asked = true
			if wrong := unfit("question", q, MaxQuestion); wrong != "" {
				return fault(fmt.Sprintf("questions.%s[%d]", language, i), "%s", wrong)
			}
		}
		if answer, ok := e.Answers[language]; ok {
			if wrong := unfit("answer", answer, MaxAnswer); wrong != "" {
				return fault("answers."+language, "%s", wrong)
			}
		}
	}
	if !asked {
		return fault("questions", "must have a question")
	}
	if len(e.Answers) == 0 {
		return fault("answers", "must have an answer")
	}
	return nil
}

// strange reports whether a character has no place in an id, which stands in addresses.
func strange(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("_-.", r)
}

// unfit says what is wrong with a text, or nothing.
func unfit(what, text string, most int) string {
	if !utf8.ValidString(text) {
		return what + " must be valid UTF-8"
	}
	if strings.ContainsRune(text, 0) {
		return what + " must not hold NUL"
	}
	if n := utf8.RuneCountInString(text); n > most || strings.TrimSpace(text) == "" {
		return fmt.Sprintf("%s has %d characters, must be 1 to %d and not blank", what, n, most)
	}
	return ""
}

// Languages returns those that the entry has questions or an answer in, in order.
func (e Entry) Languages() []string {
	var all []string
	for language := range e.Questions {
		all = append(all, language)
	}
	for language := range e.Answers {
		all = append(all, language)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Title is the phrasing that stands for the entry on a button: the first one in the
// language, else the first one there is.
func (e Entry) Title(language string) string {
	if questions := e.Questions[language]; len(questions) > 0 {
		return questions[0]
	}
	for _, other := range e.Languages() {
		if questions := e.Questions[other]; len(questions) > 0 {
			return questions[0]
		}
	}
	return ""
}

// Answer returns the answer in the language, else the one that there is, and its language.
func (e Entry) Answer(language string) (answer, in string) {
	if answer, ok := e.Answers[language]; ok {
		return answer, language
	}
	for _, other := range e.Languages() {
		if answer, ok := e.Answers[other]; ok {
			return answer, other
		}
	}
	return "", language
}

// Thin returns the ids of the entries that have phrasings in a language, but fewer than
// advised.
func Thin(entries []Entry) []string {
	var ids []string
	for _, e := range entries {
		for _, language := range e.Languages() {
			if n := len(e.Questions[language]); n > 0 && n < FewPhrasings {
				ids = append(ids, e.ID)
				break
			}
		}
	}
	return ids
}
