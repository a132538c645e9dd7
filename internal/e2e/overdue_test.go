//go:build e2e

package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"
)

// crowded starts an instance whose vendors never answer, with every permit taken and
// waiting more tickets behind them.
func crowded(t *testing.T, waiting int) *instance {
	t.Helper()
	i := start(t, setup{rules: patientRules})
	i.behave(map[string]any{"hang_share": 1})
	ask := func(k int) ticket {
		return i.ask(question{Message: fmt.Sprintf("Where is my parcel %d?", 1000+k), Lane: "normal"})
	}
	each(permits+waiting-1, 16, func(k int) { ask(k) })
	last := ask(permits + waiting)
	await(t, 10*time.Second, "all permits are taken and the others stand in the line", func() bool {
		now, err := i.ticket(last.TicketID)
		return err == nil && now.Position >= waiting && i.stats().InFlight == permits
	})
	return i
}

func TestAnOverdueTicketIsAnsweredAtItsLimitBehindFourHundred(t *testing.T) {
	i := crowded(t, 400)
	for _, lane := range []string{"low", "normal", "high"} {
		asked := i.ask(question{Message: "Where is my parcel 77, in lane " + lane + "?", Lane: lane, MaxWait: "1s"})
		if lane != "high" && asked.Position <= 400 {
			t.Errorf("lane %s: position %d, want more than 400", lane, asked.Position)
		}
		got := i.end(asked.TicketID, 10*time.Second)
		if got.Status != "answered" || got.Route != "template" || got.Reason != "overdue" || got.QueuedMS == nil {
			t.Errorf("lane %s: %+v, want the template because it was overdue", lane, got)
			continue
		}
		after, queued := got.EndedAt.Sub(got.AcceptedAt), time.Duration(*got.QueuedMS)*time.Millisecond
		t.Logf("lane %s: answered after %s, queued %s", lane, after, queued)
		for _, d := range []time.Duration{after, queued} {
			if d < time.Second || d > 1200*time.Millisecond {
				t.Errorf("lane %s: %s after acceptance, want 1.0 s to 1.2 s", lane, d)
			}
		}
		i.checkTold(got.SessionID, got)
	}
	if s := i.stats(); s.InFlight != permits || s.Refused != 0 {
		t.Errorf("vendors have %d calls in flight and refused %d, want %d and 0", s.InFlight, s.Refused, permits)
	}
}

// late is one ticket of many that are due in the same second.
type late struct {
	ticket
	wait time.Duration // its max_wait
	seen time.Time     // when a caller that waits for it had the answer
}

func (l late) due() time.Time       { return l.AcceptedAt.Add(l.wait) }
func (l late) over() time.Duration  { return l.EndedAt.Sub(l.due()) }
func (l late) after() time.Duration { return l.seen.Sub(l.due()) }

// TestFourHundredOverdueInOneSecondAreAllAnsweredInTime asserts counts and order each
// time. The lateness is a matter of the machine's load too: one of three rounds must
// keep the bound.
func TestFourHundredOverdueInOneSecondAreAllAnsweredInTime(t *testing.T) {
	const bound, rounds = 500 * time.Millisecond, 3
	for round := 1; ; round++ {
		p99 := overdueAtOnce(t)
		if t.Failed() || p99 <= bound {
			return
		}
		t.Logf("round %d: p99 of the lateness is %s, want at most %s", round, p99, bound)
		if round == rounds {
			t.Fatal("no round kept the bound")
		}
	}
}

// overdueAtOnce plays the round and returns the lateness's p99.
func overdueAtOnce(t *testing.T) time.Duration {
	t.Helper()
	const n = 400
	i := crowded(t, 0)
	all := make([]late, n)
	first := time.Now().Add(8 * time.Second) // leaves time to hand them all in
	each(n, 16, func(k int) {
		due := first.Add(time.Second * time.Duration(k) / n)
		wait := time.Until(due).Round(time.Millisecond)
		all[k] = late{wait: wait, ticket: i.ask(question{
			Message: fmt.Sprintf("When will order %d arrive?", k), Lane: []string{"high", "normal", "low"}[k%3], MaxWait: wait.String(),
		})}
	})
	if t.Failed() {
		return 0
	}
	t.Logf("handed in with %s to spare", time.Until(first))
	each(n, n, func(k int) {
		all[k].ticket = i.end(all[k].TicketID, 30*time.Second)
		all[k].seen = time.Now()
	})
	for _, l := range all {
		if l.Status != "answered" || l.Route != "template" || l.Reason != "overdue" {
			t.Fatalf("%+v, want the template because it was overdue", l.ticket)
		}
		if l.over() < 0 {
			t.Errorf("ticket %s was answered %s before its limit", l.TicketID, -l.over())
		}
	}
	each(n, 16, func(k int) { i.checkTold(all[k].SessionID, all[k].ticket) })
	checkOrder(t, all)
	p50, p99 := quantile(all, 0.50, late.over), quantile(all, 0.99, late.over)
	t.Logf("lateness: p50 %s, p99 %s, most %s; seen by callers: p50 %s, p99 %s", p50, p99, quantile(all, 1, late.over),
		quantile(all, 0.50, late.after), quantile(all, 0.99, late.after))
	return p99
}

// checkOrder asserts that those due earlier were answered earlier, by quarters of the second.
func checkOrder(t *testing.T, all []late) {
	t.Helper()
	slices.SortFunc(all, func(a, b late) int { return a.due().Compare(b.due()) })
	if span := all[len(all)-1].due().Sub(all[0].due()); span > 1100*time.Millisecond {
		t.Errorf("they were due within %s, want one second", span)
	}
	var before time.Duration
	for quarter := range slices.Chunk(all, len(all)/4) {
		var sum time.Duration
		for _, l := range quarter {
			sum += l.EndedAt.Sub(all[0].due())
		}
		mean := sum / time.Duration(len(quarter))
		if mean <= before {
			t.Errorf("a quarter of the tickets was answered at %s, one that was due before it at %s", mean, before)
		}
		before = mean
	}
}

func quantile(all []late, share float64, of func(late) time.Duration) time.Duration {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b late) int { return cmp.Compare(of(a), of(b)) })
	return of(sorted[min(int(share*float64(len(sorted))), len(sorted)-1)])
}
