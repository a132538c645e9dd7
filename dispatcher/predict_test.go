package dispatcher

import (
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/chat"
)

// Ten permits of 8 s each serve 12 of a crowd within 10 s. The others are told at once,
// and not after ten seconds.
func TestWhoWouldWaitPastItsLimitIsAnsweredAtOnce(t *testing.T) {
	const limit, hold = 10, 8 * time.Second
	inBubble(t, setup{Limit: limit, Behaviour: lasting(hold), Predict: true}, func(t *testing.T, w *world) {
		w.ready()
		var first []chat.Ticket
		for range limit {
			first = append(first, w.ask("Where is my order?", chat.Normal, 10*time.Second))
		}
		for _, asked := range first { // of whom the controller learns how long a call takes
			if got := w.until(asked.ID, 10*time.Second); got.Route != chat.RouteAgent {
				t.Fatalf("%s by %s", got.Route, got.Reason)
			}
		}
		var crowd []chat.Ticket
		for range 40 {
			crowd = append(crowd, w.ask("Where is my order?", chat.Normal, 10*time.Second))
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		refused := 0
		for _, asked := range crowd {
			if got := w.read(asked.ID); got.Status.Ended() {
				refused++
				if got.Reason != chat.ReasonPredictedWait || got.Route != chat.RouteTemplate {
					t.Errorf("%s by %s", got.Route, got.Reason)
				}
				if took := got.EndedAt.Sub(got.AcceptedAt); took > 50*time.Millisecond {
					t.Errorf("told after %s", took)
				}
			}
		}
		// Jobs come to the controller in another order than they were accepted in: one that
		// comes late and stands before others has fewer ahead.
		want := len(crowd) - limit - 12
		if refused > want || refused < want-3 {
			t.Errorf("%d were told at once, want %d or a few less", refused, want)
		}
		overdue := 0
		for _, asked := range crowd {
			if got := w.until(asked.ID, 20*time.Second); got.Reason == chat.ReasonOverdue {
				overdue++
			}
		}
		// Ten begin when the first ten end; the others would have begun at 16 s.
		if want := len(crowd) - 2*limit - refused; overdue != want {
			t.Errorf("%d waited in vain, want %d", overdue, want)
		}
		time.Sleep(time.Second)
		if w.inUse() != 0 {
			t.Errorf("%d permits are left", w.inUse())
		}
	})
}

// An urgent message is never predicted away: it waits to its limit.
func TestAnUrgentMessageIsNotPredictedAway(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(8 * time.Second), Predict: true}, func(t *testing.T, w *world) {
		w.ready()
		for range 10 {
			w.until(w.ask("Where is my order?", chat.Normal, 10*time.Second).ID, 10*time.Second)
		}
		w.ask("Where is my order?", chat.High, 10*time.Second)
		w.ask("Where is my order?", chat.High, 10*time.Second)
		time.Sleep(100 * time.Millisecond) // one of them has the permit
		asked := ticket(chat.NewSessionID(), "I want to complain!", chat.High, 5*time.Second)
		asked.Urgent = true
		asked = w.accept(asked)
		got := w.until(asked.ID, 10*time.Second)
		if took := got.EndedAt.Sub(got.AcceptedAt); got.Reason != chat.ReasonOverdue || took != 5*time.Second {
			t.Errorf("%s after %s", got.Reason, took)
		}
	})
}
