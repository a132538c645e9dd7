package main

import (
	"strings"
	"time"

	"sluice/internal/chat"
	"sluice/internal/intent"
	"sluice/internal/queue"
	"sluice/internal/rules"
	"sluice/worker"
)

// memory is how answers are kept for others who ask the same, by the rules in force.
func memory(q *queue.Queue, in *live) *worker.Memory {
	return &worker.Memory{
		Answers: q, Fold: intent.NewReader("").Fold,
		Keep:      func() time.Duration { return in.rules().Cache.Answers },
		Jitter:    func() time.Duration { return in.rules().Cache.Jitter },
		Models:    func(how chat.Effort) string { return answering(in.rules(), how) },
		Knowledge: func() string { return in.knowledge().Version() },
	}
}

// answering names the models that may answer: an answer is not given any more once one of
// them has changed.
func answering(r *rules.Rules, how chat.Effort) string {
	chain := r.Chains[rules.ChainAgent]
	if how.Route == chat.RouteRAG {
		chain = r.Chains[rules.ChainRAG]
	}
	word := chain.Model
	if how.Light {
		word = r.Chains[rules.ChainRAG].Model
	}
	var all []string
	for _, name := range chain.Vendors {
		for _, v := range r.Vendors {
			if v.Name == name {
				all = append(all, name+"/"+v.Models[word].Name)
			}
		}
	}
	return strings.Join(all, " ")
}
