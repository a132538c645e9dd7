package gate

import (
	"errors"
	"testing"
	"time"

	"sluice/internal/chat"
)

// busy returns a table whose ten permits were held for 8 s each of late, and are all in
// use again since begin.
func busy(t *testing.T, cfg Config) *Table {
	t.Helper()
	cfg.Predict = true
	tb := NewTable(cfg)
	crowd(t, tb, 1, 10, Ask{Lane: chat.Normal}, begin.Add(-8*time.Second))
	for _, g := range tb.Grants(begin.Add(-8 * time.Second)) {
		tb.Release(g.Permit.ID, begin)
		tb.EndTurn(g.Ask.Tenant, g.Ask.Session, g.Ask.Ticket)
	}
	crowd(t, tb, 100, 10, Ask{Lane: chat.Normal}, begin)
	if got := len(tb.Grants(begin)); got != 10 {
		t.Fatalf("granted %d", got)
	}
	return tb
}

func asking(id uint64, lane chat.Lane, wait time.Duration) Ask {
	return Ask{ID: 10_000 + id, Ticket: "asks", Session: "asks", Lane: lane, AcceptedAt: begin, Deadline: begin.Add(wait), Vendors: []string{"a"}}
}

func TestWhoWouldWaitInVainIsToldAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ahead  int
		lane   chat.Lane // of those ahead
		ask    Ask
		reason Reason
		wait   time.Duration
	}{
		"in time":                           {11, chat.Normal, asking(1, chat.Normal, 10*time.Second), "", 0},
		"the 13th of a second's 10/8 s":     {12, chat.Normal, asking(1, chat.Normal, 10*time.Second), ReasonWait, 10400 * time.Millisecond},
		"lanes below do not count":          {100, chat.Low, asking(1, chat.Normal, 10*time.Second), "", 0},
		"lanes above do":                    {12, chat.High, asking(1, chat.Normal, 10*time.Second), ReasonWait, 10400 * time.Millisecond},
		"urgent is never predicted away":    {100, chat.High, Ask{ID: 1, Ticket: "u", Lane: chat.High, Urgent: true, AcceptedAt: begin, Deadline: begin.Add(time.Second), Vendors: []string{"a"}}, "", 0},
		"nor is a step":                     {100, chat.High, Ask{ID: 1, Ticket: "u", Lane: chat.High, Step: true, AcceptedAt: begin, Deadline: begin.Add(time.Second), Vendors: []string{"a"}}, "", 0},
		"nor who names no time":             {100, chat.High, Ask{ID: 1, Ticket: "u", Lane: chat.High, AcceptedAt: begin, Vendors: []string{"a"}}, "", 0},
		"of another vendor nothing's known": {100, chat.High, Ask{ID: 1, Ticket: "u", Lane: chat.High, AcceptedAt: begin, Deadline: begin.Add(time.Second), Vendors: []string{"x"}}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tb := busy(t, limited(map[string]int{"a": 10}))
			crowd(t, tb, 1000, c.ahead, Ask{Lane: c.lane}, begin)
			var refusal *Refusal
			err := tb.Join(c.ask, begin)
			if c.reason == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if !errors.As(err, &refusal) || refusal.Reason != c.reason || refusal.Wait != c.wait {
				t.Errorf("err = %v, want %s after %s", err, c.reason, c.wait)
			}
			if tb.Waiting() != c.ahead {
				t.Errorf("%d wait, want the %d before", tb.Waiting(), c.ahead)
			}
		})
	}
}

// A tenant's flood does not predict another tenant's message away.
func TestPredictionHeedsTheTurnsOfTenants(t *testing.T) {
	t.Parallel()
	tb := busy(t, limited(map[string]int{"a": 10}))
	crowd(t, tb, 1000, 2000, Ask{Tenant: "flood", Lane: chat.Normal}, begin)
	a := asking(1, chat.Normal, 10*time.Second)
	a.Tenant = "small"
	if err := tb.Join(a, begin); err != nil {
		t.Errorf("the other tenant is told %v", err)
	}
	a.ID, a.Ticket, a.Tenant = 10_002, "more", "flood"
	if err := tb.Join(a, begin); err == nil {
		t.Error("number 2,001 of the flood is told to wait")
	}
}

func TestASessionsNextMessageWaitsForItsFirst(t *testing.T) {
	t.Parallel()
	tb := busy(t, limited(map[string]int{"a": 10}))
	tb.setTurn(".asks", "runs")
	if err := tb.Join(asking(1, chat.Normal, 10*time.Second), begin); err != nil {
		t.Errorf("8 s behind the one that runs: %v", err)
	}
	a := asking(2, chat.Normal, 10*time.Second)
	a.Ticket, a.Seq = "third", 9
	var refusal *Refusal
	if err := tb.Join(a, begin); !errors.As(err, &refusal) || refusal.Wait != 16*time.Second {
		t.Errorf("behind two of its session: %v, want 16 s", err)
	}
}

func TestNothingIsPredictedFromTooLittle(t *testing.T) {
	t.Parallel()
	cfg := limited(map[string]int{"a": 10})
	cfg.Predict = true
	tb := NewTable(cfg)
	crowd(t, tb, 1000, 5000, Ask{Lane: chat.High}, begin)
	if err := tb.Join(asking(1, chat.Normal, time.Second), begin); err != nil {
		t.Errorf("before any call has ended: %v", err)
	}
}

func TestWhoWaitsForAVendorThatWentAwayIsTold(t *testing.T) {
	t.Parallel()
	cfg := limited(map[string]int{"a": 10})
	cfg.Vendors["b"] = Vendor{Limit: 1}
	tb := busy(t, cfg)
	for i, a := range []Ask{asking(1, chat.Normal, 10*time.Second), asking(2, chat.Normal, time.Minute), asking(3, chat.Normal, 10*time.Second), asking(4, chat.Normal, 10*time.Second)} {
		a.Ticket, a.Session = "w", string(rune('p'+i))
		switch i {
		case 2:
			a.Urgent = true
		case 3:
			a.Vendors = []string{"a", "b"}
		}
		if err := tb.Join(a, begin); err != nil {
			t.Fatal(err)
		}
	}
	if got := tb.Hopeless(begin); got != nil {
		t.Fatalf("all is well, and %v", got)
	}
	// facts/overload.md row 12 (litellm#7669): past the deadline, degrade now.
	tb.End(11, End{Outcome: Throttled, RetryAfter: 30 * time.Second}, begin)
	got := tb.Hopeless(begin)
	if len(got) != 2 || got[10_001] == nil || got[10_003] == nil || got[10_001].Reason != ReasonUnavailable || got[10_001].Wait != 30*time.Second {
		t.Errorf("told %v, want number 1 and the urgent 3 that 30 s are too long", got)
	}
	var refusal *Refusal
	if err := tb.Join(asking(9, chat.Normal, 10*time.Second), begin); !errors.As(err, &refusal) || refusal.Reason != ReasonUnavailable {
		t.Errorf("a new one is told %v", err)
	}
}

// Ten calls a second from above take half of all permits: whoever waits below takes
// twice as long as those ahead would alone.
func TestPredictionHeedsWhoComesMeanwhile(t *testing.T) {
	t.Parallel()
	tb := busy(t, limited(map[string]int{"a": 10}))
	for rank := range tb.shares {
		tb.shares[rank] = 0
	}
	tb.shares[chat.High.Rank()] = 0.5
	crowd(t, tb, 1000, 6, Ask{Lane: chat.Low}, begin)
	a := asking(1, chat.Low, 10*time.Second)
	var refusal *Refusal
	if err := tb.Join(a, begin); !errors.As(err, &refusal) || refusal.Wait != 11200*time.Millisecond {
		t.Errorf("behind 6 with half the permits gone: %v, want 11.2 s", err)
	}
	a = asking(2, chat.High, 10*time.Second)
	a.Session, a.Ticket = "high", "high"
	if err := tb.Join(a, begin); err != nil {
		t.Errorf("high is told %v for what comes to its own lane", err)
	}
}

// The permits in use are held for longer than those that came back lately.
func TestPredictionSeesCallsThatHaveBecomeSlow(t *testing.T) {
	t.Parallel()
	tb := busy(t, limited(map[string]int{"a": 10}))
	late := begin.Add(20 * time.Second)
	a := asking(1, chat.Normal, 10*time.Second)
	a.AcceptedAt, a.Deadline = late, late.Add(10*time.Second)
	crowd(t, tb, 1000, 5, Ask{Lane: chat.Normal}, late)
	if err := tb.Join(a, late); err != nil {
		t.Fatalf("before it was measured: %v", err)
	}
	tb.Leave(a.ID)
	tb.Measure(late)
	var refusal *Refusal
	if err := tb.Join(a, late); !errors.As(err, &refusal) || refusal.Wait != 12*time.Second {
		t.Errorf("6th of ten permits that are held for 20 s: %v, want 12 s", err)
	}
}
