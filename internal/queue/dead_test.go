package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
)

// die ends the one job of a lane as one that we could not answer.
func (w *world) die(lane chat.Lane) (chat.Ticket, error) {
	w.t.Helper()
	j := w.pull(lane)
	s := w.run(j)
	s.Fail("the chain panicked", time.Now())
	s.Dead = true
	s.Ticket.Answer(chat.Answer{Reply: chat.Reply{Text: "Later."}, Route: chat.RouteTemplate, Reason: chat.ReasonError}, time.Now())
	_, err := w.End(w.t.Context(), j, s)
	return s.Ticket, err
}

// dead makes a dead letter of a new message.
func (w *world) dead(session string) chat.Ticket {
	w.t.Helper()
	w.accept(message(session, "hello"))
	t, err := w.die(chat.Normal)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

func (w *world) letters(want ...string) {
	w.t.Helper()
	all, err := w.DeadLetters(w.t.Context(), 0, maxDead)
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []string
	for _, l := range all {
		ids = append(ids, l.ID)
	}
	n, err := w.DeadCount(w.t.Context())
	if err != nil || n != len(want) || !slices.Equal(ids, want) {
		w.t.Errorf("letters %v, count %d (%v), want %v", ids, n, err, want)
	}
}

func TestADeadLetterTellsTheWholeStory(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		w.run(w.pull(chat.Normal)) // its holder dies
		time.Sleep(AckWait + time.Second)
		w.wrote()
		ended, err := w.die(chat.Normal)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := w.wrote(), []Point{BackTicket, TakeTicket, EndTicket, EndEvent, EndDead, EndStory, EndLane}; !slices.Equal(got, want) {
			t.Errorf("wrote %v, want %v", got, want)
		}
		l, err := w.DeadLetter(t.Context(), m.ID)
		if err != nil {
			t.Fatal(err)
		}
		if l.ID != m.ID || l.Tenant != "demo" || l.Session != "s" || l.Lane != chat.Normal || l.Attempts != 2 ||
			l.Reason != chat.ReasonError || !l.At.Equal(*ended.EndedAt) || l.Ticket.Reply.Text != "Later." || l.Ticket.Message != "hello" {
			t.Errorf("letter %+v", l)
		}
		var story []string
		for _, s := range l.Story {
			story = append(story, strings.TrimSpace(fmt.Sprintf("%s %d %s", s.What, s.Attempt, s.Why)))
		}
		want := []string{
			"accepted 0", "taken 1", "failed 1 its holder died or left it", "taken 2", "failed 2 the chain panicked", "answered 0 error",
		}
		if !slices.Equal(story, want) {
			t.Errorf("story %q, want %q", story, want)
		}
		w.letters(m.ID)
		w.depth(chat.Normal, 0)
		w.wantSeqs("s", 0, 1, 2)
	})
}

func TestAnEndThatDiedAtItsLetterIsCompletedOnce(t *testing.T) {
	for _, at := range []Point{EndDead, EndStory, EndLane} {
		inBubble(t, nil, func(t *testing.T, w *world) {
			m := w.accept(message("s", "hello"))
			w.stop(at)
			if _, err := w.die(chat.Normal); !errors.Is(err, errStopped) {
				t.Fatal(err)
			}
			w.stop("")
			time.Sleep(AckWait + time.Second)
			if _, err := w.Admit(t.Context(), w.pull(chat.Normal)); !errors.Is(err, ErrEnded) {
				t.Errorf("%s: %v, want ErrEnded", at, err)
			}
			w.letters(m.ID)
			w.depth(chat.Normal, 0)
			w.wantSeqs("s", 0, 1, 2)
		})
	}
}

// An operator may be quicker than the redelivery that completes the end.
func TestADeletedLetterDoesNotComeBack(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		w.stop(EndLane)
		if _, err := w.die(chat.Normal); !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		w.stop("")
		if err := w.DeleteDead(t.Context(), m.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(AckWait + time.Second)
		if _, err := w.Admit(t.Context(), w.pull(chat.Normal)); !errors.Is(err, ErrEnded) {
			t.Errorf("%v, want ErrEnded", err)
		}
		w.letters()
		if err := w.DeleteDead(t.Context(), m.ID); !errors.Is(err, ErrNotFound) {
			t.Errorf("deleted twice: %v", err)
		}
	})
}

func TestLettersComeNewestFirstInPages(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.letters()
		var ids []string
		for range 7 {
			ids = append([]string{w.dead("s").ID}, ids...)
		}
		for _, gone := range []int{5, 2, 0} { // the newest too
			if err := w.DeleteDead(t.Context(), ids[gone]); err != nil {
				t.Fatal(err)
			}
			ids = slices.Delete(ids, gone, gone+1)
		}
		w.letters(ids...)
		var got []string
		before := uint64(0)
		for page := range 3 {
			letters, err := w.DeadLetters(t.Context(), before, 2)
			if err != nil || len(letters) != []int{2, 2, 0}[page] {
				t.Fatalf("page %d: %d letters, %v", page, len(letters), err)
			}
			for _, l := range letters {
				got, before = append(got, l.ID), l.Seq
			}
		}
		if !slices.Equal(got, ids) {
			t.Errorf("pages hold %v, want %v", got, ids)
		}
		if none, err := w.DeadLetters(t.Context(), 1, 9); err != nil || len(none) != 0 {
			t.Errorf("before the first: %v, %v", none, err)
		}
		if _, err := w.DeadLetter(t.Context(), chat.NewTicketID()); !errors.Is(err, ErrNotFound) {
			t.Errorf("unknown: %v", err)
		}
	})
}

func TestOfTooManyLettersTheOldestGo(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		cfg := w.Queue.dead.CachedInfo().Config
		if cfg.MaxMsgs != maxDead || cfg.MaxAge != keepDead {
			t.Errorf("the store keeps %d letters for %s", cfg.MaxMsgs, cfg.MaxAge)
		}
		cfg.MaxMsgs = 3
		if _, err := w.js.UpdateStream(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for range 5 {
			ids = append([]string{w.dead("s").ID}, ids...)
		}
		w.letters(ids[:3]...)
	})
}

func TestARequeuedLetterIsANewTicket(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		old := w.dead("s")
		time.Sleep(time.Minute)
		w.wrote()
		got, dup, err := w.RequeueDead(t.Context(), old.ID, time.Now())
		if err != nil || dup || got.RetryOf != old.ID || got.ID == old.ID || !chat.IsTicketID(got.ID) || got.Status != chat.Queued || got.Seq != 3 {
			t.Fatalf("requeued %+v, dup %v, %v", got, dup, err)
		}
		if p, want := w.wrote(), []Point{IntakeTicket, IntakeLane, IntakeEvent, IntakeQueued, RequeueLetter}; !slices.Equal(p, want) {
			t.Errorf("wrote %v, want %v", p, want)
		}
		if wait := time.Until(got.Deadline); wait != 10*time.Second {
			t.Errorf("may wait %s, want as long as the first time", wait)
		}
		w.letters()
		again, dup, err := w.RequeueDead(t.Context(), old.ID, time.Now())
		if err != nil || !dup || again.ID != got.ID {
			t.Errorf("again: %+v, dup %v, %v; want the same ticket", again, dup, err)
		}
		w.depth(chat.Normal, 1)
		if done := w.finish(chat.Normal, "yes"); done.ID != got.ID || done.RetryOf != old.ID || done.Attempts != 1 || done.Dead {
			t.Errorf("answered %+v", done)
		}
		w.wantSeqs("s", 0, 1, 2, 3, 4)
		if _, _, err := w.RequeueDead(t.Context(), chat.NewTicketID(), time.Now()); !errors.Is(err, ErrNotFound) {
			t.Errorf("unknown: %v, want ErrNotFound", err)
		}
	})
}

func TestARequeuedTicketMayDieAgain(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		first := w.dead("s")
		second, _, err := w.RequeueDead(t.Context(), first.ID, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.die(chat.Normal); err != nil {
			t.Fatal(err)
		}
		w.letters(second.ID)
		third, dup, err := w.RequeueDead(t.Context(), second.ID, time.Now())
		if err != nil || dup || third.ID == second.ID || third.ID == first.ID || third.RetryOf != second.ID {
			t.Errorf("requeued %+v, dup %v, %v", third, dup, err)
		}
	})
}

func TestARequeueThatWasCutShortMakesOneTicket(t *testing.T) {
	for _, at := range []Point{IntakeTicket, IntakeLane, IntakeEvent, IntakeQueued, RequeueLetter} {
		inBubble(t, func(c *Config, _ *ServerConfig) { c.KeepTicket = 5 * time.Second }, func(t *testing.T, w *world) {
			old := w.dead("s")
			w.stop(at)
			_, _, err := w.RequeueDead(t.Context(), old.ID, time.Now())
			if refused := at == IntakeTicket || at == IntakeLane; refused != errors.Is(err, errStopped) || refused != (err != nil) {
				t.Errorf("%s: cut short with %v", at, err)
			}
			w.stop("")
			if at == RequeueLetter {
				w.letters(old.ID)
				w.finish(chat.Normal, "yes")
				time.Sleep(10 * time.Second) // the ended ticket has left its bucket
			}
			got, _, err := w.RequeueDead(t.Context(), old.ID, time.Now())
			if err != nil || got.RetryOf != old.ID || got.ID != requeuedID(old.ID) {
				t.Errorf("%s: again %+v, %v", at, got, err)
			}
			w.letters()
			if at != RequeueLetter {
				w.depth(chat.Normal, 1)
				w.finish(chat.Normal, "yes")
			}
			w.depth(chat.Normal, 0)
			w.wantSeqs("s", 0, 1, 2, 3, 4)
		})
	}
}

func TestManyRequeuesAtOnceAreOneTicket(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		old := w.dead("s")
		var all sync.WaitGroup
		var mu sync.Mutex
		fresh, ids := 0, map[string]bool{}
		for range 20 {
			all.Go(func() {
				got, dup, err := w.RequeueDead(t.Context(), old.ID, time.Now())
				if err != nil {
					t.Errorf("requeue: %v", err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				ids[got.ID] = true
				if !dup {
					fresh++
				}
			})
		}
		all.Wait()
		if fresh != 1 || len(ids) != 1 {
			t.Errorf("%d new tickets, ids %v, want one", fresh, ids)
		}
		w.depth(chat.Normal, 1)
		w.letters()
		w.finish(chat.Normal, "yes")
		w.wantSeqs("s", 0, 1, 2, 3, 4)
	})
}

func TestARequeueIntoAFullLaneKeepsTheLetter(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Normal] = 1 }, func(t *testing.T, w *world) {
		old := w.dead("s")
		w.accept(message("other", "hello"))
		if _, _, err := w.RequeueDead(t.Context(), old.ID, time.Now()); !errors.Is(err, ErrFull) {
			t.Errorf("err = %v, want ErrFull", err)
		}
		w.letters(old.ID)
		w.gone(requeuedID(old.ID))
		w.finish(chat.Normal, "yes")
		if _, dup, err := w.RequeueDead(t.Context(), old.ID, time.Now()); err != nil || dup {
			t.Errorf("with room: dup %v, %v", dup, err)
		}
		w.letters()
	})
}
