package intent

import "math"

// What was found best by cross-validation on the examples (docs/understanding.md).
const (
	// urgentFrom is the least probability of all urgent classes together that makes a
	// message urgent.
	urgentFrom = 0.20
	// deniedFrom is the same where the message denies something urgent and names nothing
	// else that is: what it does not want it has said.
	deniedFrom = 0.50
	// unknownBelow is the confidence under which the best class is hardly ever right.
	unknownBelow = 0.15
	// A pattern that fits raises the logarithm of its class's odds by this much: it is
	// evidence beside the rest of the words, and no more. Alone it would be wrong too
	// often, as in "the refund has arrived, thank you".
	urgentPattern = 1.0
	otherPattern  = 0.5
	// One that is denied each time speaks against its class: "not a complaint".
	deniedPattern = -4.0

	// taughtBy is how many examples make the model's word on a class weigh more than a
	// pattern of it. Below that a pattern that fits decides.
	taughtBy = 20
)

// join says where a class of the model stands in the classifier.
type join int

const (
	// aside is an extra class, such as an entry of the FAQ: what it takes is taken from
	// the intents, and it is never the answer.
	aside join = -1
	// gone is a class that the rules no longer have.
	gone join = -2
)

// With returns the classifier with a model beside its patterns. Classes are joined by
// name, and it is the classifier that says which are urgent, so a model that is older
// than the rules does no harm: classes that it does not know are left to patterns.
func (c *Classifier) With(m *Model) *Classifier {
	with := *c
	with.model = m
	with.joins = make([]join, len(m.classes))
	with.taught = make([]bool, len(c.classes))
	for i, class := range m.classes {
		with.joins[i] = gone
		if class.extra {
			with.joins[i] = aside
			continue
		}
		for k, own := range c.classes {
			if own.Name == class.name {
				with.joins[i] = join(k)
				with.taught[k] = class.examples >= taughtBy
			}
		}
	}
	return &with
}

// weigh joins the model's logits with the patterns that fit. denies says whether the
// message denies what may be urgent.
func (c *Classifier) weigh(logits []float64, says []evidence, denies bool) Result {
	from := urgentFrom
	for k, one := range says { // urgent ones first
		if c.classes[k].Urgent && one == fitting {
			denies = false
		}
		if one == fitting && !c.taught[k] {
			return Result{Intent: c.classes[k].Name, Urgent: c.classes[k].Urgent, Confidence: 1}
		}
	}
	if denies {
		from = deniedFrom
	}
	most := math.Inf(-1)
	for i, k := range c.joins {
		if k == gone {
			continue
		}
		if k >= 0 {
			logits[i] += c.bonus(int(k), says[k])
		}
		most = max(most, logits[i])
	}
	var all, known, urgent, best float64
	result := Result{Intent: Other}
	for i, k := range c.joins {
		if k == gone {
			continue
		}
		p := math.Exp(logits[i] - most)
		all += p
		if k == aside {
			continue
		}
		known += p
		if c.classes[k].Urgent {
			urgent += p
		}
		if p > best {
			best, result.Intent = p, c.classes[k].Name
		}
	}
	if known == 0 {
		return Result{Intent: Other, Unknown: true}
	}
	result.Confidence = best / known
	result.Urgent = urgent >= from*all
	if result.Confidence < unknownBelow {
		result.Intent, result.Unknown = Other, true
	}
	return result
}

// bonus is what the patterns of a class are worth.
func (c *Classifier) bonus(class int, says evidence) float64 {
	switch {
	case says == silent:
		return 0
	case says == denied:
		return deniedPattern
	case c.classes[class].Urgent:
		return urgentPattern
	}
	return otherPattern
}
