package dispatcher

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/sim"
)

func TestLanesGoInTheirOrder(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world) {
		var last chat.Ticket
		for _, lane := range []chat.Lane{chat.Low, chat.Normal, chat.High, chat.Low, chat.Normal, chat.High} {
			last = w.ask(string(lane), lane, time.Minute)
		}
		w.start()
		w.until(last.ID, time.Minute)
		time.Sleep(10 * time.Second)
		if got, want := w.asked(), []string{"high", "high", "normal", "normal", "low", "low"}; !slices.Equal(got, want) {
			t.Errorf("asked %v, want %v", got, want)
		}
	})
}

// A stream of normal work that takes all there is lets an old low message pass, and no
// young one.
func TestAnOldLowMessagePasses(t *testing.T) {
	ages := map[chat.Lane]time.Duration{chat.Low: 5 * time.Second}
	inBubble(t, setup{Limit: 1, Behaviour: lasting(time.Second), Ages: ages}, func(t *testing.T, w *world) {
		w.ready()
		for n := range 3 {
			w.ask(fmt.Sprint("normal ", n), chat.Normal, time.Minute)
		}
		time.Sleep(50 * time.Millisecond)
		low := w.ask("low", chat.Low, time.Minute)
		for n := range 20 {
			w.ask(fmt.Sprint("more ", n), chat.Normal, time.Minute)
			time.Sleep(500 * time.Millisecond)
		}
		got := w.until(low.ID, 30*time.Second)
		if at := got.StartedAt.Sub(got.AcceptedAt); at < 5*time.Second || at > 6100*time.Millisecond {
			t.Errorf("low began after %s, want once it is 5s old", at)
		}
		if got.Route != chat.RouteAgent {
			t.Errorf("low was answered by %s, %s", got.Route, got.Reason)
		}
	})
}

func TestASessionRunsOneTurnAtATimeAndEachPromptHoldsTheAnswersBefore(t *testing.T) {
	inBubble(t, setup{Limit: 8, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world) {
		w.ready()
		var all []chat.Ticket
		for n, lane := range []chat.Lane{chat.Low, chat.High, chat.Normal, chat.High} {
			all = append(all, w.accept(ticket("s", fmt.Sprintf("Question %d: where is order %d?", n, 1000+n), lane, time.Minute)))
		}
		var texts []string
		var before *chat.Ticket
		for n, asked := range all {
			got := w.until(asked.ID, time.Minute)
			if before != nil && got.StartedAt.Before(*before.EndedAt) {
				t.Errorf("question %d began %s before the answer before it", n, before.EndedAt.Sub(*got.StartedAt))
			}
			before = &got
			var said []string
			for _, m := range w.vendor.Prompts()[n].Messages[1:] {
				said = append(said, m.Role+": "+m.Content)
			}
			if want := append(slices.Clone(texts), "user: "+asked.Message); !slices.Equal(said, want) {
				t.Errorf("prompt %d holds %q, want %q", n, said, want)
			}
			texts = append(texts, "user: "+asked.Message, "assistant: "+got.Reply.Text)
		}
	})
}

func TestAnUrgentMessageGoesBeforeItsOwnSession(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world) {
		w.accept(ticket("s", "plain", chat.Normal, time.Minute))
		urgent := ticket("s", "urgent", chat.High, time.Minute)
		urgent.Urgent = true
		w.accept(urgent)
		last := w.accept(ticket("s", "plain again", chat.Normal, time.Minute))
		w.start()
		w.until(last.ID, time.Minute)
		if got, want := w.asked(), []string{"urgent", "plain", "plain again"}; !slices.Equal(got, want) {
			t.Errorf("asked %v, want %v", got, want)
		}
	})
}

// The earlier message is in other hands: the later one waits for it and keeps no
// permit from anybody meanwhile.
func TestALaterMessageWaitsForAnEarlierOneWithoutAPermit(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world) {
		earlier := w.accept(ticket("s", "earlier", chat.Low, time.Minute))
		var taken *queue.Job
		if err := w.queue.Pull(t.Context(), chat.Low, 1, 50*time.Millisecond, func(j *queue.Job) { taken = j }); err != nil || taken == nil {
			t.Fatalf("pull: %v", err)
		}
		w.ready()
		later := w.accept(ticket("s", "later", chat.High, time.Minute))
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if n := w.inUse(); n != 0 {
			t.Errorf("%d permits are held by a message whose turn has not come", n)
		}
		other := w.ask("other", chat.Low, time.Minute)
		if got := w.until(other.ID, 2*time.Second); got.Route != chat.RouteAgent {
			t.Errorf("another session's message: %s", got.Route)
		}
		taken.HandBack(0)
		first, second := w.until(earlier.ID, 10*time.Second), w.until(later.ID, 10*time.Second)
		if second.StartedAt.Before(*first.EndedAt) {
			t.Error("the later message ran first")
		}
		if got, want := w.asked(), []string{"other", "earlier", "later"}; !slices.Equal(got, want) {
			t.Errorf("asked %v, want %v", got, want)
		}
	})
}

// What is answered later holds nobody up who waits now.
func TestADeferredMessageDoesNotHoldItsSessionUp(t *testing.T) {
	inBubble(t, setup{Limit: 2, Behaviour: lasting(2 * time.Second)}, func(t *testing.T, w *world) {
		w.accept(ticket("s", "later", chat.Deferred, time.Hour))
		now := w.accept(ticket("s", "now", chat.Normal, 10*time.Second))
		w.start()
		got := w.until(now.ID, 10*time.Second)
		if wait := got.StartedAt.Sub(got.AcceptedAt); got.Route != chat.RouteAgent || wait > time.Second {
			t.Errorf("answered by %s (%s) after waiting %s", got.Route, got.Reason, wait)
		}
	})
}

func TestOfLanesWhereNobodyWaitsOneJobIsHeldBesideThoseThatRun(t *testing.T) {
	for _, lane := range []chat.Lane{chat.Deferred, chat.Batch} {
		inBubble(t, setup{Limit: 3, Behaviour: lasting(2 * time.Second)}, func(t *testing.T, w *world) {
			var all []chat.Ticket
			for n := range 15 {
				all = append(all, w.accept(ticket("s", fmt.Sprint("job ", n), lane, time.Hour)))
			}
			w.ready()
			time.Sleep(time.Second) // the middle of the first calls
			for range 3 {
				time.Sleep(2 * time.Second)
				synctest.Wait()
				running, waiting := w.inUse(), w.life.control.Waiting()
				if running != 3 || waiting != 1 || w.held() != 4 {
					t.Errorf("%s: %d run, %d wait, %d held; want 3, 1, 4", lane, running, waiting, w.held())
				}
			}
			for _, asked := range all {
				if got := w.until(asked.ID, time.Minute); got.Route != chat.RouteAgent || got.Attempts != 1 {
					t.Errorf("%s: %s (%s), attempt %d", lane, got.Route, got.Reason, got.Attempts)
				}
			}
			time.Sleep(50 * time.Millisecond) // what follows the end
			w.depth(lane, 0)
		})
	}
}

func TestOverdueJobsOfABatchAreAnsweredThoughOnlyOneIsHeld(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: hanging}, func(t *testing.T, w *world) {
		w.ready()
		w.ask("holds the permit", chat.High, time.Hour)
		time.Sleep(50 * time.Millisecond)
		var last chat.Ticket
		for range 20 {
			last = w.ask("batch", chat.Batch, time.Second)
		}
		got := w.until(last.ID, 5*time.Second)
		if late := got.EndedAt.Sub(got.Deadline); got.Reason != chat.ReasonOverdue || late > 100*time.Millisecond {
			t.Errorf("%s, %s after its limit", got.Reason, late)
		}
		time.Sleep(50 * time.Millisecond) // what follows the end
		w.depth(chat.Batch, 0)
	})
}

func TestTheVendorNeverSeesMoreThanTheLimit(t *testing.T) {
	mixed := sim.Behaviour{ErrorShare: 0.1, TruncateShare: 0.1, RefuseShare: 0.1, StreamErrorShare: 0.1}
	inBubble(t, setup{Limit: 6, Behaviour: mixed}, func(t *testing.T, w *world) {
		w.ready()
		var all []chat.Ticket
		for n := range 120 {
			all = append(all, w.ask(fmt.Sprint("question ", n), chat.Lanes()[n%3], time.Minute))
			if n%7 == 0 {
				if _, err := w.queue.Cancel(t.Context(), all[n/2].ID, chat.ReasonCustomer, time.Now()); err != nil {
					t.Logf("cancel of %d: %v", n/2, err)
				}
				time.Sleep(200 * time.Millisecond)
			}
		}
		for _, asked := range all {
			w.until(asked.ID, time.Minute)
		}
		if s := w.vendor.Stats(); s.MaxInFlight != 6 || s.Refused > 0 {
			t.Errorf("the vendor saw %d at once and refused %d, want 6 and none", s.MaxInFlight, s.Refused)
		}
		time.Sleep(time.Second)
		if w.inUse() != 0 || w.held() != 0 {
			t.Errorf("%d permits, %d jobs at rest", w.inUse(), w.held())
		}
	})
}
