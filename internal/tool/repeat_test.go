package tool

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// keeping returns a world whose results serve repeats for a while.
func keeping(t *testing.T, keep time.Duration, serve http.HandlerFunc) *world {
	t.Helper()
	w := newWorld(t, look(), serve)
	w.set.keep = keep
	return w
}

func TestARepeatedCallOfAnAnswerIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	arrived, leave := make(chan struct{}, 9), make(chan struct{})
	w := keeping(t, time.Hour, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		arrived <- struct{}{}
		<-leave
		answer(w, 200, `{"state":"shipped"}`)
	})
	r := w.set.Begin(of("c1"), nil)
	var round sync.WaitGroup
	for _, arguments := range []string{`{"order":"MH1","note":"a"}`, `{"note":"a", "order":"MH1"}`} { // side by side
		round.Go(func() {
			if got := r.Call(w.ctx, "look", arguments); got != `{"state":"shipped"}` {
				t.Errorf("observed %s", got)
			}
		})
	}
	<-arrived
	close(leave)
	round.Wait()
	if calls.Load() != 1 {
		t.Errorf("%d calls for one question", calls.Load())
	}
	r.Call(w.ctx, "look", `{"order":"MH2"}`)
	w.set.Begin(of("c1"), nil).Call(w.ctx, "look", `{"order":"MH2"}`)
	w.set.Begin(of("c2"), nil).Call(w.ctx, "look", `{"order":"MH2"}`)
	if calls.Load() != 4 {
		t.Errorf("%d calls, want one for each order, answer and customer", calls.Load())
	}
}

func TestACallIsMadeAgainWhereTheFirstWasNotAnsweredOrIsOld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keep   time.Duration
		status int
	}{
		"not answered": {time.Hour, 500}, "old": {time.Nanosecond, 200}, "never kept": {0, 200},
	} {
		var calls atomic.Int32
		w := keeping(t, c.keep, func(w http.ResponseWriter, _ *http.Request) { calls.Add(1); answer(w, c.status, `{}`) })
		r := w.set.Begin(of("c1"), nil)
		for range 3 {
			r.Call(w.ctx, "look", `{"order":"MH1"}`)
		}
		if got := r.Call(w.ctx, "look", `{"order":"MH1"}`); calls.Load() != 3 || !strings.Contains(got, "often enough") {
			t.Errorf("%s: %d calls, then %s", name, calls.Load(), got)
		}
	}
}

func TestAVersionNamesWhatAModelIsOffered(t *testing.T) {
	t.Parallel()
	of := func(change func(*Tool)) string {
		tool := look()
		if change != nil {
			change(&tool)
		}
		return newWorld(t, tool, nil).set.Version()
	}
	first := of(nil)
	if first == "" || of(nil) != first || of(func(t *Tool) { t.Key, t.Timeout = "other", time.Minute }) != first {
		t.Error("the same tools have several versions")
	}
	if of(func(t *Tool) { t.Name = "see" }) == first || of(func(t *Tool) { t.Identity = !t.Identity }) == first ||
		of(func(t *Tool) { t.Description = map[string]string{"en": "Looks."} }) == first {
		t.Error("other tools have the same version")
	}
}
