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
// aside are phrasings that are of no intent.
type teach func(ctx context.Context, r *rules.Rules, examples, aside []intent.Example) (*intent.Model, error)

// teacher is who makes the models of a process.
type teacher struct {
	teach teach // nil: patterns alone tell the intents, and the FAQ answers nothing
	wide  bool  // messages are taken in here: what operators have put into the FAQ is learnt aside
}

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
func teachModel(ctx context.Context, r *rules.Rules, examples, aside []intent.Example) (*intent.Model, error) {
	classifier, err := newClassifier(r)
	if err != nil {
		return nil, err
	}
	learn, judge := intent.HoldOut(examples)
	m, err := intent.Sketch(ctx, learn, aside)
	if err != nil {
		return nil, err
	}
	got := eval.Judge(classifier.With(m), judge).Intents[eval.All]
	poor := got.Accuracy < leastAccuracy || got.Urgent.Recall < leastRecall && got.Urgent.Messages > 0
	if poor && got.Messages >= leastJudged {
		return nil, fmt.Errorf("%w: accuracy %.2f of %.2f, urgent recall %.2f of %.2f on %d messages",
			errUnfitModel, got.Accuracy, leastAccuracy, got.Urgent.Recall, leastRecall, got.Messages)
	}
	return intent.Train(ctx, examples, aside)
}

// pupil is what learn has come to. It belongs to its goroutine.
type pupil struct {
	plain    *intent.Model    // the last good model that has learnt nothing aside
	examples []intent.Example // that were tried last
	aside    []intent.Example // that were tried last; none: the plain model answers
}

// learn keeps the model to the examples of the rules in force, and the FAQ to its list,
// one after the other, until ctx ends. Until there is a first model, and for intents that
// the last good one does not know, the patterns answer.
func (l *live) learn(ctx context.Context) {
	for {
		now := l.now.Load()
		if err := l.learnIntents(ctx, now.rules); err != nil && ctx.Err() == nil {
			l.log.Warn().Err(err).Uint64("revision", now.rev).Msg("intents cannot be learnt, the last model holds")
		}
		l.faqs.learn(ctx, l.plain)
		if err := l.learnAside(ctx, now.rules); err != nil && ctx.Err() == nil {
			l.log.Warn().Err(err).Msg("the FAQ cannot be learnt beside the intents, the model without it holds")
		}
		select {
		case <-ctx.Done():
			return
		case <-l.changed:
		}
	}
}

// learnAgain tells learn that there is something new.
func (l *live) learnAgain() {
	select {
	case l.changed <- struct{}{}:
	default: // learn will see this too
	}
}

// learnIntents makes a model of the rules' examples, if they are others than before.
func (l *live) learnIntents(ctx context.Context, r *rules.Rules) error {
	examples, err := lessons(r)
	if err != nil || slices.Equal(examples, l.examples) {
		return err
	}
	l.examples, l.aside = examples, nil
	m, err := l.teach(ctx, r, examples, nil)
	if err != nil {
		return err
	}
	l.plain = m
	l.publish(m)
	l.log.Info().Int("examples", m.Examples()).Int("features", m.Features()).Msg("intents learnt")
	return nil
}

// learnAside makes a model that knows what operators have put into the FAQ to be of no
// intent, so that it does not take the words of their trade for something urgent.
func (l *live) learnAside(ctx context.Context, r *rules.Rules) error {
	if !l.wide || l.plain == nil {
		return nil
	}
	aside := asides(r, l.faqs.stored.Load(), len(l.examples))
	if slices.Equal(aside, l.aside) {
		return nil
	}
	l.aside = aside
	if len(aside) == 0 {
		l.publish(l.plain)
		return nil
	}
	m, err := l.teach(ctx, r, l.examples, aside)
	if err != nil {
		l.publish(l.plain)
		return err
	}
	l.publish(m)
	l.log.Info().Int("examples", m.Examples()).Int("aside", len(aside)).Msg("intents learnt beside the FAQ")
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

// teacher returns who makes the models of this process: one that takes messages in asks
// what they want, and one that answers needs the FAQ.
func (r roles) teacher() teacher {
	if !r.api && !r.dispatcher {
		return teacher{}
	}
	return teacher{teach: teachModel, wide: r.api}
}
