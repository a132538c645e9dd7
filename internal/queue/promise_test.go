package queue

import (
	"errors"
	"slices"
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestAPromiseIsStoredBeforeTheReplyThatMakesIt(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		a := w.ask("s")
		w.wrote()
		id := w.owe(&a)
		if got, want := w.wrote(), []Point{IntakeTicket, IntakeLane, IntakeQueued, PromiseCount, PromiseCount, PromiseOpen}; !slices.Equal(got, want) {
			t.Errorf("wrote %v, want %v", got, want)
		}
		w.wantSeqs("s", 0, 1) // nobody is told before the end
		if _, err := w.End(t.Context(), a.job, a.Stored); err != nil {
			t.Fatal(err)
		}
		if got, want := w.wrote(), []Point{EndTicket, EndEvent, PromiseMade, EndStory, EndLane}; !slices.Equal(got, want) {
			t.Errorf("wrote %v, want %v", got, want)
		}
		w.wantPromise("s", id, chat.Promised)
		f := w.ticket(id)
		if f.Parent != a.ID || f.Lane != chat.Deferred || f.Status != chat.Queued || f.Seq != 1 || f.Deadline.Sub(f.AcceptedAt) != owedFor {
			t.Errorf("follow-up %+v", f)
		}
		if p := w.ticket(a.ID); p.FollowUp != id || p.Promise == nil || !p.Promise.DueAt.Equal(f.Deadline) || p.Promise.Status != chat.Promised {
			t.Errorf("parent %+v", p)
		}
	})
}

func TestAFullLaneOfFollowUpsMakesNoPromise(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Deferred] = 1 }, func(t *testing.T, w *world) {
		w.promised("s1")
		a := w.ask("s2")
		if _, _, err := w.Promise(t.Context(), &a.Ticket, time.Now(), owedFor, manyTexts); !errors.Is(err, ErrFull) {
			t.Errorf("promise into a full lane: %v", err)
		}
		w.gone(chat.FollowUpID(a.ID))
		if _, err := w.Owed(t.Context(), chat.FollowUpID(a.ID)); !errors.Is(err, ErrNotFound) {
			t.Errorf("a promise of it: %v", err)
		}
	})
}

// However often a holder is cut short and another one begins anew, there is one follow-up.
func TestARepeatedPromiseIsTheSame(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		a := w.ask("s")
		first, made, err := w.Promise(t.Context(), &a.Ticket, time.Now(), owedFor, manyTexts)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		again, same, err := w.Promise(t.Context(), &a.Ticket, time.Now(), owedFor, manyTexts)
		if err != nil || again != first || !same.DueAt.Equal(made.DueAt) || same.Status != made.Status {
			t.Errorf("the repeat: %s, %+v, %v; the first: %s, %+v", again, same, err, first, made)
		}
		w.depth(chat.Deferred, 1)
		time.Sleep(owedFor)
		if _, _, err := w.Promise(t.Context(), &a.Ticket, time.Now(), owedFor, manyTexts); !errors.Is(err, ErrEnded) {
			t.Errorf("a follow-up out of time is promised: %v", err)
		}
	})
}

func TestAFollowUpWaitsForItsParentAndItsSession(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		want := func(what string, f chat.Ticket, want MayFollow) {
			t.Helper()
			if got, _, err := w.MayFollow(t.Context(), &f, 10); err != nil || got != want {
				t.Errorf("%s: %d (%v), want %d", what, got, err, want)
			}
		}
		a := w.ask("s")
		f := w.ticket(w.owe(&a)).Ticket
		want("while the parent is open", f, FollowLater)
		if _, err := w.End(t.Context(), a.job, a.Stored); err != nil {
			t.Fatal(err)
		}
		want("after the parent's end", f, FollowNow)
		w.accept(message("s", "Hello?"))
		want("while another question is open", f, FollowLater)
		w.finish(chat.Normal, "Hello.")
		want("after its answer", f, FollowNow)

		b := w.ask("s2")
		g := w.ticket(w.owe(&b)).Ticket
		b.FollowUp, b.Ticket.Promise = "", nil
		if _, err := w.End(t.Context(), b.job, b.Stored); err != nil {
			t.Fatal(err)
		}
		want("when the end does not name it", g, FollowNever)
	})
}

// A follow-up that nobody was promised goes without a word.
func TestAnUnpromisedFollowUpLeavesNothing(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		a := w.ask("s")
		id := w.owe(&a)
		if _, err := w.Cancel(t.Context(), a.ID, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		j := w.pull(chat.Deferred)
		s, err := w.Admit(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		s.Ticket.Cancel(chat.ReasonUnpromised, time.Now())
		if _, err := w.End(t.Context(), j, s); err != nil {
			t.Fatal(err)
		}
		w.wantSeqs("s", 0, 1, 2)
		w.depth(chat.Deferred, 0)
		if _, err := w.Owed(t.Context(), id); !errors.Is(err, ErrNotFound) {
			t.Errorf("its promise: %v", err)
		}
	})
}

func TestANoticeGoesWhereTheAnswerIsNotRead(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		parent, id := w.promised("s")
		defer w.watched()()
		w.finish(chat.Deferred, "In full.")
		time.Sleep(29 * time.Second)
		w.wantPromise("s", id, chat.Promised)
		time.Sleep(3 * time.Second)
		w.wantPromise("s", id, chat.Promised, chat.PromiseSent)
		n := w.notices(1)
		if len(n) == 1 && (n[0].ID != id || n[0].Parent != parent || n[0].Phone != "+8613800138000" || n[0].Code != chat.ShortCode(id) || n[0].Language != "en") {
			t.Errorf("notice %+v", n[0])
		}
		time.Sleep(owedFor)
		w.wantPromise("s", id, chat.Promised, chat.PromiseSent)
		if o, _ := w.Owed(t.Context(), id); o.Phone != "" {
			t.Error("the number is kept with the promise")
		}
	})
}

// An answer shortly before the deadline has less time to be read: the promise is kept.
func TestALateAnswerIsToldAtTheDeadline(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		_, id := w.promised("s")
		defer w.watched()()
		time.Sleep(owedFor - 10*time.Second)
		w.finish(chat.Deferred, "In full.")
		time.Sleep(10 * time.Second)
		w.wantPromise("s", id, chat.Promised, chat.PromiseSent)
	})
}

func TestAPromiseIsMetByReading(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		_, id := w.promised("s")
		defer w.watched()()
		answer := w.finish(chat.Deferred, "In full.")
		read := func(seq uint64) {
			t.Helper()
			if err := w.Read(t.Context(), "demo", "s", seq); err != nil {
				t.Fatal(err)
			}
		}
		read(3) // the reply and the promise, not yet the answer
		time.Sleep(5 * time.Second)
		w.wantPromise("s", id, chat.Promised)
		read(99)
		read(1)
		if rec, err := w.Session(t.Context(), "demo", "s"); err != nil || rec.Read != 4 {
			t.Errorf("read up to %d (%v), want the newest event, 4", rec.Read, err)
		}
		time.Sleep(2 * time.Second)
		w.wantPromise("s", id, chat.Promised, chat.PromiseMet)
		w.notices(0)
		if answer.Parent == "" {
			t.Error("the answer is no follow-up's")
		}
	})
}

// Whatever became of its job: here nobody ever takes it, and it is lost besides.
func TestAPromiseIsBrokenAtItsDeadline(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		_, kept := w.promised("s1")
		_, lost := w.promised("s2")
		if err := w.discard(t.Context(), EndLane, &chat.Ticket{ID: lost, Tenant: "demo", Session: "s2", Lane: chat.Deferred}); err != nil {
			t.Fatal(err)
		}
		stop := w.watched()
		time.Sleep(owedFor - time.Second)
		w.wantPromise("s1", kept, chat.Promised)
		w.wantPromise("s2", lost, chat.Promised)
		stop()
		time.Sleep(10 * time.Second) // nobody watches at the deadline: the next one finds them
		defer w.watched()()
		time.Sleep(500 * time.Millisecond)
		w.wantPromise("s1", kept, chat.Promised, chat.PromiseBroken)
		w.wantPromise("s2", lost, chat.Promised, chat.PromiseBroken)
		broken, counts, err := w.Owings(t.Context(), chat.PromiseBroken, 10)
		if err != nil || len(broken) != 2 || counts[chat.PromiseBroken] != 2 || broken[0].Why != chat.ReasonOverdue {
			t.Errorf("broken: %+v, %v, %v", broken, counts, err)
		}
	})
}

func TestAFollowUpThatFailsBreaksItsPromise(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		_, id := w.promised("s")
		j := w.pull(chat.Deferred)
		s := w.run(j)
		s.GiveUp(chat.ReasonVendorUnavailable, time.Now())
		if _, err := w.End(t.Context(), j, s); err != nil {
			t.Fatal(err)
		}
		w.wantPromise("s", id, chat.Promised, chat.PromiseBroken)
		if o, _ := w.Owed(t.Context(), id); o.Why != chat.ReasonVendorUnavailable {
			t.Errorf("broken for %q", o.Why)
		}
	})
}

func TestWhatIsCalledOffIsNotOwed(t *testing.T) {
	for name, c := range map[string]struct {
		of   func(parent, id string) string
		done bool // the follow-up has its answer already
	}{
		"by its parent":                  {func(parent, _ string) string { return parent }, false},
		"by itself":                      {func(_, id string) string { return id }, false},
		"by its parent, when answered":   {func(parent, _ string) string { return parent }, true},
		"by itself, when it is answered": {func(_, id string) string { return id }, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, w *world) {
				parent, id := w.promised("s")
				if c.done {
					w.finish(chat.Deferred, "In full.")
				}
				ticket := w.ticket(c.of(parent, id)).Ticket
				if _, err := w.CallOff(t.Context(), &ticket, chat.ReasonCustomer, time.Now()); err != nil {
					t.Fatalf("call off: %v", err)
				}
				w.wantPromise("s", id, chat.Promised, chat.PromiseCancelled)
				w.depth(chat.Deferred, 0)
				w.notices(0)
				ticket = w.ticket(c.of(parent, id)).Ticket
				if _, err := w.CallOff(t.Context(), &ticket, chat.ReasonCustomer, time.Now()); !errors.Is(err, ErrEnded) {
					t.Errorf("the second time: %v", err)
				}
			})
		})
	}
}

// A lane that is purged while a parent is still open: its end claims a promise that is
// called off as soon as it is made.
func TestAPromiseOfAPurgedFollowUpIsCancelled(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		defer w.watched()()
		a := w.ask("s")
		id := w.owe(&a)
		if _, err := w.Cancel(t.Context(), id, chat.ReasonOperator, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.End(t.Context(), a.job, a.Stored); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		w.wantPromise("s", id, chat.Promised, chat.PromiseCancelled)
	})
}

// At each write of a promise a process is cut off; whoever watches next completes it.
func TestATurnThatWasCutOffIsCompleted(t *testing.T) {
	for _, p := range []Point{PromiseTurn, PromiseOutbox, PromiseTold, PromiseKept, PromiseClosed} {
		t.Run(string(p), func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, w *world) {
				_, id := w.promised("s")
				w.finish(chat.Deferred, "In full.")
				w.stop(p)
				stop := w.watched()
				time.Sleep(readFor + 5*time.Second)
				stop()
				w.stop("")
				defer w.watched()()
				time.Sleep(2 * time.Second)
				w.wantPromise("s", id, chat.Promised, chat.PromiseSent)
				w.notices(1)
			})
		})
	}
}
