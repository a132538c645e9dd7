package queue

import (
	"errors"
	"strconv"
	"strings"
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

// skip moves a lane's consumer past what is stored, as a lost consumer state can.
func (w *world) skip(lane chat.Lane, to uint64) {
	w.t.Helper()
	got := w.asked("$JS.API.CONSUMER.RESET."+laneStream(lane)+"."+dispatchConsumer, `{"seq":`+strconv.FormatUint(to, 10)+`}`)
	if strings.Contains(got, `"error"`) {
		w.t.Fatalf("reset: %s", got)
	}
}

func (w *world) strays(want int) {
	w.t.Helper()
	if moved, err := w.Strays(w.t.Context()); err != nil || moved != want {
		w.t.Errorf("strays = %d, %v; want %d", moved, err, want)
	}
}

func TestStraysAreDeliveredAgainAndTheOthersLeft(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.strays(0)
		var ids []string
		for range 5 {
			ids = append(ids, w.accept(message("s", "hello")).ID)
		}
		w.strays(0)
		w.skip(chat.Normal, 4) // 1 to 3 are never delivered
		if jobs := w.try(chat.Normal, 9); len(jobs) != 2 {
			t.Fatalf("%d jobs come, want the 2 past the floor", len(jobs))
		}
		w.strays(3)
		w.strays(0)
		w.depth(chat.Normal, 5)
		got := map[string]bool{}
		for _, j := range w.try(chat.Normal, 9) {
			got[j.Ticket.ID] = true
			if _, err := w.End(t.Context(), j, answered(w.run(j), "yes")); err != nil {
				t.Error(err)
			}
		}
		if len(got) != 3 || !got[ids[0]] || !got[ids[1]] || !got[ids[2]] {
			t.Errorf("came again: %v, want the first three", got)
		}
		w.depth(chat.Normal, 2)
	})
}

func TestAStrayThatEndedMeetsItsEnd(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.accept(message("s", "hello"))
		j := w.pull(chat.Normal)
		w.stop(EndLane)
		if _, err := w.End(t.Context(), j, answered(w.run(j), "yes")); !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		w.stop("")
		w.skip(chat.Normal, 2)
		w.strays(1)
		if _, err := w.Admit(t.Context(), w.pull(chat.Normal)); !errors.Is(err, ErrEnded) {
			t.Errorf("err = %v, want ErrEnded", err)
		}
		w.depth(chat.Normal, 0)
		w.wantSeqs("s", 0, 1, 2)
	})
}

// One stray that nobody can read must not keep the others, of its lane and of the
// lanes after it.
func TestAGarbageStrayIsRemovedAndTheOthersMoved(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		if _, err := w.js.Publish(t.Context(), "chat.normal.demo.s.t_x", []byte("\xff")); err != nil {
			t.Fatal(err)
		}
		w.accept(message("s", "hello"))
		low := message("l", "hello")
		low.Lane = chat.Low
		w.accept(low)
		w.skip(chat.Normal, 3)
		w.skip(chat.Low, 2)
		w.strays(2)
		w.depth(chat.Normal, 1)
		w.finish(chat.Normal, "yes")
		w.finish(chat.Low, "yes")
	})
}

// A full lane has no room for the second copy that a move needs.
func TestAStrayInAFullLaneIsMovedWhenThereIsRoom(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Normal] = 2 }, func(t *testing.T, w *world) {
		stray := w.accept(message("s", "stray"))
		other := w.accept(message("o", "other"))
		low := message("l", "hello")
		low.Lane = chat.Low
		w.accept(low)
		w.skip(chat.Normal, 2)
		w.skip(chat.Low, 2)
		moved, err := w.Strays(t.Context())
		if !errors.Is(err, ErrFull) || moved != 1 {
			t.Errorf("moved %d, %v; want the other lane's, and ErrFull", moved, err)
		}
		w.finish(chat.Low, "yes")
		if got := w.finish(chat.Normal, "yes"); got.ID != other.ID {
			t.Error("the stray was delivered")
		}
		w.strays(1)
		if got := w.finish(chat.Normal, "yes"); got.ID != stray.ID {
			t.Error("another ticket than the stray came")
		}
		w.depth(chat.Normal, 0)
	})
}
