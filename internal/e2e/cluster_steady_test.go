//go:build cluster

package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestTwoOfEachUnderSteadyLoad: nothing lost, nothing doubled, and the vendors' own
// counts never above what may be in flight, with the permits shared by two processes.
func TestTwoOfEachUnderSteadyLoad(t *testing.T) {
	const n = 1000
	c := startCluster(t)
	p := c.start("api", "api", "dispatcher", "dispatcher")
	p[0].behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "800ms"}})
	crowd := newCrowd(t, "steady", n/3, p[0], p[1])
	begun := time.Now()
	all := crowd.ask(n, 10*time.Millisecond)
	t.Logf("%d tickets in %s", n, time.Since(begun).Round(time.Millisecond))
	crowd.check(all)
	c.within(p[0], limits())
	if s := p[0].stats(); s.Refused != 0 || s.Cancelled != 0 || s.Calls != n {
		t.Errorf("the vendors saw %+v, want %d calls, none refused or cancelled", s, n)
	}
	for _, i := range p {
		i.stop()
	}
}

// TestBetterLanesGoFirstOnTheWholeCluster: with all permits taken by low and more of it
// waiting, what comes to high at any node is served before any further low.
func TestBetterLanesGoFirstOnTheWholeCluster(t *testing.T) {
	c := startCluster(t)
	p := c.start("api", "api", "dispatcher", "dispatcher")
	p[0].behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "6s"}})
	low := make([]ticket, 2*permits)
	each(len(low), 16, func(k int) {
		low[k] = p[k%2].ask(question{Message: fmt.Sprintf("Where is my parcel %d?", k), Lane: "low"})
	})
	await(t, 20*time.Second, "all permits are taken", func() bool { return p[0].stats().InFlight == permits })
	high := make([]ticket, permits/2)
	each(len(high), 16, func(k int) {
		high[k] = p[k%2].ask(question{Message: fmt.Sprintf("Where is my letter %d?", k), Lane: "high"})
	})
	accepted := time.Now().UTC()
	each(len(high), 32, func(k int) { high[k] = p[k%2].end(high[k].TicketID, time.Minute) })
	each(len(low), 32, func(k int) { low[k] = p[k%2].end(low[k].TicketID, time.Minute) })
	var last time.Time
	for _, h := range high {
		if h.StartedAt != nil && h.StartedAt.After(last) {
			last = *h.StartedAt
		}
	}
	var after []time.Time
	for _, l := range low {
		if l.StartedAt != nil && l.StartedAt.After(accepted) {
			after = append(after, *l.StartedAt)
		}
	}
	slices.SortFunc(after, time.Time.Compare)
	if len(after) < permits/2 {
		t.Fatalf("only %d of low began after high was there: this proves nothing", len(after))
	}
	if early := last.Sub(after[0]); early > 50*time.Millisecond {
		t.Errorf("a ticket of low began %s before the last of high", early)
	}
	c.within(p[0], limits())
}

// TestTheFourHundredthOverdueIsAnsweredInTime: with every permit taken, 400 tickets pass
// their limit within a second, and the lesser answer is there in time.
func TestTheFourHundredthOverdueIsAnsweredInTime(t *testing.T) {
	const n, wait = 400, 15 * time.Second
	c := startCluster(t)
	p := c.start("api", "api", "dispatcher", "dispatcher")
	p[0].behave(map[string]any{"call": map[string]any{"kind": "fixed", "mean": "40s"}})
	each(permits, 16, func(k int) {
		p[k%2].ask(question{Message: fmt.Sprintf("Where is my parcel %d?", k)})
	})
	await(t, 20*time.Second, "all permits are taken", func() bool { return p[0].stats().InFlight == permits })
	// All become due at one moment, however long it takes to hand them in.
	begun := time.Now()
	due := begun.Add(wait)
	asked := make([]ticket, n)
	each(n, 16, func(k int) {
		left := time.Until(due).Round(time.Millisecond)
		asked[k] = p[k%2].ask(question{Message: fmt.Sprintf("Where is my letter %d?", k), MaxWait: left.String()})
	})
	t.Logf("%d accepted within %s", n, time.Since(begun).Round(time.Millisecond))
	late := make([]int64, n)
	each(n, n, func(k int) {
		got := p[k%2].end(asked[k].TicketID, time.Minute)
		late[k] = time.Since(due).Milliseconds()
		if got.Reason != "overdue" || got.EndedAt == nil || got.EndedAt.Before(due.Add(-50*time.Millisecond)) {
			t.Errorf("%+v, want the overdue answer at %s", got, due)
		}
	})
	slices.Sort(late)
	t.Logf("the callers had them p50 %d, p99 %d, max %d ms late", at(late, 0.5), at(late, 0.99), at(late, 1))
	if at(late, 0.99) > 2000 {
		t.Errorf("p99 is %d ms late, want at most 2,000", at(late, 0.99))
	}
}
