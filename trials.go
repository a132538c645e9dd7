package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/api"
	"sluice/internal/rules"
)

// Bounds of what is tried for operators who edit rules.
const (
	maxTried     = 5  // intents of one document; the first in its order
	keptTrials   = 16 // documents' results; the oldest goes
	trialLimit   = 3 * time.Minute
	trialForgets = 15 * time.Second // since it was last asked for, after which others may have theirs tried
)

// trials works out what the intents of documents that are not stored would be confused with:
// one document at a time, on one core, in the background. What an operator asks for next
// takes the place of what the same operator asked for before; others wait until nobody asks
// for it any more. Results are kept by what is learnt from. It is safe for concurrent use.
type trials struct {
	log    zerolog.Logger
	judge  func(ctx context.Context, r *rules.Rules, names []string) ([]api.IntentTrial, error)
	wanted chan struct{} // holds one token when there is a trial that run has not begun

	mu   sync.Mutex
	now  *intentTrial // nil: none is under way
	kept []triedRules
}

// intentTrial is one that is wanted, or under way.
type intentTrial struct {
	key     [sha256.Size]byte
	actor   string
	rules   *rules.Rules
	names   []string
	askedAt time.Time
	drop    context.CancelFunc // ends the work when another takes its place; nil: it has not begun
}

// triedRules is what came of one.
type triedRules struct {
	key   [sha256.Size]byte
	found []api.IntentTrial
}

func newTrials(log zerolog.Logger) *trials {
	return &trials{log: log.With().Str("stage", "trials").Logger(), judge: judgeIntents, wanted: make(chan struct{}, 1)}
}

// ask returns how the intents do that next changes; nil: it changes no examples.
func (t *trials) ask(actor string, now, next *rules.Rules) []api.IntentTrial {
	names := changedIntents(now, next)
	if len(names) == 0 {
		return nil
	}
	some := names[:min(len(names), maxTried)]
	found := t.look(actor, next, some)
	for _, name := range names[len(some):] {
		found = append(found, blankTrial(name, api.TrialLeftOut))
	}
	return found
}

// look returns what is kept, or sees to it that it is worked out.
func (t *trials) look(actor string, next *rules.Rules, names []string) []api.IntentTrial {
	key := trialKey(next, names)
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.IndexFunc(t.kept, func(k triedRules) bool { return k.key == key }); i >= 0 {
		return slices.Clone(t.kept[i].found)
	}
	at := time.Now()
	switch {
	case t.now != nil && t.now.key == key:
		t.now.askedAt = at
	case t.now == nil || t.now.actor == actor || at.Sub(t.now.askedAt) > trialForgets:
		if t.now != nil && t.now.drop != nil {
			t.now.drop()
		}
		t.now = &intentTrial{key: key, actor: actor, rules: next, names: names, askedAt: at}
		select {
		case t.wanted <- struct{}{}:
		default: // run will see this too
		}
	}
	return allTrials(names, api.TrialPending)
}

// run works on what is wanted until ctx ends.
func (t *trials) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wanted:
		}
		if one, work := t.begin(ctx); one != nil {
			found, err := t.judge(work, one.rules, one.names)
			t.end(one, found, err)
		}
	}
}

// begin takes up what is wanted; nil: nothing is, any more.
func (t *trials) begin(ctx context.Context) (*intentTrial, context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now == nil {
		return nil, nil
	}
	work, drop := context.WithTimeout(ctx, trialLimit)
	t.now.drop = drop
	return t.now, work
}

// end keeps what came of a trial, unless another has taken its place.
func (t *trials) end(one *intentTrial, found []api.IntentTrial, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one.drop()
	if t.now != one {
		return
	}
	t.now = nil
	if err != nil {
		t.log.Info().Err(err).Int("intents", len(one.names)).Msg("intents cannot be tried")
		found = allTrials(one.names, api.TrialFailed)
	}
	t.kept = append(t.kept, triedRules{one.key, found})
	t.kept = t.kept[max(0, len(t.kept)-keptTrials):]
}

func allTrials(names []string, status string) []api.IntentTrial {
	var list []api.IntentTrial
	for _, name := range names {
		list = append(list, blankTrial(name, status))
	}
	return list
}

func blankTrial(name, status string) api.IntentTrial {
	return api.IntentTrial{Intent: name, Status: status, Lost: []api.IntentMix{}, Won: []api.IntentMix{}}
}

// trialKey tells documents apart by all that the outcome of a trial depends on.
func trialKey(r *rules.Rules, names []string) [sha256.Size]byte {
	type class struct {
		Name               string
		Urgent             bool
		Patterns, Examples []string
	}
	var classes []class
	for _, in := range r.Intents {
		classes = append(classes, class{in.Name, in.Urgent, in.Patterns, in.Examples})
	}
	text, _ := json.Marshal([]any{names, classes}) // of strings and truth values: it cannot fail
	return sha256.Sum256(text)
}
