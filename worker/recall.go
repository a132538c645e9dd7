package worker

import (
	"context"
	"time"

	"sluice/internal/cache"
	"sluice/internal/chat"
)

// followMargin is how long before its deadline a ticket goes its own way that waits for
// the answer to another: time enough to ask for a permit.
const followMargin = time.Second

// Recall returns the answer that was given to the same question before, where it is one of
// many. If another ticket of the cluster is being answered that asks the same, it waits for
// that answer, until a second before the ticket's own deadline. Otherwise others may wait
// for this one: Recalled.End says so. An old answer is given at once, and one receiver of
// all is told to make it anew. history reads the session, and reports whether the ticket
// may be answered now; it is not called where the message alone tells. A batch takes what
// there is and waits for nothing.
func (w *Worker) Recall(ctx context.Context, t *chat.Ticket, how chat.Effort, history func() ([]chat.Event, bool)) chat.Recalled {
	m := w.memory
	if m == nil || m.Keep() <= 0 || !Cacheable(t, nil) {
		return chat.Recalled{}
	}
	if t.Seq != 1 && t.Lane.Interactive() {
		if past, free := history(); !free || !Cacheable(t, past) {
			return chat.Recalled{}
		}
	}
	ctx, cancel := context.WithDeadline(ctx, t.Deadline.Add(-followMargin))
	defer cancel()
	var got chat.Recalled
	best := chat.Effort{Route: chat.RouteAgent}
	for _, way := range []chat.Effort{best, how} {
		if way == best && way != how {
			got = w.recall(ctx, t, way, false)
		} else if way == how && shares(how) {
			got = w.recall(ctx, t, way, t.Lane.Interactive())
		}
		if got.Answer != nil || got.End != nil {
			return got
		}
	}
	m.tally.Miss.Add(1)
	return got
}

// recall looks for the answer of one rung; works says that this ticket would make it.
func (w *Worker) recall(ctx context.Context, t *chat.Ticket, how chat.Effort, works bool) chat.Recalled {
	m := w.memory
	key, err := w.keyOf(t, how)
	if err != nil {
		return chat.Recalled{}
	}
	for ctx.Err() == nil {
		n, fresh, known := m.near.Peek(key)
		if known && fresh && (n.found || !works) {
			return m.give(ctx, key, n, t, works)
		}
		at, mine := m.begin(key)
		switch {
		case mine:
			return m.search(ctx, at, t, works)
		case known && n.found: // somebody reads it again
			return m.give(ctx, key, n, t, works)
		case !works:
			return chat.Recalled{}
		}
		select {
		case <-at.done:
			if at.own {
				return chat.Recalled{}
			}
		case <-ctx.Done():
		}
	}
	return chat.Recalled{}
}

// search looks in the cluster for the answer of a key, on behalf of all of this process.
// It is where an answer comes from that nobody works on yet: the ticket's own work.
func (m *memory) search(ctx context.Context, at *making, t *chat.Ticket, works bool) chat.Recalled {
	defer func() {
		if value := recover(); value != nil {
			m.finish(at, true) // nobody is to wait for what will not come
			panic(value)
		}
	}()
	k, found, err := m.Answers.Kept(ctx, at.key.String())
	for err == nil && !found && works {
		var end func(chat.Making)
		if end, err = m.Answers.ClaimAnswer(ctx, at.key.String()); err != nil {
			break
		}
		if end != nil {
			m.tally.Miss.Add(1)
			return chat.Recalled{End: m.lead(t.ID, at, end)}
		}
		var how chat.Making
		k, how, err = m.Answers.FollowAnswer(ctx, at.key.String())
		if found = how == chat.MakingGiven; err == nil && !found && how != chat.MakingLeft {
			m.finish(at, true)
			return chat.Recalled{}
		}
	}
	if err != nil {
		if ctx.Err() == nil {
			m.tally.Failed.Add(1) // the engine does not answer: nobody else need try
		}
		m.finish(at, ctx.Err() == nil)
		return chat.Recalled{}
	}
	n := &near{Kept: k, found: found}
	m.near.Put(at.key, n)
	m.finish(at, false)
	return m.give(ctx, at.key, n, t, works)
}

// give answers with what is at hand. Whoever meets an old answer first is to make it anew.
func (m *memory) give(ctx context.Context, key cache.Key, n *near, t *chat.Ticket, works bool) chat.Recalled {
	now := time.Now()
	if !n.found || !now.Before(n.GoneAt) {
		return chat.Recalled{}
	}
	got := chat.Recalled{Answer: &chat.Answer{Reply: n.Reply, Route: chat.RouteCache}}
	if now.Before(n.FreshUntil) && now.Before(n.MadeAt.Add(m.Keep())) { // the rules may have a shorter time by now
		m.tally.Hit.Add(1)
		return got
	}
	m.tally.Stale.Add(1)
	last := n.renewAt.Load()
	if !works || now.UnixNano()-last < int64(renewEvery) || !n.renewAt.CompareAndSwap(last, now.UnixNano()) {
		return got
	}
	at, mine := m.begin(key)
	if !mine {
		return got
	}
	end, err := m.Answers.ClaimAnswer(ctx, key.String())
	if err != nil || end == nil {
		m.finish(at, false)
		return got
	}
	got.Renew, got.End = true, m.lead(t.ID, at, end)
	return got
}

// lead makes others wait for a ticket's answer until the returned function is called.
func (m *memory) lead(ticket string, at *making, end func(chat.Making)) func(stopped bool) {
	l := &lead{making: at, end: end}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leads[ticket] = l
	return func(stopped bool) {
		m.mu.Lock()
		delete(m.leads, ticket)
		how := l.how
		m.mu.Unlock()
		switch {
		case how != "":
		case stopped:
			how = chat.MakingLeft
		default:
			how = chat.MakingFailed
			m.tally.Failed.Add(1)
		}
		l.end(how)
		m.finish(at, how == chat.MakingFailed || how == chat.MakingUnfit)
	}
}
