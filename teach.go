package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sluice/internal/eval"
	"sluice/internal/intent"
	"sluice/internal/rules"
)

// teach makes a model for the rules, or says why there is none that can be relied on.
type teach func(context.Context, *rules.Rules, []intent.Example) (*intent.Model, error)

// What a model must reach on held-back examples before it answers customers. Those
// examples are harder than what customers write: the shipped ones reach 0.64 and 0.90.
const (
	leastAccuracy = 0.5
	leastRecall   = 0.75 // of urgent messages
	leastJudged   = 20   // held-back messages; fewer say nothing
)

var errUnfitModel = errors.New("the model does not hold on the examples held back")

// teachModel learns from nine tenths of the examples, judges on the rest, and if that
// holds learns from all.
func teachModel(ctx context.Context, r *rules.Rules, examples []intent.Example) (*intent.Model, error) {
	classifier, err := newClassifier(r)
	if err != nil {
		return nil, err
	}
	learn, judge := intent.HoldOut(examples)
	m, err := intent.Sketch(ctx, learn)
	if err != nil {
		return nil, err
	}
	got := eval.Judge(classifier.With(m), judge).Intents[eval.All]
	poor := got.Accuracy < leastAccuracy || got.Urgent.Recall < leastRecall && got.Urgent.Messages > 0
	if poor && got.Messages >= leastJudged {
		return nil, fmt.Errorf("%w: accuracy %.2f of %.2f, urgent recall %.2f of %.2f on %d messages",
			errUnfitModel, got.Accuracy, leastAccuracy, got.Urgent.Recall, leastRecall, got.Messages)
	}
	return intent.Train(ctx, examples, nil)
}

// learn keeps the model to the examples of the rules in force, until ctx ends. Until
// there is a first model, and for intents that the last good one does not know, the
// patterns answer.
func (l *live) learn(ctx context.Context) {
	var last []intent.Example
	for {
		now := l.now.Load()
		examples, err := lessons(now.rules)
		if err == nil && !slices.Equal(examples, last) {
			err = l.teachOnce(ctx, now.rules, examples)
			last = examples
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			l.log.Warn().Err(err).Uint64("revision", now.rev).Msg("intents cannot be learnt, the last model holds")
		}
		select {
		case <-ctx.Done():
			return
		case <-l.changed:
		}
	}
}

func (l *live) teachOnce(ctx context.Context, r *rules.Rules, examples []intent.Example) error {
	m, err := l.teach(ctx, r, examples)
	if err != nil {
		return err
	}
	l.publish(m)
	l.log.Info().Int("examples", m.Examples()).Int("features", m.Features()).Msg("intents learnt")
	return nil
}

// publish has the model answer from now on.
func (l *live) publish(m *intent.Model) {
	l.swap.Lock()
	defer l.swap.Unlock()
	l.model = m
	now := *l.now.Load()
	now.classifier = now.classifier.With(m)
	l.now.Store(&now)
}

// force puts a revision into force, with the model that there is.
func (l *live) force(next *inForce) {
	l.swap.Lock()
	defer l.swap.Unlock()
	if l.model != nil {
		next.classifier = next.classifier.With(l.model)
	}
	l.now.Store(next)
}

// teacher returns who makes the models of this process: only one that takes messages in
// asks what they want.
func (r roles) teacher() teach {
	if !r.api {
		return nil
	}
	return teachModel
}
