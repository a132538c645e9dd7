package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/intent"
	"sluice/internal/queue"
	"sluice/internal/rules"
	"sluice/internal/sms"
	"sluice/worker"
)

// sizesEvery is how often the sizes of streams are brought to what the rules say, while
// they are not yet.
const sizesEvery = time.Second

// live is the rules that are in force in this process: the newest stored revision that
// it can use. It watches the store and reads it again at least every second, takes over
// a new document whole, and tells the hooks. It is safe for concurrent use.
type live struct {
	name  string // of this process, among all
	store *queue.RuleStore
	queue *queue.Queue
	lanes *queue.Lanes // nil: every lane is open
	log   zerolog.Logger
	// fit makes of a document what this process can put into force, or says why it cannot.
	fit   func(*rules.Rules) (*rules.Rules, error)
	hooks []func(*rules.Rules)
	teacher
	carriers carriers
	faqs     *faqs    // nil: nothing is learnt here
	library  *library // nil: nothing is answered from documents
	shelves  *shelves // nil: no database of vectors
	trials   *trials

	changed chan struct{} // holds one token when there are rules that learn has not seen
	swap    sync.Mutex    // of now, by who builds on what is there
	model   *intent.Model // the last good one; under swap
	pupil                 // learn's own

	now     atomic.Pointer[inForce]
	refused atomic.Pointer[refusedRules] // newer than what is in force; nil: none
	seen    uint64                       // the store's newest write when it was read; the reader's goroutine
	away    bool                         // the store did not answer last time; the reader's goroutine
}

// inForce is one revision with what is built of it.
type inForce struct {
	rev        uint64
	rules      *rules.Rules
	patterns   *intent.Classifier // knows no more than patterns
	classifier *intent.Classifier // has learnt, too
	templates  *worker.Worker     // only for answers without a model
}

// refusedRules is a stored revision that cannot be put into force here.
type refusedRules struct {
	rev uint64
	err error
}

// newLive begins with a revision that fits. Nothing is read, and nothing learnt, before run.
func newLive(e *engine, fit func(*rules.Rules) (*rules.Rules, error), t teacher, log zerolog.Logger) (*live, error) {
	first, err := build(e.rev, e.rules, nil)
	if err != nil {
		return nil, err
	}
	l := &live{
		name:  rand.Text(),
		store: e.store, queue: e.queue, fit: fit, teacher: t, trials: newTrials(log), changed: make(chan struct{}, 1), log: log.With().Str("stage", "rules").Logger(),
	}
	if t.teach != nil {
		l.faqs = newFAQs(e.queue.FAQ(), func() bool { return l.rules().Knowledge.Shipped }, hideTelling, l.learnAgain, log)
	}
	l.now.Store(first)
	return l, nil
}

// build makes what is in force with a revision. The patterns of former rules, which take
// longest to make, are kept where the intents are the same; before may be nil.
func build(rev uint64, r *rules.Rules, before *inForce) (*inForce, error) {
	next := &inForce{rev: rev, rules: r}
	if before != nil && reflect.DeepEqual(r.Intents, before.rules.Intents) {
		next.patterns = before.patterns
	} else if c, err := newClassifier(r); err == nil {
		next.patterns = c
	} else {
		return nil, fmt.Errorf("intents: %w", err)
	}
	w, err := worker.New(nil, worker.Config{Templates: templates(r)})
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	next.classifier, next.templates = next.patterns, w
	return next, nil
}

// rules returns the rules in force. They are never changed.
func (l *live) rules() *rules.Rules { return l.now.Load().rules }

// classify tells the intent of a message by the rules in force.
func (l *live) classify(text string) (intent string, urgent bool) {
	result := l.now.Load().classifier.Classify(text)
	return result.Intent, result.Urgent
}

// answer makes the answer without a vendor by the rules in force.
func (l *live) answer(t *chat.Ticket, reason chat.Reason) chat.Answer {
	return l.now.Load().templates.Fallback(t, reason)
}

// onChange has hook called with each new document once it is in force, one call at a
// time, in the order of the calls to onChange, which come before run. A hook must not block.
func (l *live) onChange(hook func(*rules.Rules)) { l.hooks = append(l.hooks, hook) }

// run keeps the rules until ctx ends.
func (l *live) run(ctx context.Context) error {
	var work sync.WaitGroup
	work.Go(func() { l.store.Follow(ctx, l.read) })
	work.Go(func() { l.keepSizes(ctx) })
	if l.teach != nil {
		work.Go(func() { l.learn(ctx) })
		work.Go(func() { l.faqs.run(ctx) })
		work.Go(func() { l.trials.run(ctx) })
	}
	work.Wait()
	return nil
}

// read takes over the newest revision, if there is another one.
func (l *live) read(ctx context.Context) {
	last, err := l.store.Last(ctx)
	if err == nil && last == l.seen {
		l.away = false
		return
	}
	var doc []byte
	var rev uint64
	if err == nil {
		doc, rev, err = l.store.Load(ctx)
	}
	if err != nil {
		if !l.away && !errors.Is(ctx.Err(), context.Canceled) {
			l.log.Warn().Err(err).Msg("the rules cannot be read, the last known ones hold")
			l.away = true
		}
		return
	}
	l.seen, l.away = last, false
	if before := l.refused.Load(); rev <= l.now.Load().rev || before != nil && rev == before.rev {
		return
	}
	next, err := l.take(doc, rev)
	if err != nil {
		l.refused.Store(&refusedRules{rev, err})
		l.log.Error().Err(err).Uint64("revision", rev).Uint64("in_force", l.now.Load().rev).Msg("stored rules cannot be put into force")
		return
	}
	l.force(next)
	l.refused.Store(nil)
	l.learnAgain()
	l.log.Info().Uint64("revision", rev).Msg("rules in force")
	for _, hook := range l.hooks {
		hook(next.rules)
	}
}

func (l *live) take(doc []byte, rev uint64) (*inForce, error) {
	r, err := rules.Parse("stored rules", doc)
	if err != nil {
		return nil, err
	}
	if r, err = l.fit(r); err != nil {
		return nil, err
	}
	return build(rev, r, l.now.Load())
}

// keepSizes brings the sizes of lanes and logs to what the rules say, until ctx ends. Of
// all processes one does it. One that could not take over the newest rules leaves it to
// the others.
func (l *live) keepSizes(ctx context.Context) {
	sized := l.now.Load().rev // as the streams were opened
	for sleep(ctx, sizesEvery) == nil {
		now := l.now.Load()
		if now.rev == sized || l.refused.Load() != nil {
			continue
		}
		mine, err := l.queue.Duty(ctx, "sizes", sizesEvery)
		if err == nil && mine {
			err = l.queue.Resize(ctx, bounds(now.rules), now.rules.Retention.Events)
		}
		switch {
		case err != nil && ctx.Err() == nil:
			l.log.Warn().Err(err).Msg("sizes of the streams, trying again")
		case err == nil && mine:
			sized = now.rev
		}
	}
}

// check tells /readyz which revision is in force, and whether it is the newest.
func (l *live) check(context.Context) (string, error) {
	now := l.now.Load().rev
	if r := l.refused.Load(); r != nil {
		return fmt.Sprintf("revision %d cannot be put into force, %d holds", r.rev, now), r.err
	}
	return fmt.Sprintf("revision %d", now), nil
}

// unfit says what of valid rules cannot be put into force while processes run.
func unfit(now, next *rules.Rules) (field, reason string) {
	if now.Replicas != next.Replicas {
		return "replicas", fmt.Sprintf("must stay %d: streams cannot be moved while they are used, is %d", now.Replicas, next.Replicas)
	}
	for i, v := range next.Vendors {
		if v.Kind == rules.KindAnthropic {
			return fmt.Sprintf("vendors[%d].kind", i), errKind(v).Error()
		}
	}
	return "", ""
}

// fitAlone is what an embedded process makes of a document: vendors without a key are
// left out.
func fitAlone(log zerolog.Logger) func(*rules.Rules) (*rules.Rules, error) {
	return func(r *rules.Rules) (*rules.Rules, error) {
		r, left, err := served(r, os.Getenv)
		if len(left) > 0 {
			log.Warn().Strs("vendors", left).Msg("vendors without a key are left out")
		}
		return r, err
	}
}

// fitMember is what a process of a cluster makes of a document: it is the same everywhere,
// and a dispatcher must be able to call every vendor.
func fitMember(dispatches bool) func(*rules.Rules) (*rules.Rules, error) {
	return func(r *rules.Rules) (*rules.Rules, error) {
		if !dispatches {
			return r, nil
		}
		f, err := openRemoteFleet(r, os.Getenv)
		if err != nil {
			return nil, err
		}
		f.close()
		return r, nil
	}
}

// openSteering makes what follows the operators' words: the rules and the lanes' states.
func (n *node) openSteering(fit func(*rules.Rules) (*rules.Rules, error)) (err error) {
	if n.live, err = newLive(n.engine, fit, n.roles.teacher(), n.log); err != nil {
		return err
	}
	if n.roles.api || n.roles.dispatcher {
		n.live.library = newLibrary(n.engine.queue, n.live, !n.settings.clustered(), n.log)
	}
	n.openShelves()
	n.live.carriers = carriers{getenv: os.Getenv, publicURL: n.settings.PublicURL, transport: sms.NewTransport(nil), log: n.log}
	n.lanes, err = queue.NewLanes(n.engine.queue, queue.LanesConfig{
		Node: n.live.name, Intake: n.roles.api, Promises: n.roles.dispatcher, Answer: n.live.answer, Log: n.log,
	})
	n.live.lanes = n.lanes
	if err != nil {
		return err
	}
	return n.openAlerts()
}

// steering are the stages that follow the operators' words. They run while messages are
// taken in and answered.
func (n *node) steering() []stage {
	stages := []stage{
		{name: "alerts", run: n.bell.Run},
		{name: "lanes", run: n.lanes.Run, ready: n.lanes.Ready()},
		{name: "rules", run: n.live.run},
	}
	if n.live.library != nil {
		stages = append(stages, stage{name: "knowledge", run: n.live.library.run})
	}
	if n.live.shelves != nil {
		stages = append(stages, stage{name: "pgvector", run: n.live.shelves.run})
	}
	return stages
}
