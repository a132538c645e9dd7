package faq

import "slices"

// Amend makes a base of other entries that can answer at once, until Build has learnt them:
// their phrasings are known word by word, and what is none is asked of what was learnt
// before. Of that only entries that still have all their former phrasings answer, with the
// answer that they have now; the others are offered at most, and those that are gone are
// neither. It takes a moment, as Enrol does.
func (b *Base) Amend(entries []Entry) (*Base, error) {
	next, err := Enrol(entries)
	if err != nil {
		return nil, err
	}
	if next.former = b; b.ranker == nil {
		next.former = b.former // nil: nothing was learnt yet
	}
	return next, nil
}

// recollect matches a question that is no known phrasing by what was learnt before.
func (b *Base) recollect(text, language string, vector []float32) Match {
	was := b.former.MatchNear(text, language, vector)
	m := Match{Tier: Pass}
	for _, option := range was.Nearest {
		if e, there := b.Entry(option.Entry); there {
			m.Nearest = append(m.Nearest, Option{Entry: e.ID, Question: e.Title(language)})
		}
	}
	if was.Tier == Pass || len(m.Nearest) == 0 {
		return m
	}
	m.Tier, m.Entry, m.P = Offer, m.Nearest[0].Entry, was.P
	now, _ := b.Entry(m.Entry)
	m.Answer, m.Language = now.Answer(language)
	// A phrasing that was taken from its entry is no question to it any more.
	if before, _ := b.former.Entry(was.Entry); was.Tier == Answer && m.Entry == was.Entry && !was.Known && keeps(before, now) {
		m.Tier = Answer
	}
	return m
}

// keeps reports whether an entry still has all phrasings that it had before.
func keeps(before, now Entry) bool {
	for language, questions := range before.Questions {
		for _, q := range questions {
			if !slices.Contains(now.Questions[language], q) {
				return false
			}
		}
	}
	return true
}
