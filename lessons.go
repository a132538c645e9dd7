package main

import (
	"slices"

	"sluice/internal/chat"
	"sluice/internal/intent"
	"sluice/internal/rules"
)

// newClassifier makes the classifier of the rules, which knows no more than patterns.
func newClassifier(r *rules.Rules) (*intent.Classifier, error) {
	classes := make([]intent.Class, len(r.Intents))
	for i, in := range r.Intents {
		classes[i] = intent.Class{Name: in.Name, Urgent: in.Urgent, Patterns: in.Patterns}
	}
	return intent.New(classes)
}

// lessons are the examples that the rules' intents are learnt from: the shipped ones of
// the same names, and the rules' own.
func lessons(r *rules.Rules) ([]intent.Example, error) {
	shipped, err := intent.Shipped()
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(shipped, func(e intent.Example) bool {
		return !slices.ContainsFunc(r.Intents, func(in rules.Intent) bool { return in.Name == e.Intent })
	})
	for _, in := range r.Intents {
		for _, text := range in.Examples {
			all = append(all, intent.Example{Text: text, Intent: in.Name, Language: chat.Language(text, "")})
		}
	}
	return all, nil
}

// Bounds of what is learnt aside: the time that it takes grows with the classes, and a
// few phrasings of each are enough.
const (
	maxAside    = 100 // entries
	asideOfEach = 5   // phrasings of one in a language
)

// asides are phrasings of the entries that operators have put into the FAQ, a class for
// each entry. The shipped ones are not among them: what their words mean is known from the
// examples, and beside them fewer urgent messages were understood (docs/understanding.md).
// Neither are entries of an urgent intent. There is room for what the examples leave.
func asides(r *rules.Rules, stored *storedList, examples int) []intent.Example {
	var all []intent.Example
	if stored == nil {
		return nil
	}
	room := min(maxAside, intent.MaxClasses-len(r.Intents)) // entries
	for _, e := range stored.list.Entries {
		urgent := slices.ContainsFunc(r.Intents, func(in rules.Intent) bool { return in.Name == e.Intent && in.Urgent })
		if urgent || room <= 0 {
			continue
		}
		room--
		for _, language := range e.Languages() {
			for _, q := range e.Questions[language][:min(asideOfEach, len(e.Questions[language]))] {
				if examples+len(all) < intent.MaxExamples {
					all = append(all, intent.Example{Text: q, Intent: e.ID, Language: language})
				}
			}
		}
	}
	return all
}
