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
