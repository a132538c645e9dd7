package main

import (
	"context"
	"slices"

	"sluice/api"
	"sluice/internal/rules"
)

// changedIntents returns the intents with examples of their own that now has not, or has with
// other examples.
func changedIntents(now, next *rules.Rules) []string {
	var names []string
	for _, in := range next.Intents {
		same := func(was rules.Intent) bool { return was.Name == in.Name && slices.Equal(was.Examples, in.Examples) }
		if len(in.Examples) > 0 && !slices.ContainsFunc(now.Intents, same) {
			names = append(names, in.Name)
		}
	}
	return names
}

// judgeIntents tries intents of rules one after the other, as `sluice eval` does. It takes
// some seconds of CPU time for each, and ends early when ctx does.
func judgeIntents(ctx context.Context, r *rules.Rules, names []string) ([]api.IntentTrial, error) {
	classifier, err := newClassifier(r)
	if err != nil {
		return nil, err
	}
	examples, err := lessons(r)
	if err != nil {
		return nil, err
	}
	var found []api.IntentTrial
	for _, name := range names {
		tried, err := classifier.Try(ctx, examples, name)
		if err != nil {
			return nil, err
		}
		one := blankTrial(name, api.TrialReady)
		one.Examples, one.Right, one.Others, one.Drawn = tried.Examples, tried.Right, tried.Others, tried.Drawn
		one.Accuracy = float64(tried.Right) / float64(max(1, tried.Examples))
		for _, m := range tried.Lost {
			one.Lost = append(one.Lost, api.IntentMix(m))
		}
		for _, m := range tried.Won {
			one.Won = append(one.Won, api.IntentMix(m))
		}
		found = append(found, one)
	}
	return found, nil
}
