package load

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sluice/internal/report"
)

const (
	submitTries = 3
	tryAgain    = 200 * time.Millisecond // after a broken call, doubled each time
)

// Burst sends a number of tickets within a short time and follows every one to its end.
// Then it reads every ticket and every session again: a ticket that ended twice, or whose
// end changed, is a duplicate.
//
// An error means that nothing was sent: a bad config, or nobody at the target. When ctx
// ends early, all that Burst started has ended on return and the report tells what was
// known by then, with Interrupted set; it is not OK.
func Burst(ctx context.Context, t Target, cfg BurstConfig, show report.Progress) (*Report, error) {
	b, err := Begin(ctx, t, cfg, show)
	if err != nil {
		return nil, err
	}
	found, _ := b.Wait()
	return found, nil
}

// Begin begins a burst that goes on beside what the caller does. Wait must follow.
func Begin(ctx context.Context, t Target, cfg BurstConfig, show report.Progress) (*Running, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := t.Validate(cfg.AllowRemote); err != nil {
		return nil, err
	}
	r := newRun(t, cfg.withDefaults())
	if err := r.client.reach(ctx); err != nil {
		r.client.close()
		return nil, fmt.Errorf("reach %s: %w", t.BaseURL, err)
	}
	if r.watch != nil {
		if err := r.watch.reset(ctx); err != nil {
			r.client.close()
			return nil, fmt.Errorf("reset simulator: %w", err)
		}
	}
	b := &Running{run: r, sent: make(chan struct{}), over: make(chan struct{})}
	go func() {
		defer close(b.over)
		r.play(ctx, show, b.sent)
	}()
	return b, nil
}

// Running is a burst under way.
type Running struct {
	run  *run
	sent chan struct{}
	over chan struct{}
}

// Sent is closed when every message has been handed in.
func (b *Running) Sent() <-chan struct{} { return b.sent }

// Wait returns the report once all has ended, and what became of each message, in the
// order of sending.
func (b *Running) Wait() (*Report, []Outcome) {
	<-b.over
	return b.run.report(), b.run.outcomes()
}

// play is a burst from its first message to the last check.
func (r *run) play(ctx context.Context, show report.Progress, sent chan<- struct{}) {
	defer r.client.close()
	r.startedAt = time.Now()
	leave := r.accompany(ctx, show)
	r.fire(ctx, sent)
	r.answeredAt = time.Now()
	r.verify(ctx)
	leave()
	r.interrupted = ctx.Err() != nil
}

// run is one burst on its way.
type run struct {
	name   string
	target Target
	cfg    BurstConfig
	client *client
	watch  *watch // nil without a control port
	jobs   []*job
	talks  []*talk

	open    chan *job // accepted and waiting for a collector; room for all, so sending never blocks
	left    atomic.Int64
	settled chan struct{} // closed when none is left
	counts  counts

	startedAt, sentAt, answeredAt time.Time
	interrupted                   bool
}

func newRun(t Target, cfg BurstConfig) *run {
	name := strings.ToLower(rand.Text()[:8])
	r := &run{
		name: name, target: t, cfg: cfg, client: newClient(t),
		jobs: planBurst(cfg, len(t.Keys), name),
		open: make(chan *job, cfg.Tickets), settled: make(chan struct{}),
	}
	if t.Control != "" {
		r.watch = newWatch(r.client, t.Control)
	}
	r.counts.total = cfg.Tickets
	r.left.Store(int64(cfg.Tickets))
	return r
}

// accompany starts what runs beside the burst; the returned function ends it.
func (r *run) accompany(ctx context.Context, show report.Progress) (leave func()) {
	// An interrupted run still takes its last sample.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var beside sync.WaitGroup
	if r.watch != nil {
		beside.Go(func() { r.watch.run(ctx) })
	}
	beside.Go(func() { show.Run(ctx, &r.counts) })
	return func() {
		cancel()
		beside.Wait()
	}
}

// fire submits and collects until every ticket has ended or the time is over.
func (r *run) fire(ctx context.Context, sent chan<- struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var collectors sync.WaitGroup
	for range min(polls, len(r.jobs)) {
		collectors.Go(func() { r.collect(ctx) })
	}
	each(ctx, posts, r.jobs, func(j *job) {
		if pause(ctx, time.Until(r.startedAt.Add(j.due))) {
			r.submit(ctx, j)
		}
	})
	r.sentAt = time.Now()
	close(sent)
	late := time.AfterFunc(r.cfg.Timeout, cancel)
	defer late.Stop()
	collectors.Wait()
}

// submit hands a job in. A refusal is final; a call without an answer is repeated under
// the same Idempotency-Key.
func (r *run) submit(ctx context.Context, j *job) {
	var err error
	for try := range submitTries {
		begun := time.Now()
		var got ticket
		got, err = r.client.submit(ctx, j, r.cfg.MaxWait)
		if err == nil && got.TicketID == "" {
			err = errors.New("the answer has no ticket_id")
		}
		if err == nil {
			j.state, j.ticket, j.took = accepted, got, time.Since(begun)
			r.counts.sent.Add(1)
			r.open <- j
			return
		}
		if _, final := errors.AsType[*refusal](err); final || !pause(ctx, tryAgain<<try) {
			break
		}
	}
	if ctx.Err() != nil {
		return
	}
	j.state, j.code, j.lastFail = refused, noAnswer, err.Error()
	if no, ok := errors.AsType[*refusal](err); ok {
		j.code, j.bare = no.code, no.forLoad() && no.retryAfter == 0
	}
	r.counts.sent.Add(1)
	r.counts.refused.Add(1)
	r.settle()
}
