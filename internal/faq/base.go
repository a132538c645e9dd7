package faq

import (
	"context"
	"fmt"
	"slices"

	"sluice/internal/intent"
)

// Base answers from a list of entries. It never changes and is safe for concurrent use;
// whoever owns it puts another in its place when the entries change.
type Base struct {
	entries    []Entry
	vocabulary *vocabulary
	intents    []int32        // of each entry, as a feature; unknown: it has none
	known      map[string]int // entry by plain question; ambiguous: several have it
	guard      *guard
	ranker     *ranker
	judge      judge
	near       judge  // of rankings in which vectors have a say
	space      string // of the vectors; empty: they have none
	found      Calibration
	former     *Base // asked for what is no known phrasing, while these entries are not learnt; nil: there is none
}

// Calibration says what a base may be expected to do, measured on its own questions held
// out, and on others that none of its entries answers.
type Calibration struct {
	Entries    int      `json:"entries"`
	Phrasings  int      `json:"phrasings"`
	Points     int      `json:"points"`      // questions that it was measured on
	Answered   float64  `json:"answered"`    // part of the held-out phrasings that is answered
	Wrong      float64  `json:"wrong"`       // part of the answers that is wrong
	AnswerFrom float64  `json:"answer_from"` // least certainty of an answer; above 1: only known phrasings are answered
	OfferFrom  float64  `json:"offer_from"`  // least certainty of an offer; above 1: nothing is offered
	Thin       []string `json:"thin"`        // entries with fewer phrasings in a language than advised
	// Near is nil where words alone tell.
	Near *NearCalibration `json:"near,omitempty"`
}

// NearCalibration is the same where vectors have a say.
type NearCalibration struct {
	Points   int     `json:"points"`
	Answered float64 `json:"answered"`
	Wrong    float64 `json:"wrong"`
}

// Calibration returns what was measured.
func (b *Base) Calibration() Calibration { return b.found }

// Entries returns the entries. They must not be changed.
func (b *Base) Entries() []Entry { return b.entries }

// Entry returns the entry of an id.
func (b *Base) Entry(id string) (Entry, bool) {
	at := slices.IndexFunc(b.entries, func(e Entry) bool { return e.ID == id })
	if at < 0 {
		return Entry{}, false
	}
	return b.entries[at], true
}

// Learnt reports whether the base answers more than known phrasings.
func (b *Base) Learnt() bool { return b.ranker != nil }

// Enrol makes a base that answers known phrasings alone, and offers nothing. It takes a
// moment, and serves until Build has made a better one.
func Enrol(entries []Entry) (*Base, error) {
	if err := Check(entries); err != nil {
		return nil, err
	}
	b := &Base{entries: slices.Clone(entries), vocabulary: newVocabulary(nil), known: map[string]int{}, guard: newGuard()}
	b.judge, b.near = judge{answerFrom: never, offerFrom: never}, judge{answerFrom: never, offerFrom: never}
	b.found = Calibration{Entries: len(entries), AnswerFrom: never, OfferFrom: never, Thin: Thin(entries)}
	for k, e := range b.entries {
		for _, questions := range e.Questions {
			for _, q := range questions {
				b.enter(b.vocabulary.plain(q), k)
				b.found.Phrasings++
			}
		}
	}
	return b, nil
}

const ambiguous = -1

// Build learns from entries and measures how far the result can be relied on. A model of
// the intents is one more source, for which the examples must not be the questions that
// the base is judged on; without it, nil, less is answered. The same entries in the same
// order and the same model give the same base. It takes seconds of CPU time, so it
// belongs into the background, and ends early when ctx does.
func Build(ctx context.Context, entries []Entry, model *intent.Model) (*Base, error) {
	return BuildNear(ctx, entries, model, nil)
}

// BuildNear is Build with the vectors of all Texts of the entries, in one space; nil: there
// are none. The base can then be asked with the vector of a question as well, and is
// measured for that by itself.
func BuildNear(ctx context.Context, entries []Entry, model *intent.Model, vectors *Vectors) (*Base, error) {
	if err := Check(entries); err != nil {
		return nil, err
	}
	b := &Base{entries: slices.Clone(entries), vocabulary: newVocabulary(model), known: map[string]int{}, guard: newGuard()}
	all := b.enrol(vectors)
	var err error
	if b.ranker, err = newRanker(ctx, b.vocabulary.size(), b.entries, all); err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	b.ranker.floor = vectors.floor(b.ranker)
	points, near, err := b.measure(ctx, all, vectors)
	if err != nil {
		return nil, fmt.Errorf("calibrate: %w", err)
	}
	b.judge = calibrate(points)
	b.found.AnswerFrom, b.found.OfferFrom = b.judge.answerFrom, b.judge.offerFrom
	b.found.Answered, b.found.Wrong = expect(points, b.judge.answerFrom)
	b.weighNear(near, vectors)
	b.found.Entries, b.found.Points, b.found.Thin = len(entries), len(points), Thin(entries)
	for _, p := range all {
		if !p.answer {
			b.found.Phrasings++
		}
	}
	return b, nil
}

// enrol reads all phrasings, in order, those of an entry side by side.
func (b *Base) enrol(vectors *Vectors) []phrasing {
	var all []phrasing
	for k, e := range b.entries {
		for _, language := range e.Languages() {
			if answer := e.Answers[language]; answer != "" {
				all = append(all, phrasing{entry: k, language: language, answer: true, has: b.vocabulary.learn(answer), vector: vectors.of(answer)})
			}
			for _, q := range e.Questions[language] {
				plain := b.vocabulary.plain(q)
				b.enter(plain, k)
				all = append(all, phrasing{
					entry: k, language: language, plain: plain, sides: b.guard.sides(plain), has: b.vocabulary.learn(q), vector: vectors.of(q),
				})
			}
		}
	}
	for _, e := range b.entries {
		b.intents = append(b.intents, b.vocabulary.intent(e.Intent))
	}
	return all
}

func (b *Base) enter(plain string, entry int) {
	if other, there := b.known[plain]; there && other != entry {
		entry = ambiguous
	}
	if plain != noText {
		b.known[plain] = entry
	}
}

// noText is the plain form of a text that has no words.
const noText = " "

// question reads a text that is not learnt.
func (b *Base) question(text string) phrasing {
	plain := b.vocabulary.plain(text)
	return phrasing{entry: none, plain: plain, sides: b.guard.sides(plain), has: b.vocabulary.read(text)}
}

// doubts reports whether the guard keeps an answer back, however certain it is.
func (b *Base) doubts(r *ranker, question phrasing, f fit) bool {
	return b.guard.short(question.plain) || r.opposed(question.sides, f)
}

// wanted is how probable the intent of an entry is.
func (b *Base) wanted(f fit, has []count) float64 {
	of := b.intents[f.entry]
	for _, c := range has {
		if c.block == blockIntent && c.number == of && of != unknown {
			return float64(c.weight * c.weight)
		}
	}
	return 0
}
