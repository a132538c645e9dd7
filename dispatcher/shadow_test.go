package dispatcher

import (
	"testing"
	"time"

	"sluice/internal/chat"
)

// TestTheLowerRungsAreTriedInTheShadow answers by the agent, and from the knowledge unseen.
func TestTheLowerRungsAreTriedInTheShadow(t *testing.T) {
	worker := newScripted()
	worker.knows = true
	inBubble(t, setup{Limit: 1, Worker: worker, Shadow: 1}, func(t *testing.T, w *world) {
		w.ready()
		got := w.until(w.ask("Where is my order?", chat.Normal, 10*time.Second).ID, 10*time.Second)
		time.Sleep(time.Second)
		if got.Route != chat.RouteAgent || len(worker.made) != 2 || <-worker.made != (chat.Effort{Route: chat.RouteAgent}) {
			t.Errorf("by %s, %d answers were made", got.Route, len(worker.made))
		}
		if how := <-worker.made; how.Route != chat.RouteRAG || w.inUse() != 0 {
			t.Errorf("in the shadow: %+v, %d permits are held", how, w.inUse())
		}
		w.checkEnded(got)
	})
}

// TestTheShadowIsForCalmTimes has it tried neither at a level nor after a lesser answer.
func TestTheShadowIsForCalmTimes(t *testing.T) {
	for level := 1; level <= 3; level++ {
		worker := newScripted()
		worker.knows = true
		inBubble(t, setup{Limit: 1, Worker: worker, Shadow: 1}, func(t *testing.T, w *world) {
			w.set.Valve = at(level)
			w.ready()
			time.Sleep(time.Second)
			one := ticket("s", "I complain", chat.Normal, 10*time.Second)
			one.Urgent = true
			w.until(w.accept(one).ID, 10*time.Second)
			time.Sleep(time.Second)
			if len(worker.made) != 1 {
				t.Errorf("level %d: %d answers were made", level, len(worker.made))
			}
		})
	}
}

// checkEnded asserts that nothing was written to a ticket since.
func (w *world) checkEnded(before chat.Ticket) {
	w.t.Helper()
	if now := w.read(before.ID); now.Reply.Text != before.Reply.Text || now.Route != before.Route {
		w.t.Errorf("the ticket changed after its end: %+v", now)
	}
}
