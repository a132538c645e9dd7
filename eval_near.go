package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sluice/internal/faq"
	"sluice/internal/gate"
	"sluice/internal/rules"
)

// lone grants every permit at once: who asks makes one call after the other, out of the
// headroom that serving processes leave of a quota.
type lone struct{}

// Ask implements gate.Granter.
func (lone) Ask(_ context.Context, a gate.Ask) (gate.Permit, error) {
	return gate.Permit{Vendor: a.Vendors[0], Ticket: a.Ticket, Lane: a.Lane, Model: a.Model, GrantedAt: time.Now()}, nil
}

// End implements gate.Granter.
func (lone) End(gate.Permit, gate.End) bool { return true }

// Release implements gate.Granter.
func (lone) Release(gate.Permit, time.Duration) {}

// vectorsOf asks the vendors of the rules, or simulated ones where no key is set, for the
// vectors of texts. Nothing is kept.
func vectorsOf(ctx context.Context, r *rules.Rules, getenv func(string) string, texts []string) (_ *faq.Vectors, err error) {
	want, on := spaceOf(r)
	if !on {
		return nil, nil
	}
	f, err := openFleet(ctx, r, getenv)
	if err != nil {
		return nil, err
	}
	defer f.close()
	if f.sim != nil {
		running, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- f.sim.Run(running) }()
		defer func() { stop(); err = errors.Join(err, <-ended) }()
	}
	e, all := embedder{lone{}, f.model}, &faq.Vectors{Space: want.id(), Of: map[string][]float32{}}
	for some := range slices.Chunk(texts, want.Batch) {
		masked := make([]string, len(some))
		for i, text := range some {
			masked[i] = embedded(text)
		}
		vectors, err := e.embed(ctx, ctx, want, "eval", masked)
		if err != nil {
			return nil, fmt.Errorf("vectors: %w", err)
		}
		for i, text := range some {
			if all.Of[text] = vectors[i]; vectors[i] == nil {
				delete(all.Of, text)
			}
		}
	}
	return all, nil
}

// texts returns all that a quiz needs the vectors of, each once.
func (q *quiz) texts() []string {
	all := faq.Texts(q.entries)
	for _, question := range q.questions {
		all = append(all, question.Text)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
