package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"sluice/dispatcher"
	"sluice/internal/chat"
	"sluice/internal/control"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/rules"
	"sluice/internal/tool"
	"sluice/internal/trace"
	"sluice/internal/valve"
	"sluice/worker"
)

// line joins the stages that a message passes between its lane and its answer.
type line struct {
	member     *control.Member
	promises   *queue.Promises
	texts      *worker.Sender         // nil: no dispatcher
	control    *control.Controller    // nil: no dispatcher, so no candidate either
	dispatcher *dispatcher.Dispatcher // nil: not of this process's roles
	worker     *worker.Worker         // of the dispatcher
	webhooks   stage                  // with the dispatcher
	embeddings *embeddings            // beside the dispatcher
}

// newLine builds the line for the rules in force; nothing runs yet. Without a fleet the
// process only asks the controller for places. alone: no other process works on the queue.
// state tells how a lane stands.
func newLine(q *queue.Queue, in *live, f *fleet, alone bool, state func(chat.Lane) chat.LaneState, log zerolog.Logger) (*line, error) {
	l := &line{promises: queue.NewPromises(q, log)}
	var err error
	if f != nil {
		cfg := controlConfig(in.rules(), log)
		cfg.Node, cfg.Alone = in.name, alone
		if l.control, err = control.New(q, cfg); err != nil {
			return nil, fmt.Errorf("controller: %w", err)
		}
	}
	l.member, err = control.NewMember(q, l.control, control.MemberConfig{
		Node: in.name, Onlooker: f == nil, Intake: intake(in.rules()), Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("controller's member: %w", err)
	}
	in.onChange(shareIntake(l.member, log))
	if f == nil {
		return l, nil
	}
	if l.embeddings, err = newEmbeddings(q, in, f.model, l.member, log); err != nil {
		return nil, fmt.Errorf("embeddings: %w", err)
	}
	w, err := worker.New(f.model, worker.Config{
		Templates: templates(in.rules()), Knowledge: in.knowledge, Tools: f.tools.inForce, Away: away(l.member), Claims: q,
		MaxSteps: func() int { return in.rules().Chains[rules.ChainAgent].MaxSteps },
		Memory:   memory(q, in), Retrieval: func() time.Duration { return in.rules().Cache.Retrieval },
		FAQ: in.faq, Missed: in.missed, Vector: l.embeddings.vector,
	})
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	l.worker = w
	l.texts = worker.NewSender(queue.NewOutbox(q), func() worker.Texting { return in.carriers.texting(in.rules()) }, in.name, log)
	l.dispatcher, err = dispatcher.New(q, counted{l.member, f.metrics}, liveWorker{w, in}, dispatcher.Config{
		Rules: func() dispatcher.Rules { return dispatching(in.rules()) }, Defer: in.deferral, HandsOff: in.handsOff,
		Draining: func(lane chat.Lane) bool { return state(lane) == chat.LaneDraining },
		Answered: func(t *chat.Ticket) { f.metrics.Answered(t); trace.Ended(t) }, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("dispatcher: %w", err)
	}
	if l.webhooks, err = webhookStage(q, in, log); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return l, nil
}

// stages returns what runs of the line: who holds jobs, its way to the controller, and
// the controller or a candidate for it, and who looks after promises.
func (l *line) stages() []stage {
	var all []stage
	if l.dispatcher != nil {
		all = append(all, stage{name: "dispatcher", run: func(ctx context.Context) error {
			defer l.worker.Close()
			return l.dispatcher.Run(ctx)
		}})
	}
	if l.webhooks.run != nil {
		all = append(all, l.webhooks)
	}
	if l.embeddings != nil {
		all = append(all, stage{name: "embeddings", run: l.embeddings.run})
	}
	all = append(all, stage{name: "member", run: l.member.Run, ready: l.member.Ready()})
	if l.control != nil {
		all = append(all, stage{name: "controller", run: l.control.Run, ready: l.control.Ready()})
	}
	all = append(all, stage{name: "promises", run: l.promises.Run})
	if l.texts != nil {
		all = append(all, stage{name: "texts", run: l.texts.Run})
	}
	return all
}

// dispatching returns what the rules say to the dispatcher.
func dispatching(r *rules.Rules) dispatcher.Rules {
	agent, rag := r.Chains[rules.ChainAgent], r.Chains[rules.ChainRAG]
	return dispatcher.Rules{
		Holds:      bounds(r),
		Agent:      dispatcher.Chain{Vendors: agent.Vendors, Model: agent.Model, Light: rag.Model},
		RAG:        dispatcher.Chain{Vendors: rag.Vendors, Model: rag.Model},
		MaxDeliver: r.MaxDeliver, UrgentWait: r.Valve.UrgentWait, Shadow: r.Valve.Shadow,
	}
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
	return control.Config{Gate: limits(r), Quotas: quotas(r), Valve: levels(r), Log: log}
}

// levels returns what the rules say of the load levels.
func levels(r *rules.Rules) valve.Config {
	cfg := valve.Config{Window: r.Valve.Window, MinCalls: r.Valve.MinCalls, Hold: r.Valve.Hold}
	for i, l := range r.Valve.Levels {
		cfg.Levels[i] = valve.Threshold(l)
	}
	if f := r.Valve.Force; f != nil {
		cfg.Force = &valve.Force{Level: f.Level, Until: f.Until}
	}
	return cfg
}

func quotas(r *rules.Rules) map[string]int {
	all := map[string]int{}
	for _, v := range r.Vendors {
		all[v.Name] = v.Quota
	}
	return all
}

// batchFloor is the part of a vendor's base permits that batch gets under any load: the
// low end of the 5 to 10 % that keep a low band from starving (facts/overload.md §5).
const batchFloor = 0.05

// limits returns what the rules say to the gate.
func limits(r *rules.Rules) gate.Config {
	cfg := gate.Config{
		Vendors: map[string]gate.Vendor{}, Lanes: map[chat.Lane]gate.Lane{}, Weights: weights(r), Predict: r.Intake.Predict,
		Intake: intake(r),
	}
	for _, v := range r.Vendors {
		models := map[string]int{}
		for word, m := range v.Models {
			models[word] = m.Permits
		}
		cfg.Vendors[v.Name] = gate.Vendor{
			Limit: v.Limit(), Elastic: v.ElasticLimit(), Models: models, QPS: v.QPS, Tokens: v.TokensPerMinute, Retry: v.Retry.Permits,
			Breaker: gate.BreakerConfig{
				Window: v.Breaker.Window, MinCalls: v.Breaker.MinCalls, Failures: v.Breaker.Failures, Slow: v.Breaker.Slow,
				Cooldown: v.Breaker.Cooldown, Probes: v.Breaker.Probes, ProbeFor: max(v.Timeouts.Call, v.Timeouts.Stream),
			},
		}
	}
	for _, t := range r.Tools {
		cfg.Vendors[tool.Account(t.Name)] = gate.Vendor{
			Limit: t.Permits, Tool: true,
			Breaker: gate.BreakerConfig{
				Window: t.Breaker.Window, MinCalls: t.Breaker.MinCalls, Failures: t.Breaker.Failures, Slow: t.Breaker.Slow,
				Cooldown: t.Breaker.Cooldown, Probes: t.Breaker.Probes, ProbeFor: 2 * t.Timeout,
			},
		}
	}
	for lane, l := range r.Lanes {
		cfg.Lanes[lane] = gate.Lane{Age: l.Age, Elastic: l.Elastic, Share: l.Share}
	}
	batch := cfg.Lanes[chat.Batch]
	batch.Floor = batchFloor
	cfg.Lanes[chat.Batch] = batch
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

// templates returns the answers that need no vendor: intent → language → wordings.
func templates(r *rules.Rules) map[string]map[string][]string {
	all := map[string]map[string][]string{}
	for _, i := range r.Intents {
		all[i.Name] = map[string][]string{}
		for language, texts := range i.Template {
			all[i.Name][language] = texts
		}
	}
	return all
}
