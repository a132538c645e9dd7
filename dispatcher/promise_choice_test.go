package dispatcher

import (
	"slices"
	"testing"
	"time"

	"sluice/internal/chat"
)

// Choices are no answer yet, so the full one is promised beside them; an answer of the FAQ
// promises nothing.
func TestChoicesPromiseTheFullAnswerToo(t *testing.T) {
	for name, choices := range map[string][]chat.Choice{"choices": {{ID: "a", Text: "A?"}, {ID: "b", Text: "B?"}}, "an answer": nil} {
		worker := newScripted()
		worker.faq, worker.choices = true, choices
		inBubble(t, setup{Limit: 1, Worker: worker, Valve: at(2), Defer: within(time.Minute)}, func(t *testing.T, w *world) {
			w.set.Valve.Force.Until = time.Now().Add(10 * time.Second)
			w.ready()
			time.Sleep(2 * time.Second) // until the level is known
			asked := w.call("s", "Where is my order 7?", 5*time.Second)
			got := w.until(asked.ID, time.Second)
			if got.Route != chat.RouteFAQ || got.Reason != chat.ReasonLevel || len(got.Reply.Choices) != len(choices) {
				t.Fatalf("%s: %+v, reply %+v", name, got, got.Reply)
			}
			if promised := got.FollowUp != "" && got.Promise != nil; promised != (choices != nil) {
				t.Fatalf("%s: promised %t by %+v", name, promised, got)
			}
			if choices == nil {
				return
			}
			follow := w.until(got.FollowUp, time.Minute)
			if follow.Route != chat.RouteAgent || follow.Parent != asked.ID {
				t.Errorf("the follow-up: %+v", follow)
			}
			again, err := w.queue.Ticket(t.Context(), asked.ID)
			if err != nil || again.Route != chat.RouteFAQ || !slices.Equal(again.Reply.Choices, choices) {
				t.Errorf("the first answer after the full one: %+v (%v)", again, err)
			}
		})
	}
}
