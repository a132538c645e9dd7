// Command prom tests rules for Prometheus: it reads files of the form that "promtool test
// rules" reads, and evaluates the rules with Prometheus' own parser and engine. promtool
// itself would bring the clients of every cloud; what it does beyond this is not used.
//
// An alert rule is evaluated at each interval from 0 on, with "for" and "keep_firing_for" as
// documented by Prometheus. Only labels are compared: annotations are texts.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// file is one file of tests.
type file struct {
	RuleFiles []string       `yaml:"rule_files"`
	Every     model.Duration `yaml:"evaluation_interval"`
	Tests     []test         `yaml:"tests"`
}

type test struct {
	Name   string         `yaml:"name"`
	Every  model.Duration `yaml:"interval"`
	Series []struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	} `yaml:"input_series"`
	Alerts []expectation `yaml:"alert_rule_test"`
}

type expectation struct {
	At    model.Duration `yaml:"eval_time"`
	Name  string         `yaml:"alertname"`
	Fires []struct {
		Labels map[string]string `yaml:"exp_labels"`
	} `yaml:"exp_alerts"`
}

func main() {
	failed := 0
	for _, name := range os.Args[1:] {
		faults, err := run(name)
		if err != nil {
			faults = append(faults, err.Error())
		}
		for _, f := range faults {
			fmt.Println(name + ": " + f)
		}
		failed += len(faults)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

func run(name string) (faults []string, err error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var f file
	d := yaml.NewDecoder(strings.NewReader(string(raw)))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil {
		return nil, err
	}
	p := parser.NewParser(parser.Options{})
	var rules []rulefmt.Rule
	for _, r := range f.RuleFiles {
		groups, errs := rulefmt.ParseFile(filepath.Join(filepath.Dir(name), r), false, model.UTF8Validation, p, slog.New(slog.DiscardHandler))
		for _, err := range errs {
			faults = append(faults, err.Error())
		}
		if groups == nil {
			continue
		}
		for _, g := range groups.Groups {
			rules = append(rules, g.Rules...)
		}
	}
	if len(faults) > 0 {
		return faults, nil
	}
	tested := map[string]bool{}
	for _, t := range f.Tests {
		some, err := t.run(p, rules, time.Duration(f.Every))
		if err != nil {
			return faults, fmt.Errorf("%s: %w", t.Name, err)
		}
		faults = append(faults, some...)
		for _, e := range t.Alerts {
			tested[e.Name] = tested[e.Name] || len(e.Fires) > 0
		}
	}
	for _, r := range rules {
		if r.Alert != "" && !tested[r.Alert] {
			faults = append(faults, "no test has "+r.Alert+" fire")
		}
	}
	fmt.Printf("%s: %d rules, %d tests\n", name, len(rules), len(f.Tests))
	return faults, nil
}

func (t test) run(p parser.Parser, rules []rulefmt.Rule, every time.Duration) (faults []string, err error) {
	var store series
	for _, s := range t.Series {
		l, values, err := p.ParseSeriesDesc(s.Series + " " + s.Values)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Series, err)
		}
		store.add(l, values, time.Duration(t.Every))
	}
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: time.Minute, Parser: p})
	defer func() { _ = engine.Close() }()
	var last time.Duration
	for _, e := range t.Alerts {
		last = max(last, time.Duration(e.At))
	}
	states := map[string]*state{}
	for _, r := range rules {
		states[r.Alert] = &state{rule: r, active: map[string]*active{}}
	}
	for at := time.Duration(0); at <= last; at += every {
		now := time.Unix(0, 0).Add(at)
		for _, s := range states {
			if err := s.look(engine, store, now); err != nil {
				return nil, err
			}
		}
		for _, e := range t.Alerts {
			if time.Duration(e.At) != at {
				continue
			}
			s, known := states[e.Name]
			if !known {
				return nil, fmt.Errorf("there is no rule %s", e.Name)
			}
			var want []string
			for _, one := range e.Fires {
				want = append(want, labels.FromMap(one.Labels).String())
			}
			slices.Sort(want)
			if got := s.firing(); !slices.Equal(got, want) {
				faults = append(faults, fmt.Sprintf("%s: at %s %s fires with %v, want %v", t.Name, at, e.Name, got, want))
			}
		}
	}
	return faults, nil
}

// state is what one rule knows between two evaluations.
type state struct {
	rule   rulefmt.Rule
	active map[string]*active
}

type active struct {
	since, seen time.Time
	fires       bool
}

func (s *state) look(engine *promql.Engine, store series, now time.Time) error {
	q, err := engine.NewInstantQuery(context.Background(), store, nil, s.rule.Expr, now)
	if err != nil {
		return fmt.Errorf("%s: %w", s.rule.Alert, err)
	}
	defer q.Close()
	result := q.Exec(context.Background())
	if result.Err != nil {
		return fmt.Errorf("%s: %w", s.rule.Alert, result.Err)
	}
	vector, err := result.Vector()
	if err != nil {
		return fmt.Errorf("%s: %w", s.rule.Alert, err)
	}
	there := map[string]bool{}
	for _, sample := range vector {
		b := labels.NewBuilder(sample.Metric).Del(model.MetricNameLabel)
		for name, value := range s.rule.Labels {
			b.Set(name, value)
		}
		key := b.Labels().String()
		if s.active[key] == nil {
			s.active[key] = &active{since: now}
		}
		there[key] = true
		s.active[key].seen = now
	}
	for key, a := range s.active {
		switch {
		case there[key]:
			a.fires = a.fires || now.Sub(a.since) >= time.Duration(s.rule.For)
		case !a.fires || now.Sub(a.seen) >= time.Duration(s.rule.KeepFiringFor):
			delete(s.active, key)
		}
	}
	return nil
}

func (s *state) firing() []string {
	var all []string
	for key, a := range s.active {
		if a.fires {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}
