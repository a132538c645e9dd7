package dispatcher

import (
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/chat"
	"sluice/internal/sim"
)

// Also the last of 300 is answered at its limit while every permit is taken by a call
// that hangs.
func TestOverdueIsAnsweredExactlyAtMaxWait(t *testing.T) {
	const limit, jobs, maxWait = 4, 300, 5 * time.Second
	inBubble(t, setup{Limit: limit, Behaviour: hanging}, func(t *testing.T, w *world) {
		w.ready()
		var all []chat.Ticket
		end := time.Now().Add(maxWait)
		for range jobs {
			asked := ticket(chat.NewSessionID(), "Where is my order?", chat.Normal, maxWait)
			asked.Deadline = end
			all = append(all, w.accept(asked))
		}
		time.Sleep(time.Until(end) - time.Millisecond)
		synctest.Wait()
		if w.held() < jobs || w.inUse() != limit {
			t.Errorf("%d held, %d permits in use before the limit", w.held(), w.inUse())
		}
		w.depth(chat.Normal, jobs)
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		overdue := 0
		var running []string
		for n, asked := range all {
			got := w.read(asked.ID)
			if got.Status == chat.Running {
				running = append(running, got.ID)
				continue
			}
			overdue++
			late := got.EndedAt.Sub(got.Deadline)
			if got.Status != chat.Answered || got.Reason != chat.ReasonOverdue || got.Route != chat.RouteTemplate || late < 0 || late >= time.Millisecond || !got.DecidedAt.Equal(*got.EndedAt) {
				t.Errorf("job %d: %s, %s, %s after its limit", n, got.Status, got.Reason, late)
			}
			if got.Reply.Text != "Later." || got.Attempts != 0 {
				t.Errorf("job %d: %+v", n, got)
			}
		}
		if overdue != jobs-limit {
			t.Errorf("%d were answered at their limit, want %d", overdue, jobs-limit)
		}
		w.depth(chat.Normal, limit)
		for _, id := range running { // the vendor's silence ends at 10 s
			if got := w.until(id, 10*time.Second); got.Reason != chat.ReasonVendorUnavailable || got.Attempts != 1 {
				t.Errorf("a hanging call ended as %+v", got)
			}
		}
		time.Sleep(50 * time.Millisecond) // what follows the end
		w.depth(chat.Normal, 0)
	})
}

// A job that reaches its dispatcher late is answered as it comes.
func TestOverdueBeforeItWasTakenIsAnsweredAtOnce(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world) {
		asked := w.ask("Where is my order?", chat.Low, 2*time.Second)
		time.Sleep(time.Minute)
		w.start()
		time.Sleep(50 * time.Millisecond)
		got := w.read(asked.ID)
		if got.Status != chat.Answered || got.Reason != chat.ReasonOverdue {
			t.Errorf("%s, %s", got.Status, got.Reason)
		}
	})
}

func TestAWaitingJobIsDeliveredOnceHoweverLongItWaits(t *testing.T) {
	stuck := sim.Behaviour{StallShare: 1}
	inBubble(t, setup{Limit: 1, Behaviour: stuck}, func(t *testing.T, w *world) {
		w.ready()
		running := w.ask("first", chat.Normal, time.Minute)
		time.Sleep(50 * time.Millisecond)
		waiting := w.ask("second", chat.Low, 14*time.Second)
		if got := w.until(waiting.ID, 15*time.Second); got.Attempts != 0 || got.Reason != chat.ReasonOverdue {
			t.Errorf("the waiting one: %+v", got)
		}
		if got := w.until(running.ID, time.Minute); got.Attempts != 1 || got.Reason != chat.ReasonVendorUnavailable {
			t.Errorf("the running one: attempts %d, %s", got.Attempts, got.Reason)
		}
		if n := len(w.vendor.Prompts()); n != 1 {
			t.Errorf("the vendor was asked %d times", n)
		}
	})
}
