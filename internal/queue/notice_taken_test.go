package queue

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
)

// notified is a session with a promise whose notice waits to be sent, and of which people
// were asked to take over. It returns the ticket to take it by, and the follow-up.
func (w *world) notified(session string) (parent, id string) {
	w.t.Helper()
	parent, id = w.promised(session)
	w.finish(chat.Deferred, "the full answer")
	if _, err := w.SettlePromise(w.t.Context(), id, chat.PromiseSent, "", time.Now()); err != nil {
		w.t.Fatal(err)
	}
	p := w.ticket(parent).Ticket
	p.Handoff = &chat.Handoff{At: time.Now(), Cause: chat.HandoffTool}
	if err := w.enlist(w.t.Context(), &p); err != nil {
		w.t.Fatal(err)
	}
	return parent, id
}

// claim does what a sender does before it hands a notice over, and reports whether it may.
func (w *world) claim(o *Outbox, id string) bool {
	n, err := w.Notice(w.t.Context(), id)
	if err != nil {
		w.t.Error(err)
		return false
	}
	if n.State != chat.NoticeQueued {
		return false
	}
	n.Turn(chat.NoticeSending, time.Now())
	n.Tries++
	_, mine, err := o.Set(w.t.Context(), n)
	if err != nil {
		w.t.Errorf("claim: %v", err)
	}
	return mine
}

// TestNoNoticeLeavesAfterATakeover lets 80 notices be claimed while a person takes their
// session over. Each write waits for a while that differs from round to round, in the
// bubble's time: so the two meet at every pair of their writes. What leaves was claimed
// before the session changed hands, and anything else is cancelled, with its promise.
func TestNoNoticeLeavesAfterATakeover(t *testing.T) {
	var mu sync.Mutex
	at := map[Point]time.Time{} // of the round: when a write was about to happen last
	inBubble(t, func(c *Config, _ *ServerConfig) {
		observe := c.Before
		c.Before = func(p Point, ticket string) error {
			time.Sleep(time.Duration(rand.IntN(40)) * time.Microsecond)
			mu.Lock()
			at[p] = time.Now()
			mu.Unlock()
			return observe(p, ticket)
		}
	}, func(t *testing.T, w *world) {
		outbox := NewOutbox(w.Queue)
		left, refused := 0, 0
		for i := range 80 {
			session := fmt.Sprintf("s%d", i)
			parent, id := w.notified(session)
			sent := false
			var both sync.WaitGroup
			both.Go(func() {
				time.Sleep(time.Duration(rand.IntN(150)) * time.Microsecond)
				sent = w.claim(outbox, id)
			})
			time.Sleep(time.Duration(rand.IntN(100)) * time.Microsecond)
			if _, err := w.TakeOver(t.Context(), parent, "ann", time.Now()); err != nil {
				t.Errorf("take: %v", err)
			}
			both.Wait()
			if w.claim(outbox, id) {
				t.Errorf("%s: a notice leaves once its session was taken over", session)
			}
			n, err := w.Notice(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if n.State == chat.NoticeCancelled && !n.Settled { // the next look of a sender
				if status, ended := n.Promised(time.Now()); !ended || status != chat.PromiseCancelled {
					t.Errorf("its promise is to be %s", status)
				}
				if err := outbox.Settle(t.Context(), n, chat.PromiseCancelled); err != nil {
					t.Error(err)
				}
			}
			if sent {
				left++
				if n.State != chat.NoticeSending || at[NoticePoint(chat.NoticeSending)].After(at[OwnerEvent]) {
					t.Errorf("%s: it left as %s, claimed after the session was told of a person", session, n.State)
				}
				w.wantPromise(session, id, chat.Promised, chat.PromiseSent)
				continue
			}
			refused++
			if n.State != chat.NoticeCancelled || n.Tries != 0 {
				t.Errorf("%s: it did not leave and is %s after %d tries", session, n.State, n.Tries)
			}
			w.wantPromise(session, id, chat.Promised, chat.PromiseSent, chat.PromiseCancelled)
			if o, _ := w.Owed(t.Context(), id); o.Why != chat.ReasonHuman {
				t.Errorf("%s: cancelled for %q", session, o.Why)
			}
		}
		if left < 8 || refused < 8 {
			t.Errorf("%d left, %d did not: the two hardly met", left, refused)
		}
		t.Logf("%d left, %d did not", left, refused)
	})
}

// TestATakeoverThatDiedCancelsItsNotices stops it before each write about a notice; the same
// person again completes it, or the sender that claims the notice.
func TestATakeoverThatDiedCancelsItsNotices(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		outbox := NewOutbox(w.Queue)
		for i, p := range []Point{OwnerEvent, NoticePoint(chat.NoticeCancelled), NoticeTold, NoticeKept, NoticeSettled} {
			for _, again := range []bool{true, false} {
				session := fmt.Sprintf("s%d-%v", i, again)
				parent, id := w.notified(session)
				w.stop(p)
				if _, err := w.TakeOver(t.Context(), parent, "ann", time.Now()); err == nil {
					t.Errorf("%s: it was not stopped", p)
				}
				w.stop("")
				if again {
					if _, err := w.TakeOver(t.Context(), parent, "ann", time.Now()); err != nil {
						t.Errorf("%s: %v", p, err)
					}
				} else {
					// Given back meanwhile: what was promised before is not sent all the same.
					if _, err := w.GiveBack(t.Context(), parent, time.Now()); err != nil {
						t.Errorf("%s: %v", p, err)
					}
					if w.claim(outbox, id) {
						t.Errorf("%s: it leaves", p)
					}
					n, err := w.Notice(t.Context(), id)
					if err == nil && !n.Settled {
						err = outbox.Settle(t.Context(), n, chat.PromiseCancelled)
					}
					if err != nil {
						t.Errorf("%s: %v", p, err)
					}
				}
				if n, err := w.Notice(t.Context(), id); err != nil || n.State != chat.NoticeCancelled || !n.Settled {
					t.Errorf("%s: %+v (%v)", p, n, err)
				}
				w.wantPromise(session, id, chat.Promised, chat.PromiseSent, chat.PromiseCancelled)
			}
		}
	})
}
