package queue

import (
	"errors"
	"math"
	"testing"
	"time"

	"sluice/internal/chat"
)

// TestWhatAlertsAreJudgedBy: since when nobody takes a ticket, who is there, and what came
// after a place.
func TestWhatAlertsAreJudgedBy(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		waits := func(want time.Duration) {
			t.Helper()
			at, err := w.Untaken(t.Context(), chat.Normal)
			if err != nil || at.IsZero() != (want < 0) || want >= 0 && time.Since(at).Round(time.Second) != want {
				t.Errorf("untaken since %s (%v), want %s ago", at, err, want)
			}
		}
		take := func() {
			t.Helper()
			taken := 0
			if err := w.Pull(t.Context(), chat.Normal, 1, time.Second, func(*Job) { taken++ }); err != nil || taken != 1 {
				t.Errorf("%d taken, %v", taken, err)
			}
		}
		waits(-1)
		w.accept(message("s1", "one"))
		time.Sleep(3 * time.Second)
		w.accept(message("s2", "two"))
		waits(3 * time.Second)
		take()
		waits(0)
		take()
		waits(-1)

		here := func(want int) {
			t.Helper()
			if all, err := w.WhoIsHere(t.Context()); err != nil || len(all) != want {
				t.Errorf("%d are there, %v, want %d", len(all), err, want)
			}
		}
		for _, node := range []string{"n1", "n2"} {
			if err := w.BeHere(t.Context(), node, []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		here(2)
		if err := w.BeGone(t.Context(), "n1"); err != nil {
			t.Error(err)
		}
		here(1)
		time.Sleep(17 * time.Second)
		here(0)

		if err := w.SetAlerts(t.Context(), []byte("one"), 0); err != nil {
			t.Fatal(err)
		}
		if err := w.SetAlerts(t.Context(), []byte("two"), 0); !errors.Is(err, ErrLost) {
			t.Errorf("over what another one wrote: %v", err)
		}
		if body, rev, err := w.Alerts(t.Context()); string(body) != "one" || rev == 0 || err != nil {
			t.Errorf("%s at %d, %v", body, rev, err)
		}
		for i, status := range []chat.PromiseStatus{chat.PromiseSent, chat.PromiseBroken, chat.PromiseBroken} {
			o := Owed{ID: []string{"a", "b", "c"}[i]}
			o.Status = status
			if err := w.keepOwed(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		for place, want := range map[uint64]int{0: 2, 2: 1, 3: 0, math.MaxUint64: 0} {
			if n, upto, err := w.BrokenSince(t.Context(), place); n != want || upto != 3 || err != nil {
				t.Errorf("%d broken after %d, up to %d, %v", n, place, upto, err)
			}
		}
		if n, upto, err := w.BuriedSince(t.Context(), math.MaxUint64); n != 0 || upto != 0 || err != nil {
			t.Errorf("%d letters up to %d, %v", n, upto, err)
		}
	})
}
