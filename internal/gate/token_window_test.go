package gate

import (
	"math"
	"sync"
	"testing"
	"time"
)

func TestTokensAreReservedAndSettled(t *testing.T) {
	t.Parallel()
	w := NewTokenWindow(1000)
	used := func(now time.Time, want int) {
		t.Helper()
		if got := w.Used(now); got != want {
			t.Errorf("%d tokens count after %s, want %d", got, now.Sub(begin), want)
		}
	}
	w.Take(1, 600, begin)
	if w.Room(begin, 401) || !w.Room(begin, 400) {
		t.Error("room beside 600 of 1000 is not 400")
	}
	w.Settle(1, 200, at(5*time.Second)) // less
	used(at(5*time.Second), 200)
	w.Settle(1, 0, at(5*time.Second)) // a repeat
	w.Settle(1, 999, at(5*time.Second))
	w.Settle(77, 500, at(5*time.Second)) // nobody
	used(at(5*time.Second), 200)

	w.Take(2, 300, at(10*time.Second))
	w.Settle(2, 450, at(40*time.Second)) // more: the rest counts from the end on
	used(at(40*time.Second), 650)
	used(at(60*time.Second), 450) // the first left
	used(at(70*time.Second), 150) // the second's reservation left
	used(at(100*time.Second), 0)

	w.Take(3, 500, at(100*time.Second))
	w.Drop(3)
	w.Drop(3)
	w.Settle(3, 500, at(100*time.Second))
	used(at(100*time.Second), 0)

	w.Take(4, 500, at(110*time.Second)) // never settled
	used(at(170*time.Second-1), 500)
	w.Settle(4, 700, at(170*time.Second)) // it has left
	used(at(170*time.Second), 0)
	w.Take(5, -100, at(180*time.Second))
	w.Settle(5, -100, at(180*time.Second))
	used(at(180*time.Second), 0)
}

// facts/overload.md row 8: litellm#37001, #34728, #17664, #29193: an estimate larger than
// the limit refused the first call for ever.
func TestAnEstimateLargerThanTheWindowIsTheWindow(t *testing.T) {
	t.Parallel()
	w := NewTokenWindow(1000)
	for in, want := range map[int]int{-1: 0, 0: 0, 999: 999, 1000: 1000, 1024: 1000, math.MaxInt: 1000} {
		if got := w.Clamp(in); got != want {
			t.Errorf("%d tokens reserve %d, want %d", in, got, want)
		}
	}
	if !w.Room(begin, 1024) || !w.NextAt(begin, 1024).Equal(begin) {
		t.Fatal("the first call is refused")
	}
	w.Take(1, 1024, begin)
	if w.Used(begin) != 1000 || w.Room(begin, 1) {
		t.Errorf("%d of 1000 are reserved, or there is room for one more", w.Used(begin))
	}
	if got := w.NextAt(begin, 1024); !got.Equal(at(time.Minute)) {
		t.Errorf("the next one goes after %s, want 1m", got.Sub(begin))
	}
	w.SetLimit(0)
	if got := w.Clamp(1024); got != 1024 || !w.Room(begin, math.MaxInt) {
		t.Errorf("without a limit 1024 reserve %d, or there is no room", got)
	}
}

// facts/overload.md row 8: usage that a vendor reports as 0 (#34728) frees everything,
// and no number from outside makes a sum negative.
func TestMadUsageDoesNotMakeTheWindowNegative(t *testing.T) {
	t.Parallel()
	w := NewTokenWindow(1000)
	for id, used := range []int{0, -1, math.MinInt, math.MaxInt, math.MaxInt, 5} {
		w.Take(uint64(id), 100, begin)
		w.Settle(uint64(id), used, begin)
		if got := w.Used(begin); got < 0 {
			t.Fatalf("after a usage of %d the window holds %d", used, got)
		}
	}
	if got := w.Used(at(61 * time.Second)); got != 0 {
		t.Errorf("%d tokens are left after a minute, want 0", got)
	}
}

// facts/overload.md row 9: envoyproxy/ai-gateway#2394, Kuadrant/wasm-shim#372: usage was
// charged at the end only, or streams were cut. What is spent beyond the limit is at
// most what the running calls used beyond their reservations, and later calls wait.
func TestOvershootIsBoundedByTheReservations(t *testing.T) {
	t.Parallel()
	w, running := NewTokenWindow(1000), uint64(0)
	for w.Room(begin, 200) {
		running++
		w.Take(running, 200, begin)
	}
	if running != 5 {
		t.Fatalf("%d calls of 200 tokens run, want 5 of 1000", running)
	}
	for id := range running {
		w.Settle(id+1, 250, at(time.Second)) // each a fifth more than it said
	}
	if got := w.Used(at(time.Second)); got != 1250 {
		t.Errorf("%d tokens count, want 1250", got)
	}
	if w.Room(at(time.Second), 1) {
		t.Error("the next call goes although the window is overspent")
	}
	if got, want := w.NextAt(at(time.Second), 200), at(time.Minute); !got.Equal(want) {
		t.Errorf("the next call goes after %s, want 1m", got.Sub(begin))
	}
}

func TestARestoredTokenWindowGoesOn(t *testing.T) {
	t.Parallel()
	w, later := NewTokenWindow(1000), at(1000*time.Hour)
	w.Take(1, 600, begin)
	w.Take(2, 100, at(20*time.Second))
	w.Settle(2, 50, at(25*time.Second))
	shot := overWire(t, w.Snapshot(at(30*time.Second)))
	next := NewTokenWindow(1000)
	next.Take(3, 900, later) // of a window that is replaced
	next.Restore(shot, later)
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 650}, {30*time.Second - 1, 650}, {30 * time.Second, 50}, {50*time.Second - 1, 50}, {50 * time.Second, 0}} {
		if got := next.Used(later.Add(c.after)); got != c.want {
			t.Errorf("%d tokens count %s after the change, want %d", got, c.after, c.want)
		}
	}
	for range 2 { // what is done to the restored one does not change the snapshot
		next.Restore(shot, later)
		next.Settle(1, 200, later)
	}
	next.Settle(2, 999, later)
	if got := next.Used(later); got != 250 {
		t.Errorf("%d tokens count after the former calls ended, want 250", got)
	}
}

func TestAMadWindowSnapshotDoesNotLast(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]WindowSnapshot{
		"from ahead":           {{Ago: -1 << 62, Used: 500}},
		"from long ago":        {{Ago: 1 << 62, Used: 500}},
		"less than nothing":    {{Used: -500}, {Used: -500, Open: map[uint64]int{1: -500, 2: 400}}},
		"less than none open":  {{Used: 100, Open: map[uint64]int{1: -500}}},
		"more than everything": {{Used: math.MaxInt}, {Used: math.MaxInt}},
		"in the wrong order":   {{Used: 500}, {Ago: 30 * time.Second, Used: 300}},
		"ends before it began": {{Span: -time.Hour, Used: 500}},
		"lasts for ever":       {{Span: 1 << 62, Used: 500}},
		"more open than used":  {{Used: 10, Open: map[uint64]int{1: 500, 2: 500}}},
	} {
		w := NewTokenWindow(1000)
		w.Restore(s, begin)
		before := w.Used(begin)
		for id := range uint64(3) {
			w.Settle(id, 0, begin)
			w.Drop(id)
		}
		if got := w.Used(begin); got < 0 || got > before {
			t.Errorf("%s: %d tokens count, want 0 to %d", name, got, before)
		}
		w.Take(9, 1, at(59*time.Second))
		if got := w.Used(at(time.Minute)); got != 1 {
			t.Errorf("%s: %d tokens count a minute later, want 1", name, got)
		}
		w.Restore(s, begin)
		if next := w.NextAt(begin, 1000); !w.Room(next, 1000) {
			t.Errorf("%s: no room at %s, when there was to be", name, next.Sub(begin))
		}
	}
}

// facts/overload.md row 7: litellm#18730: five calls looked at once, and each saw 0 used.
func TestTwoHundredAtABarrierShareTheWindow(t *testing.T) {
	t.Parallel()
	w, calls := NewTokenWindow(10_000), NewCallWindow(50)
	var (
		mu       sync.Mutex
		admitted int
		wait     sync.WaitGroup
	)
	barrier := make(chan struct{})
	for id := range uint64(200) {
		wait.Go(func() {
			<-barrier
			mu.Lock()
			defer mu.Unlock()
			if w.Room(begin, 300) && calls.Room(begin) {
				w.Take(id, 300, begin)
				calls.Take(begin)
				admitted++
			}
		})
	}
	close(barrier)
	wait.Wait()
	if admitted != 33 || w.Used(begin) != 9900 {
		t.Errorf("%d were admitted with %d tokens, want 33 with 9900", admitted, w.Used(begin))
	}
}

// facts/overload.md row 5: litellm#39309: a request that was refused for its
// concurrency had used up its place in the minute. Here asking changes nothing.
func TestAskingChangesNoCounter(t *testing.T) {
	t.Parallel()
	calls, tokens, budget, w := NewCallWindow(1), NewTokenWindow(1000), &RetryBudget{share: 1}, newWard(BreakerConfig{})
	calls.Take(begin)
	tokens.Take(1, 900, begin)
	w.begin()
	for range 1000 {
		if calls.Room(begin) || tokens.Room(begin, 200) || budget.Room(0, 48, 0.1) || w.Allow(begin, 48, 48) {
			t.Fatal("a call is let in")
		}
		calls.NextAt(begin)
		tokens.NextAt(begin, 200)
		w.RetryAt(begin)
	}
	if got := calls.Snapshot(begin); len(got) != 1 || got[0].Used != 1 {
		t.Errorf("calls that count: %v, want one", got)
	}
	if got := tokens.Used(begin); got != 900 {
		t.Errorf("%d tokens count, want 900", got)
	}
	if budget.saved != 0 || len(w.calls) != 1 {
		t.Errorf("%d saved for retries and %d calls under way, want 0 and 1", budget.saved, len(w.calls))
	}
}

// facts/overload.md row 33: litellm#38193: what was kept for each request was never freed.
func TestLostCallsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	w, now := NewTokenWindow(0), begin
	for id := range uint64(100_000) {
		w.Take(id, 100, now)
		if id%5 > 0 {
			w.Settle(id, 50, now)
		}
		now = now.Add(10 * time.Millisecond)
	}
	open := 0
	for _, p := range w.spending.parts.parts {
		open += len(p.sum.open)
	}
	if parts := len(w.spending.parts.parts); parts > 62 || open > 62*100/5 {
		t.Errorf("%d parts and %d reservations are kept, want at most 62 and 1240", parts, open)
	}
}
