package dispatcher

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/sim"
)

// A later turn of a conversation must not go by the permit of an earlier one, nor without
// any (sub2api#5451).
func TestEachTurnOfASessionTakesAPermitOfItsOwn(t *testing.T) {
	inBubble(t, setup{Limit: 2, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world) {
		w.ready()
		const sessions, turns = 5, 6
		var all sync.WaitGroup
		for i := range sessions {
			all.Go(func() {
				for turn := range turns {
					asked := w.accept(ticket(fmt.Sprint("s", i), fmt.Sprintf("Turn %d", turn), chat.Normal, time.Minute))
					if got := w.until(asked.ID, time.Minute); got.Route != chat.RouteAgent {
						t.Errorf("session %d, turn %d: %s (%s)", i, turn, got.Route, got.Reason)
					}
				}
			})
		}
		all.Wait()
		if n := w.vendor.Stats(); n.MaxInFlight != 2 || n.Calls != sessions*turns || n.Refused != 0 {
			t.Errorf("the vendor saw %+v, want 2 at once of %d", n, sessions*turns)
		}
		time.Sleep(time.Second)
		if w.inUse() != 0 {
			t.Errorf("%d permits at rest", w.inUse())
		}
	})
}

// Once a byte has reached the customer no second answer follows it: the final event
// takes its place (sub2api#991).
func TestABrokenAnswerIsNotContinuedByAnother(t *testing.T) {
	broken := map[string]sim.Behaviour{
		"broken off":      {TruncateShare: 1, FirstToken: sim.Fixed(50 * time.Millisecond), Call: sim.Fixed(2 * time.Second), ChunkTokens: 1},
		"error in stream": {StreamErrorShare: 1, FirstToken: sim.Fixed(50 * time.Millisecond), Call: sim.Fixed(2 * time.Second), ChunkTokens: 1},
	}
	for name, behaviour := range broken {
		inBubble(t, setup{Limit: 1, Behaviour: behaviour}, func(t *testing.T, w *world) {
			w.ready()
			var mu sync.Mutex
			text, attempts := "", map[int]bool{}
			stop, err := w.queue.Deltas(func(_, _ string, d chat.Delta) {
				mu.Lock()
				defer mu.Unlock()
				text += d.Text
				attempts[d.Attempt] = true
			})
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			asked := w.ask("Where is my order?", chat.Normal, time.Minute)
			got := w.until(asked.ID, time.Minute)
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			if text == "" || len(attempts) != 1 || !attempts[1] {
				t.Fatalf("%s: %q of attempts %v reached the customer", name, text, attempts)
			}
			if got.Reply.Text != "Later." || got.Reason != chat.ReasonVendorUnavailable || got.Attempts != 1 {
				t.Errorf("%s: answered %q (%s), attempt %d", name, got.Reply.Text, got.Reason, got.Attempts)
			}
			if n := w.vendor.Stats(); n.Calls != 1 {
				t.Errorf("%s: the vendor was called %d times", name, n.Calls)
			}
		})
	}
}
