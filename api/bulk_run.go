package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// How many tickets one step of a bulk action has, and how many of them are worked on at a
// time; how often the actions are looked at; how long one must not have moved before another
// process goes on with it; how long one waits without a step before it fails.
const (
	bulkStep     = 32
	bulkWidth    = 8
	bulkEvery    = time.Second
	bulkStale    = 3 * time.Second
	bulkPatience = time.Hour
)

// bulks works off the bulk actions of the cluster, each in one process at a time.
type bulks struct {
	a     *API
	name  string        // of this process, among all
	woken chan struct{} // one was made here

	mu      sync.Mutex
	working map[string]bool
}

func newBulks(a *API) *bulks {
	return &bulks{a: a, name: rand.Text(), woken: make(chan struct{}, 1), working: map[string]bool{}}
}

func (b *bulks) wake() {
	select {
	case b.woken <- struct{}{}:
	default:
	}
}

// run works until ctx ends: on actions made here at once, on another process's when it has
// stopped moving.
func (b *bulks) run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	seen := map[string]sighted{}
	ticker := time.NewTicker(bulkEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		for _, action := range b.due(ctx, seen) {
			work.Go(func() {
				defer b.leave(action.ID)
				b.work(ctx, action)
			})
		}
		select {
		case <-ticker.C:
		case <-b.woken:
		case <-ctx.Done():
		}
	}
}

// sighted is when an action was first seen at a revision.
type sighted struct {
	rev uint64
	at  time.Time
}

// due returns the actions that this process is to begin with, which count as begun.
func (b *bulks) due(ctx context.Context, seen map[string]sighted) (all []queue.Bulk) {
	running, err := b.a.deps.Queue.Bulks(ctx, true)
	if err != nil {
		return nil // read again soon
	}
	now := time.Now()
	before := maps.Clone(seen)
	clear(seen)
	for _, action := range running {
		s := before[action.ID]
		if s.rev != action.Rev {
			s = sighted{action.Rev, now}
		}
		seen[action.ID] = s
		if (action.Holder == b.name || now.Sub(s.at) >= bulkStale) && b.enter(action.ID) {
			all = append(all, action)
		}
	}
	return all
}

func (b *bulks) enter(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.working[id] {
		return false
	}
	b.working[id] = true
	return true
}

func (b *bulks) leave(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.working, id)
}

// work works on an action until it has ended, another process has it, or ctx ends.
func (b *bulks) work(ctx context.Context, action queue.Bulk) {
	job := &bulkJob{a: b.a, Bulk: action, hand: map[string]chat.Ticket{}, anew: len(action.Step) > 0}
	job.Holder = b.name
	log := b.a.deps.Log.With().Str("stage", "api").Str("bulk", action.ID).Str("action", string(action.Action)).Logger()
	err := job.run(ctx)
	switch {
	case ctx.Err() != nil || errors.Is(err, queue.ErrLost):
	case err != nil:
		log.Warn().Err(err).Msg("bulk action, trying again")
	default:
		log.Info().Str("state", string(job.State)).Int("done", job.Done).Int("skipped", job.Skipped).Int("failed", job.Failed).Msg("bulk action ended")
	}
}

// bulkJob is one action in the hands of this process.
type bulkJob struct {
	queue.Bulk
	a      *API
	search *search
	hand   map[string]chat.Ticket // of the step, as they were found
	anew   bool                   // a process that died may have done some of the step
}

// run goes on until the action has ended. Each step is written before it is touched, and what
// came of it afterwards: whoever goes on after a death does it once more, and nothing twice.
func (j *bulkJob) run(ctx context.Context) error {
	for ctx.Err() == nil {
		switch {
		case j.State != queue.BulkRunning:
			return j.a.deps.Queue.ListBulkEnd(ctx, j.ID)
		case len(j.Step) > 0:
			j.do(ctx)
		case j.Stop:
			j.End(queue.BulkStopped, time.Now().UTC())
		default:
			j.next(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if j.Waits != "" && time.Since(j.Since) > bulkPatience {
			j.End(queue.BulkFailed, time.Now().UTC())
		}
		if j.State != queue.BulkRunning {
			if err := j.note(ctx); err != nil {
				return err
			}
		}
		if err := j.write(ctx); err != nil {
			return err
		}
		if j.Waits != "" {
			pauseFor(ctx, bulkEvery)
		}
	}
	return ctx.Err()
}

// write stores how far the action is. An operator's word to stop may have come between.
func (j *bulkJob) write(ctx context.Context) error {
	for {
		err := j.a.deps.Queue.SetBulk(ctx, &j.Bulk)
		if !errors.Is(err, queue.ErrLost) {
			return err
		}
		stored, other := j.a.deps.Queue.Bulk(ctx, j.ID)
		if other != nil {
			return other
		}
		if stored.Holder != j.Holder || stored.Stop == j.Stop {
			return err // another process goes on
		}
		j.Stop, j.Rev = true, stored.Rev
	}
}

// note tells the audit what came of the action.
func (j *bulkJob) note(ctx context.Context) error {
	return j.a.deps.Queue.Note(ctx, queue.Audit{
		At: time.Now().UTC(), Actor: j.Actor, Action: "bulk." + string(j.Action), Target: j.ID, Reason: j.Reason,
		After:  map[string]any{"filter": j.Filter, "matched": j.Matched},
		Result: fmt.Sprintf("%s: did %d, left %d as they were, failed with %d, of %d", j.State, j.Done, j.Skipped, j.Failed, j.Matched),
	})
}

// next puts the next tickets into the step; where there are none, the action is done.
func (j *bulkJob) next(ctx context.Context) {
	var err error
	if j.search == nil {
		j.search, err = j.a.deepSearch(ctx, j.Filter, j.Cursor)
	}
	var found []chat.Ticket
	if err == nil {
		found, err = j.search.next(ctx, bulkStep)
	}
	if err == nil && j.search.away != nil {
		err = errHistory(j.search.away)
	}
	if err != nil {
		j.search = nil
		j.wait(problemOf(err).Code)
		return
	}
	j.goOn()
	if len(found) == 0 {
		j.End(queue.BulkDone, time.Now().UTC())
		return
	}
	clear(j.hand)
	for i := range found {
		j.hand[found[i].ID] = found[i]
		j.Step = append(j.Step, found[i].ID)
	}
	j.Cursor = chat.MarkOf(&found[len(found)-1])
}

func (j *bulkJob) wait(code string) {
	if j.Waits == "" {
		j.Since = time.Now().UTC()
	}
	j.Waits = code
}

func (j *bulkJob) goOn() { j.Waits, j.Since = "", time.Time{} }

func pauseFor(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
