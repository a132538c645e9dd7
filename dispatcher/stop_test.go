package dispatcher

import (
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

func TestCancelOfAWaitingJobLeavesTheLineAtOnce(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(5 * time.Second)}, func(t *testing.T, w *world) {
		l := w.ready()
		w.ask("running", chat.Normal, time.Minute)
		time.Sleep(50 * time.Millisecond)
		waiting := w.ask("waiting", chat.Normal, time.Minute)
		behind := w.ask("behind", chat.Normal, time.Minute)
		time.Sleep(50 * time.Millisecond)
		if n := l.control.Waiting(); n != 2 {
			t.Fatalf("%d wait", n)
		}
		if _, err := w.queue.Cancel(t.Context(), waiting.ID, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(60 * time.Millisecond)
		if n := l.control.Waiting(); n != 1 {
			t.Errorf("%d wait right after the cancel", n)
		}
		if place, _, ok := l.member.Standing(behind.ID); place != 1 || !ok {
			t.Errorf("the one behind stands at %d", place)
		}
		w.depth(chat.Normal, 2)
		time.Sleep(30 * time.Second)
		if got := w.read(waiting.ID); got.Status != chat.Cancelled || got.Reply != nil || got.Attempts != 0 {
			t.Errorf("%+v", got)
		}
		if n := len(w.vendor.Prompts()); n != 2 {
			t.Errorf("the vendor was asked %d times, want 2", n)
		}
		if w.held() != 0 {
			t.Errorf("%d held at rest", w.held())
		}
		w.depth(chat.Normal, 0)
	})
}

func TestCancelOfARunningJobClosesTheVendorsCall(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(20 * time.Second)}, func(t *testing.T, w *world) {
		w.ready()
		running := w.accept(ticket("s", "running", chat.Normal, time.Minute))
		next := w.accept(ticket("s", "next", chat.Normal, time.Minute))
		time.Sleep(5 * time.Second) // in the middle of its stream
		if n := w.vendor.Stats().InFlight; n != 1 {
			t.Fatalf("%d calls in flight", n)
		}
		began := time.Now()
		if _, err := w.queue.Cancel(t.Context(), running.ID, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		for w.vendor.Stats().Cancelled == 0 {
			if time.Since(began) > 200*time.Millisecond {
				t.Fatal("the vendor's call is open 200ms after the cancel")
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(200*time.Millisecond - time.Since(began))
		if w.inUse() != 1 || len(w.vendor.Prompts()) != 1 {
			t.Error("the permit is free while the vendor may still count the call")
		}
		if got := w.until(next.ID, time.Minute); got.Route != chat.RouteAgent || got.StartedAt.Sub(began) < 250*time.Millisecond {
			t.Errorf("the next turn began %s after the cancel, by %s", got.StartedAt.Sub(began), got.Route)
		}
		if got := w.read(running.ID); got.Status != chat.Cancelled || got.Reply != nil {
			t.Errorf("%+v", got)
		}
		w.depth(chat.Normal, 0)
	})
}

// lane returns all jobs that a lane gives now.
func (w *world) lane(lane chat.Lane) map[string]*queue.Job {
	w.t.Helper()
	all := map[string]*queue.Job{}
	if err := w.queue.Pull(w.t.Context(), lane, queue.PullSize, 20*time.Millisecond, func(j *queue.Job) { all[j.Ticket.ID] = j }); err != nil {
		w.t.Fatal(err)
	}
	return all
}

func TestAnOrderlyStopHandsBackWhatWaitsAndFinishesWhatRuns(t *testing.T) {
	inBubble(t, setup{Limit: 2, Behaviour: lasting(4 * time.Second), Grace: 10 * time.Second}, func(t *testing.T, w *world) {
		l := w.ready()
		running := []chat.Ticket{w.ask("one", chat.High, time.Minute), w.ask("two", chat.Normal, time.Minute)}
		time.Sleep(50 * time.Millisecond)
		var waiting []chat.Ticket
		for range 5 {
			waiting = append(waiting, w.ask("waiting", chat.Low, time.Minute))
		}
		time.Sleep(time.Second)
		l.stop()
		stopped := time.Now()
		time.Sleep(pullWait + 60*time.Millisecond)
		back := w.lane(chat.Low)
		for _, asked := range waiting {
			if back[asked.ID] == nil {
				t.Error("a job that waited was not handed back")
				continue
			}
			if got := w.read(asked.ID); got.Status != chat.Queued || got.Attempts != 0 {
				t.Errorf("handed back as %s, attempts %d", got.Status, got.Attempts)
			}
			back[asked.ID].HandBack(0)
		}
		after := w.ask("came after the stop", chat.High, time.Minute)
		<-l.stopped
		if took := time.Since(stopped); took < 2*time.Second || took > 3500*time.Millisecond {
			t.Errorf("stopped after %s, want when the running answers ended", took)
		}
		for _, asked := range running {
			if got := w.read(asked.ID); got.Route != chat.RouteAgent || got.Attempts != 1 {
				t.Errorf("what ran: %s, %s, attempt %d", got.Status, got.Route, got.Attempts)
			}
		}
		if got := w.read(after.ID); got.Status != chat.Queued {
			t.Errorf("what came after the stop is %s", got.Status)
		}
		l.end()
		w.ready()
		for _, asked := range append(waiting, after) {
			if got := w.until(asked.ID, time.Minute); got.Route != chat.RouteAgent || got.Attempts != 1 {
				t.Errorf("after the next start: %s (%s), attempt %d", got.Route, got.Reason, got.Attempts)
			}
		}
	})
}

func TestAStopHandsBackWhatStillRunsAfterGrace(t *testing.T) {
	inBubble(t, setup{Limit: 1, Behaviour: lasting(time.Minute), Grace: 3 * time.Second}, func(t *testing.T, w *world) {
		l := w.ready()
		asked := w.ask("long", chat.Normal, 10*time.Second)
		time.Sleep(7 * time.Second)
		l.stop()
		stopped := time.Now()
		<-l.stopped
		if took := time.Since(stopped); took != 3*time.Second {
			t.Errorf("stopped after %s, want Grace", took)
		}
		time.Sleep(60 * time.Millisecond)
		if n := w.vendor.Stats(); n.InFlight != 0 || n.Cancelled != 1 {
			t.Errorf("the vendor still has %d calls", n.InFlight)
		}
		got := w.read(asked.ID)
		if got.Status != chat.Queued || got.Attempts != 0 || got.StartedAt != nil || got.DecidedAt != nil {
			t.Errorf("handed back as %+v", got)
		}
		jobs := w.lane(chat.Normal)
		if jobs[asked.ID] == nil {
			t.Fatal("the job does not come at once")
		}
		jobs[asked.ID].HandBack(0)
		l.end()
		if w.inUse() != 0 {
			// The permit of a call that was cut stays a moment.
			time.Sleep(250 * time.Millisecond)
			if w.inUse() != 0 {
				t.Error("a permit is left")
			}
		}
		w.ready()
		// Its limit has passed: it gets the lesser answer and no second call.
		if got := w.until(asked.ID, time.Second); got.Reason != chat.ReasonOverdue || got.Attempts != 0 {
			t.Errorf("after the next start: %s, attempts %d", got.Reason, got.Attempts)
		}
	})
}

// Whatever a job is doing as the stop comes, it is either answered or back in its lane.
func TestAStopInAnyMomentLosesNothing(t *testing.T) {
	inBubble(t, setup{Limit: 2, Behaviour: lasting(300 * time.Millisecond), Grace: 100 * time.Millisecond}, func(t *testing.T, w *world) {
		var all []chat.Ticket
		for round := range 12 {
			w.start()
			for range 5 {
				all = append(all, w.ask("hello", chat.Lanes()[round%5], time.Minute))
			}
			time.Sleep(250*time.Millisecond + time.Duration(round)*37*time.Millisecond)
			w.life.end()
			if n := w.held(); n != 0 {
				t.Errorf("round %d: %d jobs are held after the stop", round, n)
			}
		}
		w.start()
		for _, asked := range all {
			if got := w.until(asked.ID, 2*time.Minute); got.Status != chat.Answered {
				t.Errorf("%s (%s)", got.Status, got.Reason)
			}
		}
		time.Sleep(time.Second)
		for _, lane := range chat.Lanes() {
			w.depth(lane, 0)
		}
	})
}
