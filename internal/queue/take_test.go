package queue

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

func TestAdmitRestoresATicketThatIsMissing(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		if err := w.tickets.Purge(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		j := w.pull(chat.Normal)
		s, err := w.Admit(t.Context(), j)
		if err != nil || s.Status != chat.Queued || s.Seq != 1 || s.Message != "hello" || s.LaneSeq != m.LaneSeq {
			t.Fatalf("admitted %+v, %v", s, err)
		}
		if stored := w.ticket(m.ID); stored.Status != chat.Queued || stored.Rev != s.Rev {
			t.Errorf("stored %+v", stored)
		}
		w.wantSeqs("s", 0, 1)
	})
}

func TestAdmitOfAMissingTicketThatEndedRemovesItsMessage(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.KeepTicket = 5 * time.Second }, func(t *testing.T, w *world) {
		w.accept(message("s", "hello"))
		j := w.pull(chat.Normal)
		w.stop(EndLane) // the process dies before it acknowledges
		if _, err := w.End(t.Context(), j, answered(w.run(j), "yes")); !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		w.stop("")
		time.Sleep(AckWait + time.Second) // longer than the ended ticket is kept
		w.gone(j.Ticket.ID)
		if _, err := w.Admit(t.Context(), w.pull(chat.Normal)); !errors.Is(err, ErrEnded) {
			t.Errorf("err = %v, want ErrEnded", err)
		}
		w.depth(chat.Normal, 0)
		w.gone(j.Ticket.ID)
		w.wantSeqs("s", 0, 1, 2)
	})
}

func TestAdmitCompletesWhatTheIntakeLeft(t *testing.T) {
	for _, at := range []Point{IntakeEvent, IntakeQueued} {
		inBubble(t, nil, func(t *testing.T, w *world) {
			w.stop(at)
			m := w.accept(message("s", "hello"))
			w.stop("")
			if s := w.ticket(m.ID); s.Status != chat.Accepting {
				t.Fatalf("%s: stored %s", at, s.Status)
			}
			s, err := w.Admit(t.Context(), w.pull(chat.Normal))
			if err != nil || s.Status != chat.Queued || s.Seq != 1 || s.LaneSeq != 1 {
				t.Errorf("%s: admitted %+v, %v", at, s, err)
			}
			w.wantSeqs("s", 0, 1)
		})
	}
}

func TestAdmitOfAnEndedTicketRepeatsItsLastSteps(t *testing.T) {
	for _, at := range []Point{EndEvent, EndStory, EndLane} {
		inBubble(t, nil, func(t *testing.T, w *world) {
			m := w.accept(message("s", "hello"))
			j := w.pull(chat.Normal)
			s := w.run(j)
			w.stop(at)
			if _, err := w.End(t.Context(), j, answered(s, "yes")); !errors.Is(err, errStopped) {
				t.Fatal(err)
			}
			w.stop("")
			w.depth(chat.Normal, 1)
			time.Sleep(AckWait + time.Second)
			if got, err := w.Admit(t.Context(), w.pull(chat.Normal)); !errors.Is(err, ErrEnded) || errors.Is(err, errStopped) || got.Reply.Text != "yes" {
				t.Errorf("%s: admitted %+v, %v; want ErrEnded", at, got, err)
			}
			w.depth(chat.Normal, 0)
			w.wantSeqs("s", 0, 1, 2)
			if got := w.ticket(m.ID); got.Status != chat.Answered || got.Attempts != 1 {
				t.Errorf("%s: stored %+v", at, got)
			}
			if n, err := w.Unrecorded(t.Context()); n != 3 || err != nil {
				t.Errorf("%s: %d to record (%v), want two events and a story", at, n, err)
			}
		})
	}
}

func TestAStaleHolderWritesNothing(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		first := w.pull(chat.Normal)
		stale := w.run(first)
		time.Sleep(AckWait + time.Second)
		second := w.pull(chat.Normal)
		if second.Delivered != 2 {
			t.Errorf("delivered %d times", second.Delivered)
		}
		next := w.run(second)
		if next.Attempts != 2 {
			t.Errorf("attempts %d, want 2", next.Attempts)
		}
		w.wrote()
		if _, err := w.End(t.Context(), first, answered(stale, "stale")); !errors.Is(err, ErrLost) {
			t.Errorf("the stale end: %v, want ErrLost", err)
		}
		if _, err := w.Finish(t.Context(), first); !errors.Is(err, ErrLost) {
			t.Errorf("the stale finish: %v, want ErrLost", err)
		}
		if err := w.HandBack(t.Context(), first, stale); !errors.Is(err, ErrLost) {
			t.Errorf("the stale hand-back: %v, want ErrLost", err)
		}
		w.wantSeqs("s", 0, 1)
		if got := w.ticket(m.ID); got.Status != chat.Running || got.Rev != next.Rev {
			t.Errorf("stored %+v", got)
		}
		if _, err := w.End(t.Context(), second, answered(next, "right")); err != nil {
			t.Errorf("the holder's end: %v", err)
		}
		if got := w.ticket(m.ID); got.Reply == nil || got.Reply.Text != "right" {
			t.Errorf("stored %+v", got)
		}
		w.depth(chat.Normal, 0)
		w.wantSeqs("s", 0, 1, 2)
		time.Sleep(2 * AckWait)
		if jobs := w.try(chat.Normal, 1); len(jobs) > 0 {
			t.Error("an ended job comes again")
		}
	})
}

func TestTakeMeetsACancel(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		s, err := w.Admit(t.Context(), w.pull(chat.Normal))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Cancel(t.Context(), m.ID, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Take(t.Context(), s, time.Now()); !errors.Is(err, ErrLost) {
			t.Errorf("err = %v, want ErrLost", err)
		}
	})
}

func TestAHandBackCountsNoAttempt(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		for range 3 {
			j := w.pull(chat.Normal)
			s := w.run(j)
			if s.Attempts != 1 || s.StartedAt == nil || s.DecidedAt == nil {
				t.Errorf("running %+v", s)
			}
			if err := w.HandBack(t.Context(), j, s); err != nil {
				t.Fatal(err)
			}
			if got := w.ticket(m.ID); got.Status != chat.Queued || got.Attempts != 0 || got.StartedAt != nil || got.DecidedAt != nil {
				t.Errorf("handed back %+v", got)
			}
			time.Sleep(handBackAfter)
		}
		w.depth(chat.Normal, 1)
	})
}

func TestAJobComesAgainWithoutSignsOfLifeOnly(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.accept(message("s", "hello"))
		j := w.pull(chat.Normal)
		for range 20 {
			time.Sleep(Heartbeat)
			if err := j.Working(); err != nil {
				t.Fatal(err)
			}
			if jobs := w.try(chat.Normal, 1); len(jobs) > 0 {
				t.Fatal("a job that is looked after came again")
			}
		}
		silent := time.Now()
		for len(w.try(chat.Normal, 1)) == 0 {
			if time.Since(silent) > time.Minute {
				t.Fatal("an abandoned job never comes again")
			}
		}
		if after := time.Since(silent); after < AckWait-time.Second || after > AckWait+time.Second {
			t.Errorf("came again %s after the last sign of life, want %s", after, AckWait)
		}
		again := w.try(chat.Normal, 1)
		if len(again) > 0 {
			t.Error("two copies of one job")
		}
	})
}

func TestAHandBackWithADelayComesThen(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.accept(message("s", "hello"))
		w.pull(chat.Normal).HandBack(2 * time.Second)
		handed := time.Now()
		for len(w.try(chat.Normal, 1)) == 0 {
		}
		if after := time.Since(handed); after < 1950*time.Millisecond || after > 2200*time.Millisecond {
			t.Errorf("came after %s, want 2s", after)
		}
	})
}

func TestABytePileIsRemovedAndTheNextJobComes(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		for _, body := range []string{"\x00\xff garbage", "", "[]", `{"accepted_at":"yesterday"}`} {
			if _, err := w.js.Publish(t.Context(), "chat.normal.demo.s.t_x", []byte(body), jetstream.WithExpectStream("LANE_NORMAL")); err != nil {
				t.Fatal(err)
			}
		}
		m := w.accept(message("s", "hello"))
		jobs := w.try(chat.Normal, PullSize)
		if len(jobs) != 1 || jobs[0].Ticket.ID != m.ID {
			t.Errorf("%d jobs came, want the readable one", len(jobs))
		}
		w.depth(chat.Normal, 1)
	})
}

func TestAPullTakesNoMoreThanItsSize(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		for range 2 * PullSize {
			w.accept(message("s", "hello"))
		}
		if n := len(w.try(chat.Normal, 3)); n != 3 {
			t.Errorf("a pull of 3 took %d", n)
		}
		if n := len(w.try(chat.Normal, 1000)); n != PullSize {
			t.Errorf("a pull of 1000 took %d, want %d", n, PullSize)
		}
	})
}
