package gate

import (
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestOnlyTheFirstWordAboutAnEndCounts(t *testing.T) {
	t.Parallel()
	tb := NewTable(shipped())
	crowd(t, tb, 1, 1, Ask{Lane: chat.Normal}, begin)
	id := tb.Grants(begin)[0].Permit.ID
	tb.End(id, End{Outcome: Throttled, RetryAfter: 10 * time.Second}, begin.Add(time.Second))
	tb.End(id, End{Outcome: Throttled, RetryAfter: time.Minute}, begin.Add(2*time.Second))
	if got, want := tb.accounts["a"].throttle.PausedUntil(), begin.Add(11*time.Second); !got.Equal(want) {
		t.Errorf("paused until %s, want %s", got.Sub(begin), want.Sub(begin))
	}
	// 48 × 0.7 rounded down, until clean for a while (facts/overload.md §4).
	if _, limit := tb.InUse("a", begin.Add(12*time.Second)); limit != 33 {
		t.Errorf("the limit is %d after a 429, want 33", limit)
	}
	tb.Release(id, begin.Add(3*time.Second))
	tb.End(id, End{Outcome: Throttled, RetryAfter: time.Hour}, begin.Add(4*time.Second))
	if got := tb.accounts["a"].throttle.PausedUntil(); got.After(begin.Add(11 * time.Second)) {
		t.Error("the end of a permit that is back was taken in")
	}
}

func TestAVendorThatAnOperatorShutTakesNothing(t *testing.T) {
	t.Parallel()
	tb := NewTable(shipped())
	if tb.Steer("nobody", true, begin) || !tb.Steer("a", true, begin) {
		t.Fatal("an unknown vendor was shut, or a known one not")
	}
	crowd(t, tb, 1, 3, Ask{Lane: chat.Normal}, begin)
	if got := tb.Grants(begin.Add(time.Hour)); len(got) != 0 {
		t.Fatalf("granted %v", got)
	}
	next := NewTable(shipped()) // the next controller keeps to it
	next.Restore(tb.States(begin), begin)
	if s := next.States(begin)["a"]; !s.Shut || s.State != BreakerOpen {
		t.Errorf("the next controller has it %+v", s)
	}
	tb.Steer("a", false, begin)
	if got := tb.Grants(begin); len(got) != 3 {
		t.Errorf("granted %d after it was opened again", len(got))
	}
}

// What was stored last is newer than what was heard, and has no windows: they stay.
func TestWhatLastsIsRecalledBesideTheWindows(t *testing.T) {
	t.Parallel()
	cfg := limited(map[string]int{"a": 5, "b": 5})
	for name, v := range cfg.Vendors {
		v.QPS = 1
		cfg.Vendors[name] = v
	}
	tb, now := NewTable(cfg), begin
	for _, a := range tb.accounts {
		a.calls.Take(now)
	}
	tb.Steer("b", true, now)
	tb.Recall(map[string]AccountState{"a": {Shut: true, Throttle: ThrottleSnapshot{PauseFor: time.Minute}}}, now)
	got := tb.States(now)
	if !got["a"].Shut || got["a"].Throttle.PauseFor != time.Minute || got["b"].Shut {
		t.Errorf("%+v", got)
	}
	if tb.accounts["a"].calls.Room(now) || tb.accounts["b"].calls.Room(now) {
		t.Error("a window was forgotten")
	}
}
