package faq

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/internal/chat"
)

// Bounds of drafts.
const (
	MaxDrafts = 20  // at once
	DraftUpTo = 30  // phrasings of an entry in a language, those that it has included
	maxDraft  = 120 // characters of a phrasing that is drafted
)

// DraftState is how far a draft has come.
type DraftState string

// The states of a draft.
const (
	DraftWanted  DraftState = "wanted"  // a vendor is asked when there is little to do
	DraftWorking DraftState = "working" // a vendor is asked now
	DraftReady   DraftState = "ready"   // an operator has to look at it
	DraftFailed  DraftState = "failed"  // the vendors have not answered with anything new
)

// Draft is a wish for further phrasings of an entry, and what came of it. Nothing of it
// answers before an operator has accepted it.
type Draft struct {
	Entry     string              `json:"entry"`
	State     DraftState          `json:"state"`
	At        time.Time           `json:"at"`    // when it came to this state
	Actor     string              `json:"actor"` // who wished for it
	Phrasings map[string][]string `json:"phrasings,omitempty"`
}

// ErrManyDrafts says that there is room for no more: some must be accepted or dropped.
var ErrManyDrafts = errors.New("too many drafts")

// Drafts are the drafts that there are, by the time of their wish.
type Drafts []Draft

// ReadDrafts reads stored drafts; nothing is none.
func ReadDrafts(doc []byte) (Drafts, error) {
	if len(doc) == 0 {
		return nil, nil
	}
	var all Drafts
	if err := json.Unmarshal(doc, &all); err != nil {
		return nil, fmt.Errorf("decode the drafts of the faq: %w", err)
	}
	return all, nil
}

// Document is the drafts as they are stored.
func (d Drafts) Document() ([]byte, error) {
	doc, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode the drafts of the faq: %w", err)
	}
	return doc, nil
}

// Find returns the draft of an entry.
func (d Drafts) Find(entry string) (Draft, bool) {
	at := slices.IndexFunc(d, func(one Draft) bool { return one.Entry == entry })
	if at < 0 {
		return Draft{}, false
	}
	return d[at], true
}

// Drop leaves out the draft of an entry.
func (d Drafts) Drop(entry string) Drafts {
	return slices.DeleteFunc(slices.Clone(d), func(one Draft) bool { return one.Entry == entry })
}

// Put adds a draft, in place of the one of its entry. ErrManyDrafts: there is no room.
func (d Drafts) Put(one Draft) (Drafts, error) {
	at := slices.IndexFunc(d, func(other Draft) bool { return other.Entry == one.Entry })
	if at >= 0 {
		d = slices.Clone(d)
		d[at] = one
		return d, nil
	}
	if len(d) >= MaxDrafts {
		return d, ErrManyDrafts
	}
	return append(slices.Clone(d), one), nil
}

// draftTry is how long a draft may be worked on before somebody else takes it up.
const draftTry = 3 * time.Minute

// Due returns the first draft that somebody has to work on now.
func (d Drafts) Due(now time.Time) (Draft, bool) {
	for _, one := range d {
		if one.State == DraftWanted || one.State == DraftWorking && now.Sub(one.At) > draftTry {
			return one, true
		}
	}
	return Draft{}, false
}

// DraftRoom is how many phrasings an entry lacks in a language. It has none to draft in
// a language that it has neither a question nor an answer in.
func (e Entry) DraftRoom(language string) int {
	_, answered := e.Answers[language]
	if !answered && len(e.Questions[language]) == 0 {
		return 0
	}
	return max(0, DraftUpTo-len(e.Questions[language]))
}

// DraftPrompt asks a model for n further phrasings of an entry, one a line.
func (e Entry) DraftPrompt(language string, n int) string {
	answer, _ := e.Answer(language)
	examples := e.Questions[language]
	if len(examples) == 0 {
		examples = []string{e.Title(language)}
	}
	list := strings.Join(examples[:min(len(examples), 10)], "\n")
	if language == chat.Chinese {
		return fmt.Sprintf("顾客会用不同的说法问同一个问题。请再写 %d 种中文问法，意思必须与下面的例子相同，并且都能用下面的回答来答复。"+
			"问法要各不相同：有长有短，有口语，有委婉的，有带错别字的。每行只写一种，不要编号，不要解释。\n\n例子：\n%s\n\n回答：\n%s", n, list, answer)
	}
	return fmt.Sprintf("Customers ask one question in many ways. Write %d more ways to ask it in English. Each must mean the same as the examples below and be "+
		"answered by the answer below. Make them differ: short and long, casual, roundabout, with slips of the pen. One a line, no numbers, no remarks.\n\n"+
		"Examples:\n%s\n\nAnswer:\n%s", n, list, answer)
}

// likeFrom is the likeness from which on one phrasing is as good as another.
const likeFrom = 0.8

// DraftPhrasings reads what a model wrote, one phrasing a line, and keeps of it at most n
// that are new: in the language, no phrasing of any entry, and not nearly one of e's own
// or of each other.
func DraftPhrasings(text string, entries []Entry, e Entry, language string, n int) []string {
	v := newVocabulary(nil)
	known := map[string]bool{noText: true}
	for _, other := range entries {
		for _, questions := range other.Questions {
			for _, q := range questions {
				known[v.plain(q)] = true
			}
		}
	}
	var near []map[string]bool
	for _, q := range e.Questions[language] {
		near = append(near, gramsOf(v.plain(q)))
	}
	var found []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "0123456789.)、-*•· \"“"))
		line = strings.TrimRight(line, "\"”")
		plain := v.plain(line)
		grams := gramsOf(plain)
		like := slices.ContainsFunc(near, func(other map[string]bool) bool { return likenessOf(grams, other) >= likeFrom })
		if known[plain] || like || utf8.RuneCountInString(line) > maxDraft || !utf8.ValidString(line) || chat.Language(line, "") != language {
			continue
		}
		known[plain] = true
		near = append(near, grams)
		if found = append(found, line); len(found) == n {
			break
		}
	}
	return found
}

// gramsOf are the pairs of characters of a text.
func gramsOf(text string) map[string]bool {
	all := map[string]bool{}
	runes := []rune(text)
	for i := range len(runes) - 1 {
		all[string(runes[i:i+2])] = true
	}
	return all
}

// likenessOf is the part of the pairs of two texts that both have.
func likenessOf(a, b map[string]bool) float64 {
	both := 0
	for gram := range a {
		if b[gram] {
			both++
		}
	}
	return float64(both) / float64(max(1, len(a)+len(b)-both))
}
