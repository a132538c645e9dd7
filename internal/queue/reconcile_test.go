package queue

import (
	"errors"
	"testing"
	"time"

	"sluice/internal/chat"
)

func (w *world) sweep(removed, restored int) {
	w.t.Helper()
	r, p, err := w.Sweep(w.t.Context(), time.Now())
	if err != nil || r != removed || p != restored {
		w.t.Errorf("swept: removed %d, restored %d, %v; want %d, %d", r, p, err, removed, restored)
	}
}

// lose deletes a ticket's lane message behind everybody's back.
func (w *world) lose(m chat.Ticket) {
	w.t.Helper()
	if err := w.lanes[m.Lane].DeleteMsg(w.t.Context(), m.LaneSeq); err != nil {
		w.t.Fatal(err)
	}
}

func TestSweepRemovesAnAcceptingTicketThatNoLaneHolds(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.stop(IntakeLane)
		m := message("s", "never accepted")
		if _, _, err := w.Accept(t.Context(), m, Claim{}); !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		w.stop("")
		time.Sleep(staleAccepting - time.Second)
		w.sweep(0, 0)
		w.ticket(m.ID)
		time.Sleep(time.Second)
		w.sweep(1, 0)
		w.gone(m.ID)
		w.sweep(0, 0)
	})
}

func TestSweepLeavesWhatIsHealthy(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.stop(IntakeQueued)
		accepting := w.accept(message("a", "accepted, not settled"))
		w.stop("")
		running := message("r", "running")
		running.Lane = chat.High
		w.accept(running)
		job := w.pull(chat.High)
		w.run(job)
		ended := message("e", "ended")
		ended.Lane = chat.Low
		w.accept(ended)
		w.finish(chat.Low, "yes")
		queued := message("q", "queued")
		queued.Lane = chat.Batch
		w.accept(queued)
		time.Sleep(2 * time.Minute)
		before := map[string]uint64{}
		for _, id := range []string{accepting.ID, running.ID, ended.ID, queued.ID} {
			before[id] = w.ticket(id).Rev
		}
		w.sweep(0, 0)
		for id, rev := range before {
			if got := w.ticket(id); got.Rev != rev {
				t.Errorf("%s ticket was written", got.Status)
			}
		}
		w.depth(chat.Normal, 1)
		w.depth(chat.High, 1)
		w.depth(chat.Low, 0)
		w.depth(chat.Batch, 1)
	})
}

func TestSweepRestoresALostLaneMessage(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		queued := w.accept(message("q", "queued"))
		running := w.accept(message("r", "running"))
		w.pull(chat.Normal).HandBack(time.Hour)
		w.run(w.pull(chat.Normal))
		w.lose(queued)
		w.lose(running)
		time.Sleep(staleOpen - time.Second)
		w.sweep(0, 0)
		w.depth(chat.Normal, 0)
		time.Sleep(time.Second)
		w.sweep(0, 2)
		w.depth(chat.Normal, 2)
		w.sweep(0, 0)
		for range 2 {
			w.finish(chat.Normal, "yes")
		}
		for id, attempts := range map[string]int{queued.ID: 1, running.ID: 2} {
			if got := w.ticket(id); got.Status != chat.Answered || got.Attempts != attempts {
				t.Errorf("ticket = %+v, want an answer at attempt %d", got, attempts)
			}
		}
		w.depth(chat.Normal, 0)
		w.wantSeqs("q", 0, 1, 2)
		w.wantSeqs("r", 0, 1, 2)
	})
}

func TestSweepIntoAFullLaneWaitsForThePlace(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Normal] = 1 }, func(t *testing.T, w *world) {
		lost := w.accept(message("s", "lost"))
		w.lose(lost)
		w.accept(message("other", "hello"))
		time.Sleep(staleOpen)
		w.sweep(0, 0)
		w.finish(chat.Normal, "yes")
		w.sweep(0, 1)
		w.finish(chat.Normal, "yes")
		if got := w.ticket(lost.ID); got.Status != chat.Answered {
			t.Errorf("the lost ticket is %s", got.Status)
		}
	})
}

// What somebody waits for is found within the minute.
func TestSweepSinceLooksAtTheNewestWhichSomebodyWaitsFor(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		sweep := func(back time.Duration, want int) {
			t.Helper()
			removed, restored, err := w.SweepSince(t.Context(), time.Now(), time.Now().Add(-back))
			if err != nil || removed != 0 || restored != want {
				t.Errorf("swept: removed %d, restored %d, %v; want %d restored", removed, restored, err, want)
			}
		}
		sweep(time.Hour, 0)
		old := w.accept(message("s", "old"))
		w.lose(old)
		time.Sleep(5 * time.Minute)
		sweep(3*time.Minute, 0)
		batch := message("b", "line")
		batch.Lane = chat.Batch
		w.lose(w.accept(batch))
		running := w.accept(message("s", "running"))
		w.run(w.pull(chat.Normal))
		w.lose(running)
		gone := w.accept(message("g", "removed"))
		if err := w.tickets.Purge(t.Context(), gone.ID); err != nil {
			t.Fatal(err)
		}
		sweep(3*time.Minute, 0) // too young to be taken for lost
		time.Sleep(staleOpen)
		sweep(3*time.Minute, 1)
		sweep(3*time.Minute, 0)
		w.depth(chat.Batch, 0)
		w.depth(chat.Normal, 2)
		w.sweep(0, 2)
	})
}

// A message that was stored anew has another sequence than its ticket knows.
func TestCancelOfARestoredTicketEmptiesItsLane(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		w.lose(m)
		time.Sleep(staleOpen)
		w.sweep(0, 1)
		if _, err := w.Cancel(t.Context(), m.ID, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.depth(chat.Normal, 0)
	})
}
