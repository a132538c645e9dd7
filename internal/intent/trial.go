package intent

import (
	"cmp"
	"context"
	"slices"
)

// Trial says how a class gets on with the others.
type Trial struct {
	Intent   string `json:"intent"`
	Examples int    `json:"examples"` // of the class
	Right    int    `json:"right"`    // of them, understood by a model that had not seen them
	Lost     []Mix  `json:"lost"`     // what the others of them were taken for
	Others   int    `json:"others"`   // held-back examples of other classes
	Drawn    int    `json:"drawn"`    // of them, taken for the class
	Won      []Mix  `json:"won"`      // where those belong
}

// Mix is one class that another one is confused with.
type Mix struct {
	Intent string `json:"intent"`
	Count  int    `json:"count"`
	Text   string `json:"text"` // the first such example
}

// trialParts is into how many parts the examples of a class are cut, each of which is
// judged by what was learnt from the others.
const trialParts = 3

// Try shows what a class confuses, at once and on examples that were held back: its own
// in turn, and a tenth of all others.
func (c *Classifier) Try(ctx context.Context, examples []Example, class string) (Trial, error) {
	var own, others []Example
	for _, e := range examples {
		if e.Intent == class {
			own = append(own, e)
		} else {
			others = append(others, e)
		}
	}
	learn, judge := HoldOut(others)
	t := Trial{Intent: class, Examples: len(own), Others: len(judge)}
	lost, won := mixes{}, mixes{}
	for part := range trialParts {
		set := slices.Clone(learn)
		for i, e := range own {
			if i%trialParts != part {
				set = append(set, e)
			}
		}
		m, err := Sketch(ctx, set, nil)
		if err != nil {
			return Trial{}, err
		}
		with := c.With(m)
		for i := part; i < len(own); i += trialParts {
			if got := with.Classify(own[i].Text).Intent; got == class {
				t.Right++
			} else {
				lost.add(got, own[i].Text)
			}
		}
		if part > 0 {
			continue // the others change little
		}
		for _, e := range judge {
			if with.Classify(e.Text).Intent == class {
				t.Drawn++
				won.add(e.Intent, e.Text)
			}
		}
	}
	t.Lost, t.Won = lost.sorted(), won.sorted()
	return t, nil
}

// mixes counts by class.
type mixes map[string]*Mix

func (m mixes) add(class, text string) {
	if m[class] == nil {
		m[class] = &Mix{Intent: class, Text: text}
	}
	m[class].Count++
}

// sorted returns the most frequent first.
func (m mixes) sorted() []Mix {
	all := make([]Mix, 0, len(m))
	for _, one := range m {
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Mix) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Intent, b.Intent)) })
	return all
}
