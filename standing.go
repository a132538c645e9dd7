package main

import (
	"context"
	"sync"
	"time"

	"sluice/internal/alert"
	"sluice/internal/cache"
	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/metrics"
	"sluice/internal/tool"
)

// promisesEvery is how often the promises are counted at most: that reads all of them.
const promisesEvery = time.Minute

// standing tells a scrape how everything stands, as far as this process knows. What cannot
// be read now is left out.
func (n *node) standing(ctx context.Context) metrics.Standing {
	s := metrics.Standing{Lanes: n.fills(ctx)}
	if n.api != nil {
		open := n.api.Sockets()
		s.Sockets = &open
	}
	if n.line != nil {
		n.stand(&s)
	}
	q := n.engine.queue
	if dead, err := q.DeadCount(ctx); err == nil {
		s.DeadLetters = &dead
	}
	if lag, err := q.Lag(ctx, time.Now()); err == nil {
		s.RecorderLag = &lag
	}
	if all, err := n.processes(ctx); err == nil {
		s.Nodes = &all
	}
	if state, err := n.bell.State(ctx); err == nil {
		s.Alerts = map[metrics.Alert]int{}
		for _, name := range alert.Names() {
			s.Alerts[metrics.Alert{Name: string(name), Severity: string(name.Severity())}] = state.Count(name)
		}
	}
	s.Promises = n.owedNow(ctx)
	return s
}

// owedNow counts the promises, or returns what was counted within the last minute.
func (n *node) owedNow(ctx context.Context) map[chat.PromiseStatus]int {
	return n.owed.count(ctx, func(ctx context.Context) (map[chat.PromiseStatus]int, error) {
		_, counts, err := n.engine.queue.Owings(ctx, "", 0)
		if err == nil {
			counts[chat.PromiseBroken] += 0 // none is a count too: an alert goes by its rise
		}
		return counts, err
	})
}

// fills returns how full the lanes are.
func (n *node) fills(ctx context.Context) map[chat.Lane]metrics.Lane {
	all, now := map[chat.Lane]metrics.Lane{}, time.Now()
	for _, lane := range chat.Lanes() {
		f, err := n.engine.queue.Fill(ctx, lane)
		if err != nil {
			continue
		}
		l := metrics.Lane{Depth: f.Depth, Bound: f.Bound, MaxWait: n.live.rules().Lanes[lane].MaxWait}
		if !f.Oldest.IsZero() {
			l.Oldest = now.Sub(f.Oldest)
		}
		if l.Longest, err = n.longestWait(ctx, lane, now); err != nil {
			continue
		}
		all[lane] = l
	}
	return all
}

// stand tells what the line knows: vendors and tools, the level, the caches.
func (n *node) stand(s *metrics.Standing) {
	s.Vendors, s.Tools = map[string]metrics.Account{}, map[string]metrics.Account{}
	states, _ := n.line.member.VendorStates() // nobody grants now: then nothing is known of them
	for name, v := range states {
		a := metrics.Account{InUse: v.InUse, Limit: v.Limit, Breaker: breakerNumber(v.State)}
		if _, isTool := tool.Named(name); isTool { // with its prefix: a vendor may be of the same name
			s.Tools[name] = a
		} else {
			s.Vendors[name] = a
		}
	}
	level := n.level()
	s.Level = &level
	if n.fleet != nil {
		s.Endpoints = n.fleet.inFlight(n.live.rules())
	}
	if n.line.control != nil {
		s.Probes = map[string]map[string]uint64{}
		for name, p := range n.line.control.Probed() {
			s.Probes[name] = map[string]uint64{"good": p.Good, "failed": p.Failed, "lost": p.Lost}
		}
	}
	if w := n.line.worker; w != nil {
		s.Caches = map[string]map[string]uint64{"answers": results(w.Recalls()), "retrieval": results(w.Retrievals())}
	}
}

// processes returns how many processes there are that take messages in or hold permits.
func (n *node) processes(ctx context.Context) (int, error) {
	q, all := n.engine.queue, map[string]bool{}
	controller, err := q.Controller(ctx)
	if err != nil {
		return 0, err
	}
	holders, err := q.Nodes(ctx)
	if err != nil {
		return 0, err
	}
	intakes, err := q.Intakes(ctx)
	if err != nil {
		return 0, err
	}
	for _, name := range append(append(holders, intakes...), controller) {
		if name != "" {
			all[name] = true
		}
	}
	return len(all), nil
}

func results(c cache.Counts) map[string]uint64 {
	return map[string]uint64{"hit": c.Hit, "stale": c.Stale, "empty": c.Empty, "miss": c.Miss, "failed": c.Failed}
}

func breakerNumber(s gate.BreakerState) int {
	return map[gate.BreakerState]int{gate.BreakerHalfOpen: 1, gate.BreakerOpen: 2}[s]
}

// owedCount keeps the count of the promises for a while. Its zero value is ready, and it is
// safe for concurrent use.
type owedCount struct {
	mu     sync.Mutex // guards the rest, and is held while they are counted
	at     time.Time
	counts map[chat.PromiseStatus]int
}

func (o *owedCount) count(ctx context.Context, count func(context.Context) (map[chat.PromiseStatus]int, error)) map[chat.PromiseStatus]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.at) < promisesEvery {
		return o.counts
	}
	if counts, err := count(ctx); err == nil {
		o.counts, o.at = counts, time.Now()
	}
	return o.counts
}
