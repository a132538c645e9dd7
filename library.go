package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/knowledge"
	"sluice/internal/queue"
	"sluice/internal/rules"
	"sluice/worker"
)

// Pauses of the library: before a version is built again that could not be, and between
// two sweeps.
const (
	rebuildAfter = 10 * time.Second
	sweepEvery   = time.Hour
)

// library is the knowledge in force in this process: the newest published version that it
// could build an index of. It builds one at a time, in the background, and swaps it whole;
// until then, and where that fails, the former one is answered from. It is safe for
// concurrent use.
type library struct {
	queue *queue.Queue
	rules func() *rules.Rules
	stock bool // publishes the shipped documents and the rules' folder
	log   zerolog.Logger

	newer   chan struct{} // holds one token when there is a version to build
	changed chan struct{} // holds one token when the rules have changed

	now    atomic.Pointer[shelf]
	near   atomic.Pointer[nearShelf] // nil: found by words alone; of another version than now: not in force yet
	newest atomic.Pointer[queue.KnowledgeVersion]

	complete atomic.Pointer[completeVectors] // what a database of vectors is to have; nil: nothing
	unbuilt  atomic.Pointer[unbuiltVersion]
}

// shelf is a version with its index.
type shelf struct {
	rev   uint64
	index *knowledge.Index
}

// unbuiltVersion is a published version that cannot be put into force here.
type unbuiltVersion struct {
	rev uint64
	err error
	at  time.Time
}

// newLibrary begins with nothing; nothing is read before run. One process of all may
// stock it.
func newLibrary(q *queue.Queue, in *live, stock bool, log zerolog.Logger) *library {
	l := &library{
		queue: q, rules: in.rules, stock: stock, log: log.With().Str("stage", "knowledge").Logger(),
		newer: make(chan struct{}, 1), changed: make(chan struct{}, 1),
	}
	in.onChange(func(*rules.Rules) { ring(l.changed) })
	return l
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// knowledge returns what the rules in force answer from; nothing in a process without a library.
func (l *live) knowledge() worker.Knowledge {
	k := l.rules().Knowledge
	if l.library == nil || l.library.now.Load() == nil {
		return worker.Knowledge{}
	}
	in := worker.Knowledge{Index: l.library.now.Load().index, Threshold: k.Threshold, Passages: k.Passages}
	if near := l.library.near.Load(); near != nil && near.version == in.Index.Version() {
		in.Near = &near.near
	}
	return in
}

// run keeps the knowledge until ctx ends.
func (l *library) run(ctx context.Context) error {
	var work sync.WaitGroup
	work.Go(func() { l.queue.FollowKnowledge(ctx, l.look) })
	work.Go(func() { l.build(ctx) })
	work.Go(func() { l.sweep(ctx) })
	if l.stock {
		work.Go(func() { l.keepStock(ctx) })
	}
	work.Wait()
	return nil
}

// look notes the newest version, and asks for its index where there is none.
func (l *library) look(ctx context.Context) {
	v, err := l.queue.Knowledge(ctx)
	if err != nil {
		return // the next look comes soon
	}
	l.newest.Store(&v)
	if now := l.now.Load(); now != nil && now.rev == v.Rev {
		return
	}
	if u := l.unbuilt.Load(); u == nil || u.rev != v.Rev || time.Since(u.at) > rebuildAfter {
		ring(l.newer)
	}
}

// build makes the index of the newest version, one after the other, until ctx ends.
func (l *library) build(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.newer:
		}
		v := l.newest.Load()
		if now := l.now.Load(); now != nil && now.rev == v.Rev {
			continue
		}
		index, err := l.index(ctx, *v)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if u := l.unbuilt.Load(); u == nil || u.rev != v.Rev {
				l.log.Error().Err(err).Uint64("revision", v.Rev).Msg("published knowledge cannot be put into force, the former holds")
			}
			l.unbuilt.Store(&unbuiltVersion{v.Rev, err, time.Now()})
			continue
		}
		l.now.Store(&shelf{v.Rev, index})
		l.unbuilt.Store(nil)
		l.log.Info().Uint64("revision", v.Rev).Str("version", index.Version()).Int("documents", index.Documents()).
			Int("passages", index.Passages()).Msg("knowledge in force")
	}
}

// index reads a version, one text at a time, and indexes it.
func (l *library) index(ctx context.Context, v queue.KnowledgeVersion) (*knowledge.Index, error) {
	documents, err := l.queue.Documents(ctx, v)
	if err != nil {
		return nil, err
	}
	b := knowledge.NewBuilder()
	for _, one := range documents {
		text, err := l.queue.Text(ctx, one)
		if err != nil {
			return nil, err
		}
		d, err := knowledge.Read(one.Name, strings.NewReader(text))
		if err == nil {
			err = b.Add(d)
		}
		if err != nil {
			return nil, err
		}
	}
	return b.Index(), nil
}

// sweep has what no version refers to removed, until ctx ends. Of all processes one does it.
func (l *library) sweep(ctx context.Context) {
	for sleep(ctx, sweepEvery) == nil {
		mine, err := l.queue.Duty(ctx, "knowledge", sweepEvery)
		swept := 0
		if err == nil && mine {
			swept, err = l.queue.SweepKnowledge(ctx, time.Now())
		}
		switch {
		case err != nil && ctx.Err() == nil:
			l.log.Warn().Err(err).Msg("sweep of the knowledge, trying again later")
		case swept > 0:
			l.log.Info().Int("entries", swept).Msg("knowledge swept")
		}
	}
}

// check tells /readyz which version is in force, and whether it is the newest.
func (l *library) check(context.Context) (string, error) {
	now := l.now.Load()
	if u := l.unbuilt.Load(); u != nil {
		return fmt.Sprintf("revision %d cannot be put into force", u.rev), u.err
	}
	if now == nil {
		return "nothing published", nil
	}
	return fmt.Sprintf("revision %d, %d documents", now.rev, now.index.Documents()), nil
}

// Search implements api.Knowledge.
func (l *library) Search(question, language string) (hits []knowledge.Hit, threshold float64) {
	k := l.rules().Knowledge
	now := l.now.Load()
	if now == nil {
		return nil, k.Threshold
	}
	return now.index.Search(question, language, k.Passages), k.Threshold
}

// InForce implements api.Knowledge.
func (l *library) InForce() (rev uint64, version string, err error) {
	if now := l.now.Load(); now != nil {
		rev, version = now.rev, now.index.Version()
	}
	if u := l.unbuilt.Load(); u != nil {
		err = errors.Join(fmt.Errorf("revision %d", u.rev), u.err)
	}
	return rev, version, err
}
