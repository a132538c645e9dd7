package eval

import (
	"cmp"
	"slices"

	"sluice/internal/faq"
	"sluice/internal/intent"
)

// All is the name of the score over every language.
const All = "all"

// Report is what was found.
type Report struct {
	Intents map[string]Score     `json:"intents"`       // by language, and All
	FAQ     map[string]faq.Score `json:"faq,omitempty"` // by language, and All; none: it was not asked
	// Near is FAQ with the vectors of Space; none: there are none, or they did not hold.
	Near       map[string]faq.Score `json:"faq_near,omitempty"`
	Space      string               `json:"space,omitempty"`
	Confusions []Confusion          `json:"confusions"` // the most frequent first
	Curve      []Point              `json:"curve,omitempty"`
	Added      []intent.Trial       `json:"added,omitempty"` // intents that the rules add to the shipped ones
	Judged     string               `json:"judged"`          // what the messages are
	Learnt     int                  `json:"learnt"`          // examples
}

// Score says how well the messages of one language are understood.
type Score struct {
	Messages int     `json:"messages"`
	Accuracy float64 `json:"accuracy"`
	MacroF1  float64 `json:"macro_f1"` // mean over the intents that occur
	Urgent   Urgent  `json:"urgent"`
	Unknown  Unknown `json:"unknown"`
	CPU      float64 `json:"cpu_us"` // CPU time of a message in µs
}

// Urgent says how well messages of urgent intents are told from the others.
type Urgent struct {
	Messages  int     `json:"messages"`  // of urgent intents
	Recall    float64 `json:"recall"`    // part of the urgent ones that is flagged
	Precision float64 `json:"precision"` // part of the flagged ones that is urgent
}

// Unknown says how often the classifier did not rely on its answer.
type Unknown struct {
	Share float64 `json:"share"` // of all messages
	Other float64 `json:"other"` // part of them that is labelled other
}

// Confusion is a pair of intents that were taken for one another.
type Confusion struct {
	Intent   string `json:"intent"` // as labelled
	TakenFor string `json:"taken_for"`
	Count    int    `json:"count"`
}

// Judge classifies the messages and compares.
func Judge(c *intent.Classifier, messages []intent.Example) *Report {
	tallies := map[string]*tally{All: newTally()}
	for _, m := range messages {
		if tallies[m.Language] == nil && m.Language != "" {
			tallies[m.Language] = newTally()
		}
		got := c.Classify(m.Text)
		for _, language := range slices.Compact([]string{All, m.Language}) {
			if t := tallies[language]; t != nil {
				t.add(m.Intent, c.Urgent(m.Intent), got)
			}
		}
	}
	r := &Report{Intents: map[string]Score{}, Confusions: tallies[All].confusions()}
	for language, t := range tallies {
		r.Intents[language] = t.score()
	}
	return r
}

// JudgeFAQ asks the base the questions and compares.
func (r *Report) JudgeFAQ(b *faq.Base, questions []faq.Labelled) {
	r.FAQ = faq.Evaluate(b, questions)
	faq.Cost(b, questions, r.FAQ, cpuTime)
}

// JudgeNear asks the base the same with the vectors of the questions; nil: there are none.
func (r *Report) JudgeNear(b *faq.Base, questions []faq.Labelled, vectors *faq.Vectors) {
	if vectors == nil {
		return
	}
	if r.Space = b.Space(); r.Space == "" {
		return
	}
	r.Near = faq.EvaluateNear(b, questions, func(text string) []float32 { return vectors.Of[text] })
}

// tally counts the messages of one language.
type tally struct {
	pairs                       map[[2]string]int // labelled, given
	messages, unknown, notKnown int
	urgent, flagged, both       int
}

func newTally() *tally { return &tally{pairs: map[[2]string]int{}} }

func (t *tally) add(label string, urgent bool, got intent.Result) {
	t.messages++
	t.pairs[[2]string{label, got.Intent}]++
	count(&t.urgent, urgent)
	count(&t.flagged, got.Urgent)
	count(&t.both, urgent && got.Urgent)
	count(&t.unknown, got.Unknown)
	count(&t.notKnown, got.Unknown && label == intent.Other)
}

func count(n *int, is bool) {
	if is {
		*n++
	}
}

func (t *tally) score() Score {
	labelled, given, right := map[string]int{}, map[string]int{}, map[string]int{}
	all := 0
	for pair, n := range t.pairs {
		labelled[pair[0]] += n
		given[pair[1]] += n
		if pair[0] == pair[1] {
			right[pair[0]] += n
			all += n
		}
	}
	f1 := 0.0
	for label, n := range labelled {
		f1 += part(2*right[label], n+given[label])
	}
	return Score{
		Messages: t.messages,
		Accuracy: part(all, t.messages),
		MacroF1:  f1 / float64(max(1, len(labelled))),
		Urgent:   Urgent{Messages: t.urgent, Recall: part(t.both, t.urgent), Precision: part(t.both, t.flagged)},
		Unknown:  Unknown{Share: part(t.unknown, t.messages), Other: part(t.notKnown, t.unknown)},
	}
}

// part is n ÷ of; of nothing there is no part.
func part(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

func (t *tally) confusions() []Confusion {
	var all []Confusion
	for pair, n := range t.pairs {
		if pair[0] != pair[1] {
			all = append(all, Confusion{pair[0], pair[1], n})
		}
	}
	slices.SortFunc(all, func(a, b Confusion) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Intent, b.Intent), cmp.Compare(a.TakenFor, b.TakenFor))
	})
	return all
}
