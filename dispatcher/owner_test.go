package dispatcher

import (
	"testing"
	"time"

	"sluice/internal/chat"
)

// TestARuleHandsOverWithoutAModel has an intent that always goes to people, then a person who
// takes the session over, a message meanwhile, and the bot again.
func TestARuleHandsOverWithoutAModel(t *testing.T) {
	set := setup{Limit: 1, HandsOff: func(t *chat.Ticket) bool { return t.Message == "a person, please" }}
	inBubble(t, set, func(t *testing.T, w *world) {
		w.ready()
		asked := w.accept(ticket("s", "a person, please", chat.Normal, 5*time.Second))
		got := w.until(asked.ID, time.Second)
		if got.Status != chat.Answered || got.Route != chat.RouteTemplate || got.Handoff == nil || got.Handoff.Cause != chat.HandoffRule {
			t.Fatalf("%s by %s, handed %+v", got.Status, got.Route, got.Handoff)
		}
		time.Sleep(time.Second)
		w.checkOwner("s", chat.OwnerQueue, 1)
		if _, err := w.queue.TakeOver(t.Context(), asked.ID, "ann", time.Now()); err != nil {
			t.Fatal(err)
		}
		calls := w.vendor.Stats().Calls
		meanwhile := w.accept(ticket("s", "are you there?", chat.Normal, 5*time.Second))
		if got := w.until(meanwhile.ID, time.Second); got.Status != chat.Cancelled || got.Reason != chat.ReasonHuman {
			t.Errorf("while a person has it: %s (%s)", got.Status, got.Reason)
		}
		if _, err := w.queue.GiveBack(t.Context(), asked.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		if n := w.vendor.Stats().Calls; n != calls {
			t.Errorf("%d calls of the vendor, want %d: nobody was to be asked", n, calls)
		}
		w.accept(ticket("s", "and now?", chat.Normal, 5*time.Second))
		time.Sleep(3 * time.Second)
		w.checkStory("s", "customer message ", "bot message template", "system owner queue", "system owner human",
			"customer message ", " status ", "system owner bot", "customer message ", "bot message agent")
		w.depth(chat.Normal, 0)
	})
}
