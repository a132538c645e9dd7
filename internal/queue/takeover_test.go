package queue

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
)

// handedOver is a session of which people were asked to take over, with a ticket that runs.
func (w *world) handedOver(session string) (*Job, Stored) {
	w.t.Helper()
	w.accept(message(session, "hello"))
	j := w.pull(chat.Normal)
	s := w.run(j)
	h := s.Ticket
	h.Handoff = &chat.Handoff{At: time.Now(), Cause: chat.HandoffTool}
	if err := w.enlist(w.t.Context(), &h); err != nil {
		w.t.Fatal(err)
	}
	return j, s
}

// settleEnd ends a ticket as its holder does.
func (w *world) settleEnd(j *Job, s Stored) error {
	_, err := w.End(w.t.Context(), j, s)
	if errors.Is(err, ErrLost) {
		_, err = w.Finish(w.t.Context(), j)
	}
	return err
}

// checkTaken asserts that the bot says nothing after the takeover, that the ticket has one
// final event, and that the two agree. It returns how the ticket ended.
func (w *world) checkTaken(session, ticket string) chat.Status {
	w.t.Helper()
	events, _, _, err := w.Events(w.t.Context(), "demo", session, 0, 100)
	if err != nil {
		w.t.Fatal(err)
	}
	human, finals, told := 0, 0, chat.Status("")
	for i, e := range events {
		if e.Seq != uint64(i+1) {
			w.t.Errorf("session %s: event %d has seq %d", session, i+1, e.Seq)
		}
		if e.Owner == chat.OwnerHuman {
			human++
		}
		if e.Who == chat.ByBot && human > 0 {
			w.t.Errorf("session %s: the bot speaks after the takeover", session)
		}
		if e.Ticket == ticket && e.Status.Ended() {
			finals++
			told = e.Status
		}
	}
	s := w.ticket(ticket)
	if human != 1 || finals != 1 || s.Status != told || (told == chat.Cancelled) != (s.Reason == chat.ReasonHuman) || (told == chat.Cancelled) != (s.Reply == nil) {
		w.t.Errorf("session %s: %d takeovers, %d final events, told %s, the ticket is %s (%s)", session, human, finals, told, s.Status, s.Reason)
	}
	return told
}

// TestTheBotNeverSpeaksAfterATakeover lets a thousand tickets end while a person takes their
// session over. Each write waits for a while that differs from round to round, in the
// bubble's time: so the two meet at every pair of their writes.
func TestTheBotNeverSpeaksAfterATakeover(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) {
		observe := c.Before
		c.Before = func(p Point, ticket string) error {
			time.Sleep(time.Duration(rand.IntN(40)) * time.Microsecond)
			return observe(p, ticket)
		}
	}, func(t *testing.T, w *world) {
		ends := map[chat.Status]int{}
		for i := range 1000 {
			session := fmt.Sprintf("s%d", i)
			j, s := w.handedOver(session)
			var both sync.WaitGroup
			both.Go(func() {
				if err := w.settleEnd(j, answered(s, "yes")); err != nil {
					t.Errorf("end: %v", err)
				}
			})
			time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond)
			if _, err := w.TakeOver(t.Context(), s.ID, "ann", time.Now()); err != nil {
				t.Errorf("take: %v", err)
			}
			both.Wait()
			ends[w.checkTaken(session, s.ID)]++
		}
		w.depth(chat.Normal, 0)
		rewritten := 0
		for _, p := range w.wrote() {
			if p == EndHuman {
				rewritten++
			}
		}
		if ends[chat.Answered] < 20 || ends[chat.Cancelled] < 20 || rewritten < 20 {
			t.Errorf("ends %v, %d of them rewritten: the two hardly met", ends, rewritten)
		}
		t.Logf("ends %v, %d of them rewritten", ends, rewritten)
	})
}

// TestATakeoverThatDiedIsCompleted stops it before each of its writes, and before each that
// follows from it on the way of a ticket that had ended, then lets either side come first.
func TestATakeoverThatDiedIsCompleted(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		round := 0
		for _, at := range []Point{OwnerRecord, OwnerEvent, CancelTicket, CancelEvent, EndTicket, EndHuman, EndEvent, EndStory, EndLane} {
			for _, personFirst := range []bool{true, false} {
				round++
				session := fmt.Sprintf("s%d", round)
				j, s := w.handedOver(session)
				s = answered(s, "yes")
				late := at == EndHuman || at == EndEvent || at == EndStory || at == EndLane
				if late { // answered, and nobody told
					w.stop(EndEvent)
					if err := w.settleEnd(j, s); !errors.Is(err, errStopped) {
						t.Fatalf("%s: end: %v", at, err)
					}
				}
				w.stop(at)
				_, taken := w.TakeOver(t.Context(), s.ID, "ann", time.Now())
				if late {
					_, taken = w.Finish(t.Context(), j)
				}
				if at != EndTicket && at != CancelEvent && !errors.Is(taken, errStopped) {
					t.Errorf("%s: %v, want the stop", at, taken)
				}
				w.stop("")
				person := func() {
					if _, err := w.TakeOver(t.Context(), s.ID, "ann", time.Now()); err != nil {
						t.Errorf("%s: take again: %v", at, err)
					}
				}
				if personFirst {
					person()
				}
				if err := w.settleEnd(j, s); err != nil {
					t.Errorf("%s: end again: %v", at, err)
				}
				if !personFirst {
					person()
				}
				w.checkTaken(session, s.ID)
				rec, err := w.Session(t.Context(), "demo", session)
				if err != nil || rec.Owner != "human" || rec.Epoch != 2 || rec.Human != "ann" || !rec.Changed.Told {
					t.Errorf("%s: %+v (%v)", at, rec, err)
				}
			}
		}
		w.depth(chat.Normal, 0)
	})
}

// TestWhoHasASession goes through its owners: the queue, a person and no other, the bot again.
func TestWhoHasASession(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.accept(message("s", "a person, please"))
		j := w.pull(chat.Normal)
		s := answered(w.run(j), "You are being transferred to a colleague.")
		s.Handoff = &chat.Handoff{At: time.Now(), Cause: chat.HandoffClaim}
		if err := w.settleEnd(j, s); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Say(ctx, "demo", "s", "ann", "1", chat.Reply{Text: "Hi"}, time.Now()); !errors.Is(err, ErrNotTaken) {
			t.Errorf("said by nobody: %v", err)
		}
		if _, err := w.TakeOver(ctx, s.ID, "ann", time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.TakeOver(ctx, s.ID, "bob", time.Now()); !errors.Is(err, ErrTaken) {
			t.Errorf("taken by two: %v", err)
		}
		if _, err := w.Say(ctx, "demo", "s", "bob", "1", chat.Reply{Text: "Hi"}, time.Now()); !errors.Is(err, ErrTaken) {
			t.Errorf("said by another than who has it: %v", err)
		}
		for range 2 {
			if seq, err := w.Say(ctx, "demo", "s", "ann", "1", chat.Reply{Text: "Hi"}, time.Now()); err != nil || seq != 5 {
				t.Errorf("said at %d (%v), want 5", seq, err)
			}
		}
		meanwhile := w.accept(message("s", "are you there?"))
		if human, err := w.Overruled(ctx, &meanwhile); err != nil || !human || meanwhile.Epoch != 2 {
			t.Errorf("a message while a person is there: %v, epoch %d (%v)", human, meanwhile.Epoch, err)
		}
		for range 2 {
			if rec, err := w.GiveBack(ctx, s.ID, time.Now()); err != nil || rec.Owner != "bot" || rec.Epoch != 2 {
				t.Errorf("given back: %+v (%v)", rec, err)
			}
		}
		// What repeats the old end must not ask for people again.
		if err := w.complete(ctx, endSteps, w.ticket(s.ID), nil); err != nil {
			t.Error(err)
		}
		w.finish(chat.Normal, "I am again.")
		var got []string
		events, _, _, err := w.Events(ctx, "demo", "s", 0, 100)
		for _, e := range events {
			got = append(got, string(e.Who)+" "+string(e.Owner))
		}
		want := []string{"customer ", "bot ", "system queue", "system human", "human ", "customer ", "system bot", "bot "}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the session holds %q (%v), want %q", got, err, want)
		}
	})
}

// TestATakeoverCallsOffWhatIsOwed has a promise of which the follow-up is open, and one that
// waits for its customer to read the answer.
func TestATakeoverCallsOffWhatIsOwed(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		for _, ended := range []bool{false, true} {
			session := fmt.Sprint("s-", ended)
			parent, id := w.promised(session)
			if ended {
				w.finish(chat.Deferred, "the full answer")
			}
			p := w.ticket(parent).Ticket
			p.Handoff = &chat.Handoff{At: time.Now(), Cause: chat.HandoffTool}
			if err := w.enlist(t.Context(), &p); err != nil {
				t.Fatal(err)
			}
			if _, err := w.TakeOver(t.Context(), parent, "ann", time.Now()); err != nil {
				t.Fatal(err)
			}
			w.wantPromise(session, id, chat.Promised, chat.PromiseCancelled)
		}
		w.notices(0)
	})
}

// TestADeedIsSeenToItsEndAfterATakeover has a person take over while something is done that
// cannot be undone: the bot does not tell of it, and a dead letter does.
func TestADeedIsSeenToItsEndAfterATakeover(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		j, s := w.handedOver("s")
		s, err := w.Commit(t.Context(), s, chat.Deed{Tool: "refund_request", Order: "1"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.TakeOver(t.Context(), s.ID, "ann", time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := w.ticket(s.ID); got.Status != chat.Running {
			t.Errorf("it is %s", got.Status)
		}
		if err := w.settleEnd(j, answered(s, "Refunded.")); err != nil {
			t.Fatal(err)
		}
		w.checkTaken("s", s.ID)
		if n, err := w.DeadCount(t.Context()); err != nil || n != 1 {
			t.Errorf("%d dead letters (%v)", n, err)
		}
	})
}
