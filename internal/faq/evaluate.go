package faq

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/internal/chat"
)

// All is the name of the score over every language.
const All = "all"

// Labelled is a question with the entry that answers it.
type Labelled struct {
	Text     string
	Entry    string // id; empty: none answers it
	Language string
}

// ReadLabelled reads questions: CSV with a head, the columns text and faq_id, and lang
// where there is one; others are passed over. Each fault names the file and the line.
func ReadLabelled(name string, r io.Reader, entries []Entry) ([]Labelled, error) {
	t, err := openTable(name, r)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(t.head, "text") || !slices.Contains(t.head, "faq_id") {
		return nil, fmt.Errorf("%s:1: must have the columns text and faq_id, has %s", name, strings.Join(t.head, ", "))
	}
	known := map[string]bool{"": true}
	for _, e := range entries {
		known[e.ID] = true
	}
	d := &document{name: name}
	var all []Labelled
	for t.next(d) {
		l := Labelled{Text: t.field("text"), Entry: t.field("faq_id"), Language: t.field("lang")}
		if l.Language == "" {
			l.Language = chat.Language(l.Text, "")
		}
		switch {
		case strings.TrimSpace(l.Text) == "" || !utf8.ValidString(l.Text):
			d.fault(t.line, "text must be valid UTF-8 and not blank")
		case !known[l.Entry]:
			d.fault(t.line, "faq_id must be one of the entries or empty, is %q", l.Entry)
		default:
			all = append(all, l)
		}
	}
	if t.err == nil && len(d.faults) == 0 && len(all) == 0 {
		d.fault(2, "must hold at least one question")
	}
	return all, errors.Join(append(d.faults, t.err)...)
}

// Score says how well the questions of one language are answered.
type Score struct {
	Questions int     `json:"questions"`
	Recall1   float64 `json:"recall1"`           // part of those in scope whose entry comes first
	Recall3   float64 `json:"recall3"`           // part of those in scope whose entry is among the first three
	Answered  float64 `json:"answered"`          // part of those in scope that is answered
	Shown     float64 `json:"shown"`             // part of those in scope whose entry is the answer or is offered
	Wrong     float64 `json:"wrong_of_answered"` // part of all answers that is wrong
	False     float64 `json:"false_answers"`     // part of those out of scope that is answered
	CPU       float64 `json:"cpu_us"`            // CPU time of a question in µs; 0: not measured
}

// Evaluate matches the questions and compares, by language, and All.
func Evaluate(b *Base, questions []Labelled) map[string]Score {
	return EvaluateNear(b, questions, func(string) []float32 { return nil })
}

// EvaluateNear is Evaluate with the vectors of the questions; nil: that one has none.
func EvaluateNear(b *Base, questions []Labelled, vectorOf func(text string) []float32) map[string]Score {
	tallies := map[string]*tally{All: {}}
	for _, q := range questions {
		if tallies[q.Language] == nil && q.Language != "" {
			tallies[q.Language] = &tally{}
		}
		m := b.MatchNear(q.Text, q.Language, vectorOf(q.Text))
		tallies[All].add(q.Entry, m)
		if t := tallies[q.Language]; t != nil && q.Language != All {
			t.add(q.Entry, m)
		}
	}
	scores := map[string]Score{}
	for language, t := range tallies {
		scores[language] = t.score()
	}
	return scores
}

// tally counts the questions of one language.
type tally struct {
	questions, scope, first, among, shown int
	answered, answers, wrong, outside     int
}

func (t *tally) add(label string, m Match) {
	t.questions++
	answer := m.Tier == Answer
	tick(&t.answers, answer)
	tick(&t.wrong, answer && m.Entry != label)
	if label == "" {
		tick(&t.outside, answer)
		return
	}
	among := slices.ContainsFunc(m.Nearest, func(o Option) bool { return o.Entry == label })
	t.scope++
	tick(&t.first, m.Entry == label)
	tick(&t.among, among)
	tick(&t.answered, answer)
	tick(&t.shown, answer && m.Entry == label || m.Tier == Offer && among)
}

func tick(n *int, is bool) {
	if is {
		*n++
	}
}

func (t *tally) score() Score {
	return Score{
		Questions: t.questions,
		Recall1:   ratio(t.first, t.scope), Recall3: ratio(t.among, t.scope),
		Answered: ratio(t.answered, t.scope), Shown: ratio(t.shown, t.scope),
		Wrong: ratio(t.wrong, t.answers), False: ratio(t.outside, t.questions-t.scope),
	}
}

// ratio is n ÷ of; of nothing there is no part.
func ratio(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// Cost fills in the CPU time of a question, by the clock of the process that is given:
// nothing else should run in it.
func Cost(b *Base, questions []Labelled, scores map[string]Score, used func() time.Duration) {
	const enough, maxPasses = 100 * time.Millisecond, 100
	for language, score := range scores {
		var some []Labelled
		for _, q := range questions {
			if language == All || q.Language == language {
				some = append(some, q)
			}
		}
		if len(some) == 0 {
			continue
		}
		began, passes := used(), 0
		for passes < maxPasses && (passes == 0 || used()-began < enough) {
			for _, q := range some {
				b.Match(q.Text, q.Language)
			}
			passes++
		}
		score.CPU = float64((used() - began).Microseconds()) / float64(passes*len(some))
		scores[language] = score
	}
}
