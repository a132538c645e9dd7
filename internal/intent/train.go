package intent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what can be learnt.
const (
	MaxClasses  = 200
	MaxExamples = 20_000
	MaxLength   = 500 // characters of one example

	maxWeights = 12 << 20 // of a model: 48 MB, and as much again while it learns
)

// ErrBounds is returned when there is more, or less, to learn from than the bounds allow.
var ErrBounds = errors.New("out of bounds")

// Example is a message with the name of its class.
type Example struct {
	Text, Intent string
	Language     string // chat.Chinese or chat.English, for those who report by language; may be empty
}

// Train learns from examples. The extra ones are of classes that are no intents, such as
// the phrasings of FAQ entries, a class for each entry: they teach what is not meant.
// The same examples in the same order give the same model. It takes a second of CPU time
// for each few thousand examples, and ends early when ctx does.
func Train(ctx context.Context, examples, extra []Example) (*Model, error) {
	return train(ctx, examples, extra, rounds)
}

// Sketch learns in fewer rounds. What comes out is much like what Train makes of the
// same examples: enough to judge them, not to answer customers.
func Sketch(ctx context.Context, examples, extra []Example) (*Model, error) {
	return train(ctx, examples, extra, sketchRounds)
}

func train(ctx context.Context, examples, extra []Example, rounds int) (*Model, error) {
	m := &Model{reader: newReader()}
	class, err := m.enrol(examples, extra)
	if err != nil {
		return nil, err
	}
	l := learner{model: m, random: rand.New(rand.NewPCG(1, uint64(len(class)))), class: class}
	l.gather(slices.Concat(examples, extra))
	if err := l.learn(ctx, rounds); err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	l.liftThin()
	return m, nil
}

// enrol lists the classes and returns that of each example, the extra ones last.
func (m *Model) enrol(examples, extra []Example) ([]int, error) {
	if n := len(examples) + len(extra); n > MaxExamples {
		return nil, fmt.Errorf("train: %d examples, at most %d can be learnt from: %w", n, MaxExamples, ErrBounds)
	}
	place := map[taughtClass]int{}
	var class []int
	for i, e := range slices.Concat(examples, extra) {
		if n := utf8.RuneCountInString(e.Text); n > MaxLength || strings.TrimSpace(e.Text) == "" {
			return nil, fmt.Errorf("train: example %d of %s has %d characters, must be 1 to %d: %w", i, e.Intent, n, MaxLength, ErrBounds)
		}
		c := taughtClass{name: e.Intent, extra: i >= len(examples)}
		k, known := place[c]
		if !known {
			k = len(m.classes)
			place[c] = k
			m.classes = append(m.classes, c)
		}
		m.classes[k].examples++
		class = append(class, k)
	}
	if n := len(m.classes); n < 2 || n > MaxClasses {
		return nil, fmt.Errorf("train: %d classes, must be 2 to %d: %w", n, MaxClasses, ErrBounds)
	}
	return class, nil
}

// How the model learns, found by cross-validation on the shipped examples.
const (
	rounds       = 20
	sketchRounds = 8
	rate         = 0.2  // of AdaGrad
	shrink       = 3e-4 // L2, of the features at hand
	maxBalance   = 8    // a rare class weighs the root of how rare it is, and no more than this
	thin         = 60   // examples; a class with fewer is shown in varied wrapping too
	wrappings    = 3
	lift         = 0.5 // times the logarithm of how rare it is, what a thin class is given on top
)

// learner holds what only training needs.
type learner struct {
	model  *Model
	random *rand.Rand
	class  []int          // of each example
	shown  [][][]weighted // of each example, the plain form and the wrapped ones
}

// gather makes the vectors of all examples and, with them, the vocabulary.
func (l *learner) gather(examples []Example) {
	var seen []feature
	forms := make([][][]feature, len(examples))
	for i, e := range examples {
		folded := fold(e.Text)
		forms[i] = [][]feature{l.model.reader.features(folded)}
		if l.model.classes[l.class[i]].examples < thin {
			for range wrappings {
				forms[i] = append(forms[i], l.model.reader.features(wrap(folded, l.random)))
			}
		}
		for _, form := range forms[i] {
			seen = append(seen, form...)
		}
	}
	l.model.known = newVocabulary(seen, maxWeights/len(l.model.classes))
	l.shown = make([][][]weighted, len(examples))
	for i := range forms {
		for _, form := range forms[i] {
			l.shown[i] = append(l.shown[i], l.model.known.vector(form))
		}
	}
}

// learn goes through the examples again and again, each time in another order.
func (l *learner) learn(ctx context.Context, rounds int) error {
	m, n := l.model, len(l.model.classes)
	m.weights, m.bias = make([]float32, m.known.size()*n), make([]float32, n)
	steps, biasSteps := make([]float32, len(m.weights)), make([]float32, n)
	order := make([]int, len(l.class))
	for i := range order {
		order[i] = i
	}
	logits, slope := make([]float64, n), make([]float32, n)
	for range rounds {
		l.random.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		for at, i := range order {
			if at%256 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			text := l.shown[i][l.random.IntN(len(l.shown[i]))]
			m.score(text, logits)
			l.slope(logits, l.class[i], slope)
			descend(m.bias, biasSteps, slope, 1, 0)
			for _, f := range text {
				from := int(f.number) * n
				descend(m.weights[from:from+n], steps[from:from+n], slope, f.weight, shrink)
			}
		}
	}
	return nil
}

// usual is the mean number of examples of a class.
func (l *learner) usual() float64 { return float64(len(l.class)) / float64(len(l.model.classes)) }

// liftThin makes up for how seldom thin classes were seen: an intent that an operator has
// just added with a few examples would lose against those with hundreds.
func (l *learner) liftThin() {
	for j, c := range l.model.classes {
		if c.examples < thin && !c.extra {
			l.model.bias[j] += float32(lift * max(0, math.Log(l.usual()/float64(c.examples))))
		}
	}
}

// slope is how the loss grows with each logit, for an example of the class.
func (l *learner) slope(logits []float64, class int, slope []float32) {
	most, sum := slices.Max(logits), 0.0
	for j, z := range logits {
		logits[j] = math.Exp(z - most)
		sum += logits[j]
	}
	classes := l.model.classes
	weight := min(math.Sqrt(l.usual()/float64(classes[class].examples)), maxBalance)
	for j, p := range logits {
		slope[j] = float32(p / sum * weight)
	}
	slope[class] -= float32(weight)
}

// descend is one step of AdaGrad for the weights of one feature.
func descend(weights, steps, slope []float32, strength, shrink float32) {
	weights, steps = weights[:len(slope)], steps[:len(slope)]
	for j, s := range slope {
		d := s*strength + shrink*weights[j]
		steps[j] += d * d
		weights[j] -= rate * d / (float32(math.Sqrt(float64(steps[j]))) + 1e-6)
	}
}
