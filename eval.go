package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"sluice/internal/eval"
	"sluice/internal/faq"
	"sluice/internal/intent"
	"sluice/internal/rules"
)

// evalCmd judges how well messages are understood.
type evalCmd struct {
	Rules   string `help:"Rules file; none: the shipped rules." env:"SLUICE_RULES"`
	Intents string `help:"Labelled messages to judge on: CSV with the columns text, intent and optionally lang (none: a tenth of the examples, held back)." type:"path"`
	FAQ     string `name:"faq" help:"Labelled questions to judge the FAQ on: CSV with the columns text, faq_id (empty: no entry answers) and optionally lang." type:"path"`
	Curve   bool   `help:"Show too what a quarter, a half and three quarters of the examples reach."`
	JSON    bool   `name:"json" help:"Write JSON."`
}

// Run learns as a serving process does, judges, and writes what it found.
func (c *evalCmd) Run(ctx context.Context, out io.Writer) error {
	name, doc, err := readRules(c.Rules)
	if err != nil {
		return err
	}
	r, err := rules.Parse(name, doc)
	if err != nil {
		return err
	}
	found, err := c.judge(ctx, r)
	if err != nil {
		return err
	}
	if !c.JSON {
		return found.Table(out)
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(found); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (c *evalCmd) judge(ctx context.Context, r *rules.Rules) (*eval.Report, error) {
	classifier, err := newClassifier(r)
	if err != nil {
		return nil, err
	}
	examples, err := lessons(r)
	if err != nil {
		return nil, err
	}
	learn, judge, judged := examples, []intent.Example(nil), c.Intents
	if c.Intents == "" {
		learn, judge = intent.HoldOut(examples)
		judged = "a tenth of the examples, held back"
	} else if judge, err = readLabelled(c.Intents, r); err != nil {
		return nil, err
	}
	quiz, err := c.readQuiz()
	if err != nil {
		return nil, err
	}
	model, err := intent.Train(ctx, learn, nil)
	if err != nil {
		return nil, err
	}
	with := classifier.With(model)
	found := eval.Judge(with, judge)
	found.Judged, found.Learnt = judged, model.Examples()
	found.Cost(with, judge)
	if c.Curve {
		if found.Curve, err = eval.Curve(ctx, classifier, learn, judge); err != nil {
			return nil, err
		}
	}
	if quiz != nil {
		vectors, err := vectorsOf(ctx, r, os.Getenv, quiz.texts())
		if err != nil {
			return nil, err
		}
		base, err := faq.BuildNear(ctx, quiz.entries, model, vectors)
		if err != nil {
			return nil, fmt.Errorf("build the FAQ: %w", err)
		}
		found.JudgeFAQ(base, quiz.questions)
		found.JudgeNear(base, quiz.questions, vectors)
	}
	for _, name := range added(r) {
		trial, err := classifier.Try(ctx, examples, name)
		if err != nil {
			return nil, err
		}
		found.Added = append(found.Added, trial)
	}
	return found, nil
}

// quiz is the shipped FAQ and what it is judged on.
type quiz struct {
	entries   []faq.Entry
	questions []faq.Labelled
}

// readQuiz reads what --faq names; without it there is none.
func (c *evalCmd) readQuiz() (*quiz, error) {
	if c.FAQ == "" {
		return nil, nil
	}
	entries, err := faq.Shipped()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(c.FAQ)
	if err != nil {
		return nil, fmt.Errorf("read labelled questions: %w", err)
	}
	defer func() { _ = f.Close() }()
	questions, err := faq.ReadLabelled(c.FAQ, f, entries)
	return &quiz{entries, questions}, err
}

func readLabelled(file string, r *rules.Rules) ([]intent.Example, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read labelled messages: %w", err)
	}
	defer func() { _ = f.Close() }()
	var known []string
	for _, in := range r.Intents {
		known = append(known, in.Name)
	}
	return eval.Intents(file, f, known)
}

// added are the intents that the rules give examples of.
func added(r *rules.Rules) []string {
	var names []string
	for _, in := range r.Intents {
		if len(in.Examples) > 0 {
			names = append(names, in.Name)
		}
	}
	return names
}
