package faq

// Tier is what to do with a question.
type Tier string

// The tiers.
const (
	Answer Tier = "answer" // with the entry
	Offer  Tier = "offer"  // the nearest entries, for the customer to choose
	Pass   Tier = "pass"   // nothing fits: somebody else must answer
)

// Match is what a base makes of a question.
type Match struct {
	Tier     Tier
	Entry    string   // id of the best entry, whatever the tier
	Answer   string   // of the entry, in the language asked for where there is one
	Language string   // that the answer is in
	P        float64  // probability that it answers; 1 for a known phrasing
	Known    bool     // the question is a phrasing of the entry
	Nearest  []Option // the best entries, the best first, at most three
}

// Option is an entry to choose.
type Option struct {
	Entry    string // its id
	Question string // what to call it, in the language asked for where there is one
}

// Match finds the entry for a question, and gives its answer in a language. The time
// grows with the number of phrasings, not with the length of the question, of which the
// first and the last characters are read.
func (b *Base) Match(text, language string) Match { return b.MatchNear(text, language, nil) }

// MatchNear is Match with the vector of the text in the base's space; nil: there is none,
// and words alone tell.
func (b *Base) MatchNear(text, language string, vector []float32) Match {
	if b.ranker == nil {
		m := b.look(text, language)
		if m.Tier == Pass && b.former != nil {
			return b.recollect(text, language, vector)
		}
		return m
	}
	q, by := b.question(text), &b.judge
	if b.space != "" && len(vector) == b.ranker.dimensions() {
		q.vector, by = vector, &b.near
	}
	got := b.ranker.rank(q.has, q.vector)
	known, there := b.known[q.plain]
	if there && known != ambiguous {
		got.first(known)
	}
	m := b.nearest(got, language)
	if there && known != ambiguous {
		m.Tier, m.P, m.Known = Answer, 1, true
		return m
	}
	m.P = by.score(got.signals(b.wanted(got.best[0], q.has)))
	switch {
	case m.P >= by.answerFrom && !b.doubts(b.ranker, q, got.best[0]):
		m.Tier = Answer
	case m.P >= by.offerFrom || there:
		m.Tier = Offer
	}
	return m
}

// longestKnown is how many bytes a text may have that is a phrasing with some politeness.
const longestKnown = 4*MaxQuestion + 200

// Knows reports whether a text is a phrasing of some entry.
func (b *Base) Knows(text string) bool {
	if len(text) > longestKnown {
		return false
	}
	_, known := b.known[b.vocabulary.plain(text)]
	return known
}

// nearest names the entries of a ranking. Nothing fits them yet.
func (b *Base) nearest(got ranking, language string) Match {
	best := b.entries[got.best[0].entry]
	m := Match{Tier: Pass, Entry: best.ID}
	m.Answer, m.Language = best.Answer(language)
	for _, f := range got.best[:got.n] {
		e := b.entries[f.entry]
		m.Nearest = append(m.Nearest, Option{Entry: e.ID, Question: e.Title(language)})
	}
	return m
}

// look answers known phrasings alone.
func (b *Base) look(text, language string) Match {
	known, there := b.known[b.vocabulary.plain(text)]
	if !there || known == ambiguous {
		return Match{Tier: Pass}
	}
	m := b.nearest(ranking{best: [ranked]fit{{entry: known}}, n: 1}, language)
	m.Tier, m.P, m.Known = Answer, 1, true
	return m
}

// first puts an entry before all others.
func (r *ranking) first(entry int) {
	at := 0
	for at < r.n-1 && r.best[at].entry != entry {
		at++
	}
	if r.best[at].entry != entry {
		r.best[at] = fit{entry: entry, phrasing: none}
	}
	f := r.best[at]
	copy(r.best[1:at+1], r.best[:at])
	r.best[0] = f
}
