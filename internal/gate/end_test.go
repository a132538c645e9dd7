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
