package queue

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestEndWritesTicketEventStoryAndLane(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		j := w.pull(chat.Normal)
		s := w.run(j)
		w.wrote()
		if _, err := w.End(t.Context(), j, answered(s, "yes")); err != nil {
			t.Fatal(err)
		}
		if got, want := w.wrote(), []Point{EndTicket, EndEvent, EndStory, EndLane}; !slices.Equal(got, want) {
			t.Errorf("wrote %v, want %v", got, want)
		}
		events, _, _, err := w.Events(t.Context(), "demo", "s", 1, 9)
		if err != nil || len(events) != 1 || events[0].Who != chat.ByBot || events[0].Text != "yes" || events[0].Status != chat.Answered || events[0].Ticket != m.ID {
			t.Errorf("final event = %+v, %v", events, err)
		}
		w.depth(chat.Normal, 0)
	})
}

func TestCancelOfAQueuedTicketLeavesNothingInTheLane(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		w.wrote()
		got, err := w.Cancel(t.Context(), m.ID, chat.ReasonCustomer, time.Now())
		if err != nil || got.Status != chat.Cancelled || got.Reason != chat.ReasonCustomer || got.EndedAt == nil {
			t.Errorf("cancelled %+v, %v", got, err)
		}
		if p, want := w.wrote(), []Point{CancelTicket, CancelEvent, CancelStory, CancelLane}; !slices.Equal(p, want) {
			t.Errorf("wrote %v, want %v", p, want)
		}
		w.depth(chat.Normal, 0)
		events, _, _, err := w.Events(t.Context(), "demo", "s", 1, 9)
		if err != nil || len(events) != 1 || events[0].Kind != chat.KindStatus || events[0].Status != chat.Cancelled {
			t.Errorf("final event = %+v, %v", events, err)
		}
	})
}

func TestCancelOfARunningTicketTellsItsHolder(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		j := w.pull(chat.Normal)
		s := w.run(j)
		nudged := make(chan string, 1)
		stop, err := w.Nudges(func(ticket string) { nudged <- ticket })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Cancel(t.Context(), m.ID, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := <-nudged; got != m.ID {
			t.Errorf("nudge for %s", got)
		}
		if _, err := w.End(t.Context(), j, answered(s, "too late")); !errors.Is(err, ErrLost) {
			t.Errorf("the holder's end: %v, want ErrLost", err)
		}
		if _, err := w.Finish(t.Context(), j); err != nil {
			t.Errorf("the holder's finish: %v", err)
		}
		w.depth(chat.Normal, 0)
		w.wantSeqs("s", 0, 1, 2)
		if got := w.ticket(m.ID); got.Status != chat.Cancelled || got.Reply != nil {
			t.Errorf("stored %+v", got)
		}
		stop()
	})
}

func TestCancelOfWhatCannotBeCancelled(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		if _, err := w.Cancel(t.Context(), chat.NewTicketID(), chat.ReasonCustomer, time.Now()); !errors.Is(err, ErrNotFound) {
			t.Errorf("unknown: %v, want ErrNotFound", err)
		}
		m := w.accept(message("s", "hello"))
		w.finish(chat.Normal, "yes")
		got, err := w.Cancel(t.Context(), m.ID, chat.ReasonCustomer, time.Now())
		if !errors.Is(err, ErrEnded) || got.Status != chat.Answered {
			t.Errorf("ended: %+v, %v; want ErrEnded", got, err)
		}
		w.wantSeqs("s", 0, 1, 2)
	})
}

// The intake was cut off before the customer's own event: it comes before the end.
func TestCancelOfAnAcceptingTicketTellsTheWholeStory(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.stop(IntakeEvent)
		m := w.accept(message("s", "hello"))
		w.stop("")
		if _, err := w.Cancel(t.Context(), m.ID, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		events, _, _, err := w.Events(t.Context(), "demo", "s", 0, 9)
		if err != nil || len(events) != 2 || events[0].Who != chat.ByCustomer || events[1].Status != chat.Cancelled {
			t.Errorf("events = %+v, %v", events, err)
		}
		w.depth(chat.Normal, 0)
	})
}

func TestManyCancelsAtOnceAreOneEnd(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		var all sync.WaitGroup
		ended := make(chan bool, 20)
		for range 20 {
			all.Go(func() {
				_, err := w.Cancel(t.Context(), m.ID, chat.ReasonCustomer, time.Now())
				if err != nil && !errors.Is(err, ErrEnded) {
					t.Errorf("cancel: %v", err)
				}
				ended <- err == nil
			})
		}
		all.Wait()
		close(ended)
		n := 0
		for e := range ended {
			if e {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d cancels succeeded, want one", n)
		}
		w.depth(chat.Normal, 0)
		w.wantSeqs("s", 0, 1, 2)
	})
}

func TestACancelThatDiedIsCompletedByTheNextDelivery(t *testing.T) {
	for _, at := range []Point{CancelEvent, CancelStory, CancelLane} {
		inBubble(t, nil, func(t *testing.T, w *world) {
			m := w.accept(message("s", "hello"))
			w.stop(at)
			if got, err := w.Cancel(t.Context(), m.ID, chat.ReasonCustomer, time.Now()); err != nil || got.Status != chat.Cancelled {
				t.Errorf("%s: %+v, %v", at, got, err)
			}
			w.stop("")
			if _, err := w.Admit(t.Context(), w.pull(chat.Normal)); !errors.Is(err, ErrEnded) {
				t.Errorf("%s: %v, want ErrEnded", at, err)
			}
			w.depth(chat.Normal, 0)
			w.wantSeqs("s", 0, 1, 2)
		})
	}
}

func TestAnEndedTicketLeavesTheBucketAfterItsTimeAndAnOpenOneStays(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.KeepTicket = 5 * time.Second }, func(t *testing.T, w *world) {
		open := w.accept(message("open", "hello"))
		m := message("s", "hello")
		m.Lane = chat.High
		w.accept(m)
		cancelled := w.accept(message("c", "hello"))
		w.finish(chat.High, "yes")
		if _, err := w.Cancel(t.Context(), cancelled.ID, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		w.ticket(m.ID)
		w.ticket(cancelled.ID)
		time.Sleep(3 * time.Second)
		w.gone(m.ID)
		w.gone(cancelled.ID)
		time.Sleep(3 * time.Minute)
		w.ticket(open.ID)
		stream, err := w.js.Stream(t.Context(), "KV_"+ticketBucket)
		if err != nil {
			t.Fatal(err)
		}
		if n := stream.CachedInfo().State.Msgs; n != 1 {
			t.Errorf("the bucket holds %d messages, want the open ticket's alone", n)
		}
	})
}

// The holder's acknowledgement and a cancel may both come last.
func TestCancelOfATicketWhoseMessageIsGoneSucceeds(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		w.lose(m)
		if _, err := w.Cancel(t.Context(), m.ID, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		s := w.ticket(m.ID)
		if err := w.complete(t.Context(), cancelSteps, s, nil); err != nil {
			t.Errorf("the last steps of a cancel, again: %v", err)
		}
	})
}
