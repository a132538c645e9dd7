package main

import (
	"context"
	"crypto/rand"
	"errors"
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
	member     *control.Member
	control    *control.Controller    // nil: no dispatcher, so no candidate either
	dispatcher *dispatcher.Dispatcher // nil: not of this process's roles
}

// newLine builds the line for rules; nothing runs yet. Without a fleet the process only
// asks the controller for places. alone: no other process works on the queue.
func newLine(q *queue.Queue, r *rules.Rules, f *fleet, alone bool, log zerolog.Logger) (*line, error) {
	l := &line{}
	node := rand.Text()
	var err error
	if f != nil {
		cfg := controlConfig(r, log)
		cfg.Node, cfg.Alone = node, alone
		if l.control, err = control.New(q, cfg); err != nil {
			return nil, fmt.Errorf("controller: %w", err)
		}
	}
	l.member, err = control.NewMember(q, l.control, control.MemberConfig{Node: node, Onlooker: f == nil, Log: log})
	if err != nil {
		return nil, fmt.Errorf("controller's member: %w", err)
	}
	if f == nil {
		return l, nil
	}
	w, err := worker.New(f.model, worker.Config{Templates: templates(r)})
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	l.dispatcher, err = dispatcher.New(q, l.member, w, dispatcher.Config{
		Holds: bounds(r), Vendors: r.Chains[rules.ChainAgent].Vendors, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("dispatcher: %w", err)
	}
	return l, nil
}

// stages returns what runs of the line: who holds jobs, its way to the controller, and
// the controller or a candidate for it.
func (l *line) stages() []stage {
	var all []stage
	if l.dispatcher != nil {
		all = append(all, stage{name: "dispatcher", run: l.dispatcher.Run})
	}
	all = append(all, stage{name: "member", run: l.member.Run, ready: l.member.Ready()})
	if l.control != nil {
		all = append(all, stage{name: "controller", run: l.control.Run, ready: l.control.Ready()})
	}
	return all
}

// check tells /readyz whether a controller grants.
func (l *line) check(context.Context) (string, error) {
	state := l.member.State()
	if state.Node != "" {
		return "granting", nil
	}
	if state.Epoch == 0 {
		return "starting", errors.New("grants nothing yet")
	}
	return "away", errors.New("no controller answers")
}

func controlConfig(r *rules.Rules, log zerolog.Logger) control.Config {
	cfg := control.Config{Limits: map[string]int{}, Quotas: map[string]int{}, Ages: map[chat.Lane]time.Duration{}, Log: log}
	for _, v := range r.Vendors {
		cfg.Limits[v.Name], cfg.Quotas[v.Name] = v.Limit(), v.Quota
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
