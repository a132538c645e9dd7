package queue

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
)

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
		w.wrote()
		w.strays(1) // which needs no delivery
		if p, want := w.wrote(), []Point{EndStory, EndLane, StrayErase}; !slices.Equal(p, want) {
			t.Errorf("wrote %v, want %v", p, want)
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
		w.strays(3)
		w.depth(chat.Normal, 1)
		w.finish(chat.Normal, "yes")
		w.finish(chat.Low, "yes")
	})
}

// hold says that a dispatcher holds jobs.
func (w *world) hold(jobs ...*Job) (stop func()) {
	w.t.Helper()
	stop, err := w.TellHeld(func(lane chat.Lane) []uint64 {
		seqs := []uint64{}
		for _, j := range jobs {
			if j.Ticket.Lane == lane {
				seqs = append(seqs, j.Ticket.LaneSeq)
			}
		}
		return seqs
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return stop
}

// filter lets the consumer of normal deliver one session alone, as an operator does who
// tries something. What the consumer passes over meanwhile it has delivered to nobody.
func (w *world) filter(subject string) {
	w.t.Helper()
	cfg := dispatchConfig()
	cfg.FilterSubject = subject
	if _, err := w.lanes[chat.Normal].UpdateConsumer(w.t.Context(), cfg); err != nil {
		w.t.Fatal(err)
	}
}

// beatFor gives signs of life for jobs while something else goes on.
func beatFor(jobs []*Job) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(Heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				for _, j := range jobs {
					_ = j.Working()
				}
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// answerAll answers every job that a lane gives, and returns their tickets' ids.
func (w *world) answerAll(lane chat.Lane) (ids []string) {
	w.t.Helper()
	for jobs := w.try(lane, PullSize); len(jobs) > 0; jobs = w.try(lane, PullSize) {
		for _, j := range jobs {
			if _, err := w.End(w.t.Context(), j, answered(w.run(j), "yes")); err != nil {
				w.t.Error(err)
			}
			ids = append(ids, j.Ticket.ID)
		}
	}
	return ids
}

// Messages that the consumer has passed over stay between those that are held, and after
// them: nobody has them, and nobody will.
func TestMessagesThatWerePassedOverAreMovedFromAmongThoseInHand(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		var stranded []string
		for i := range 8 {
			m := w.accept(message([]string{"a", "b"}[i%2], "hello"))
			if i%2 == 1 {
				stranded = append(stranded, m.ID)
			}
		}
		w.filter("chat.normal.demo.a.>")
		held := w.try(chat.Normal, 9)
		if len(held) != 4 {
			t.Fatalf("%d jobs are held", len(held))
		}
		for _, j := range held[:2] {
			w.run(j)
		}
		w.filter("")
		if more := w.try(chat.Normal, 9); len(more) != 0 {
			t.Fatalf("%d come by themselves", len(more))
		}
		defer w.hold(held...)()
		stop := beatFor(held)
		before := w.ticket(held[0].Ticket.ID).Rev
		w.strays(4)
		if again := w.ticket(held[0].Ticket.ID); again.Rev != before || again.Status != chat.Running {
			t.Errorf("what runs was touched: %+v", again)
		}
		if got := w.answerAll(chat.Normal); !slices.Equal(got, stranded) {
			t.Errorf("came again: %v, want %v", got, stranded)
		}
		stop()
		w.depth(chat.Normal, 4)
		w.strays(0)
	})
}

// A dispatcher that does not answer may hold what seems to be in nobody's hands.
func TestWhatASilentDispatcherMayHoldIsLeft(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		for i := range 4 {
			w.accept(message([]string{"a", "b"}[i%2], "hello"))
		}
		w.filter("chat.normal.demo.a.>")
		held := w.try(chat.Normal, 9)
		w.filter("")
		w.strays(0) // nobody answers at all
		defer w.hold(held...)()
		for _, node := range []string{"one", "two"} {
			if err := w.RegisterNode(t.Context(), node, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		stop := beatFor(held)
		w.strays(0) // one of two answers
		defer w.hold()()
		w.strays(2)
		stop()
	})
}

func TestAHealthyLaneHasNoStrays(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		for range 12 {
			w.accept(message("s", "hello"))
		}
		jobs := w.try(chat.Normal, 8)
		defer w.hold(jobs[4:]...)()
		jobs[0].HandBack(time.Minute) // waits for its time
		jobs[1].HandBack(0)           // waits for a pull
		if _, err := w.End(t.Context(), jobs[2], answered(w.run(jobs[2]), "yes")); err != nil {
			t.Fatal(err)
		}
		// The holder of jobs[3] has just died.
		stop := beatFor(jobs[4:])
		defer stop()
		w.wrote()
		for range 3 {
			w.strays(0)
		}
		if p := w.wrote(); len(p) != 0 {
			t.Errorf("wrote %v", p)
		}
		w.depth(chat.Normal, 11)
	})
}

// A lane that is full of strays takes nothing in and gives nothing out.
func TestALaneFullOfStraysIsMendedWhileItRuns(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Normal] = 20 }, func(t *testing.T, w *world) {
		var ids []string
		for range 20 {
			ids = append(ids, w.accept(message("s", "hello")).ID)
		}
		w.skip(chat.Normal, 21)
		if _, _, err := w.Accept(t.Context(), message("s", "no room"), Claim{}); !errors.Is(err, ErrFull) {
			t.Fatalf("err = %v, want ErrFull", err)
		}
		w.strays(20)
		w.depth(chat.Normal, 20)
		if got := w.answerAll(chat.Normal); !slices.Equal(got, ids) {
			t.Errorf("came again: %d, want the 20 in their order", len(got))
		}
		w.depth(chat.Normal, 0)
		w.wantSeqs("s", 0, upTo(40)...)
	})
}

// One ticket that cannot be read keeps its own message alone.
func TestAStrayThatCannotBeMendedDoesNotKeepTheOthers(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		spoilt := w.accept(message("s", "spoilt"))
		w.accept(message("o", "other"))
		w.skip(chat.Normal, 3)
		if _, err := w.tickets.PutString(t.Context(), spoilt.ID, "\xff"); err != nil {
			t.Fatal(err)
		}
		if mended, err := w.Strays(t.Context()); mended != 1 || err == nil {
			t.Errorf("mended %d, %v; want the other, and a fault", mended, err)
		}
		if got := w.finish(chat.Normal, "yes"); got.Message != "other" {
			t.Errorf("%q came", got.Message)
		}
		w.depth(chat.Normal, 1)
	})
}

// What dies in the middle of a move leaves the job twice, or its open ticket: each time
// it is answered once.
func TestAMoveThatWasCutShortLosesNothing(t *testing.T) {
	for _, full := range []bool{false, true} {
		for _, at := range []Point{StrayStore, StrayErase} {
			inBubble(t, func(c *Config, _ *ServerConfig) {
				if full {
					c.Bounds[chat.Normal] = 1
				}
			}, func(t *testing.T, w *world) {
				m := w.accept(message("s", "hello"))
				w.skip(chat.Normal, 2)
				stores := 0
				w.stopIf(func(p Point) bool {
					if p == StrayStore {
						stores++
					}
					// In a full lane the first try has no room, and the second follows the erasure.
					return p == at && (at == StrayErase || !full || stores == 2)
				})
				if _, err := w.Strays(t.Context()); !errors.Is(err, errStopped) {
					t.Fatalf("full %v, %s: %v", full, at, err)
				}
				w.stopIf(nil)
				time.Sleep(staleOpen)
				if _, _, err := w.Sweep(t.Context(), time.Now()); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Strays(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := w.finish(chat.Normal, "yes"); got.ID != m.ID || got.Attempts != 1 {
					t.Errorf("full %v, %s: answered %+v", full, at, got)
				}
				for _, j := range w.try(chat.Normal, 9) {
					if _, err := w.Admit(t.Context(), j); !errors.Is(err, ErrEnded) {
						t.Errorf("full %v, %s: the copy: %v", full, at, err)
					}
				}
				w.depth(chat.Normal, 0)
				w.wantSeqs("s", 0, 1, 2)
			})
		}
	}
}

// Somebody is quicker and takes the place that a stray left.
func TestAStrayThatLostItsPlaceGetsTheNextFreeOne(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Normal] = 1 }, func(t *testing.T, w *world) {
		stray := w.accept(message("s", "stray"))
		w.skip(chat.Normal, 2)
		erased := false
		var other chat.Ticket
		w.stopIf(func(p Point) bool {
			if erased = erased || p == StrayErase; erased && p == StrayStore && other.ID == "" {
				other = message("o", "quicker")
				w.accept(other)
			}
			return false
		})
		if moved, err := w.Strays(t.Context()); moved != 0 || !errors.Is(err, ErrFull) {
			t.Errorf("moved %d, %v; want ErrFull", moved, err)
		}
		if got := w.finish(chat.Normal, "yes"); got.ID != other.ID {
			t.Errorf("%s comes first", got.ID)
		}
		time.Sleep(staleOpen)
		w.sweep(0, 1)
		if got := w.finish(chat.Normal, "yes"); got.ID != stray.ID {
			t.Errorf("%s comes then", got.ID)
		}
		w.depth(chat.Normal, 0)
	})
}

// A stray's ticket may have been lost as well: the message is all that there is.
func TestAStrayWithoutATicketIsRestored(t *testing.T) {
	for name, bound := range map[string]int{"with room": 100, "full": 1} {
		inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Normal] = bound }, func(t *testing.T, w *world) {
			m := w.accept(message("s", "hello"))
			w.skip(chat.Normal, 2)
			if err := w.tickets.Purge(t.Context(), m.ID); err != nil {
				t.Fatal(err)
			}
			w.strays(1)
			if got := w.ticket(m.ID); got.Status != chat.Queued || got.Seq != 1 {
				t.Errorf("%s: the ticket is %+v", name, got)
			}
			w.finish(chat.Normal, "yes")
			w.depth(chat.Normal, 0)
			w.wantSeqs("s", 0, 1, 2)
		})
	}
}

func TestAConsumerThatSomebodyRemovedIsMadeAnew(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		if err := w.lanes[chat.Normal].DeleteConsumer(t.Context(), dispatchConsumer); err != nil {
			t.Fatal(err)
		}
		w.strays(0)
		if got := w.finish(chat.Normal, "yes"); got.ID != m.ID {
			t.Errorf("%s came", got.ID)
		}
	})
}
