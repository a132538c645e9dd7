package main

import (
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"sluice/dispatcher"
	"sluice/internal/chat"
	"sluice/internal/control"
	"sluice/internal/queue"
	"sluice/internal/rules"
	"sluice/worker"
)

// line joins the stages that a message passes between its lane and its answer.
type line struct {
	control    *control.Controller
	dispatcher *dispatcher.Dispatcher
}

// newLine builds the line for rules; nothing runs yet.
func newLine(q *queue.Queue, r *rules.Rules, f *fleet, log zerolog.Logger) (*line, error) {
	c, err := control.New(q, controlConfig(r, log))
	if err != nil {
		return nil, fmt.Errorf("controller: %w", err)
	}
	w, err := worker.New(f.model, worker.Config{Templates: templates(r)})
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	d, err := dispatcher.New(q, c, w, dispatcher.Config{
		Holds: bounds(r), Vendors: r.Chains[rules.ChainAgent].Vendors, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("dispatcher: %w", err)
	}
	return &line{control: c, dispatcher: d}, nil
}

func controlConfig(r *rules.Rules, log zerolog.Logger) control.Config {
	cfg := control.Config{Limits: map[string]int{}, Ages: map[chat.Lane]time.Duration{}, Node: "embedded", Log: log}
	for _, v := range r.Vendors {
		cfg.Limits[v.Name] = v.Limit()
	}
	for lane, l := range r.Lanes {
		cfg.Ages[lane] = l.Age
	}
	return cfg
}

// bounds returns how much each lane may hold.
func bounds(r *rules.Rules) map[chat.Lane]int {
	all := map[chat.Lane]int{}
	for lane, l := range r.Lanes {
		all[lane] = l.Bound
	}
	return all
}

// templates returns the answers that need no vendor: intent → language → text.
func templates(r *rules.Rules) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, i := range r.Intents {
		all[i.Name] = i.Template
	}
	return all
}
