package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
)

// fill accepts n messages of sessions of their own.
func (w *world) fill(lane chat.Lane, n int) []chat.Ticket {
	w.t.Helper()
	all := make([]chat.Ticket, n)
	for i := range all {
		t := message(fmt.Sprintf("%s-%d", lane, i), "please")
		t.Lane = lane
		all[i] = w.accept(t)
	}
	return all
}

func (p *process) clear(lane chat.Lane, way Clearance) Clearing {
	p.w.t.Helper()
	c, err := p.Clear(p.w.t.Context(), Clearing{Lane: lane, Way: way, Actor: "admin", Reason: "test", At: time.Now().UTC()})
	if err != nil {
		p.w.t.Fatal(err)
	}
	return c
}

func (w *world) wantCleared(lane chat.Lane, ended, left, gone int) {
	w.t.Helper()
	c, err := w.Clearing(w.t.Context(), lane)
	if err != nil || !c.Done || c.Ended != ended || c.Left != left || c.Gone != gone {
		w.t.Errorf("done %v, ended %d, left %d, gone %d (%v); want done, %d, %d, %d", c.Done, c.Ended, c.Left, c.Gone, err, ended, left, gone)
	}
}

func TestPurgeCancelsWhatWaitsAndTellsEveryCustomer(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		p := w.process("one")
		all := w.fill(chat.Normal, 80) // more than one step
		other := message("other", "elsewhere")
		other.Lane = chat.Low
		w.accept(other)
		running := w.run(w.pull(chat.Normal))
		var mu sync.Mutex
		nudged := map[string]int{}
		stop, err := w.Nudges(func(ticket string) {
			mu.Lock()
			defer mu.Unlock()
			nudged[ticket]++
		})
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		p.clear(chat.Normal, ClearByPurge)
		late := w.accept(message("late", "after the request"))
		time.Sleep(time.Second)
		w.wantCleared(chat.Normal, 79, 1, 0)
		w.depth(chat.Normal, 2) // the one that runs, and the late one
		w.depth(chat.Low, 1)
		mu.Lock()
		defer mu.Unlock()
		for _, tk := range all {
			s := w.ticket(tk.ID)
			if tk.ID == running.ID {
				if s.Status != chat.Running || nudged[tk.ID] != 0 {
					t.Errorf("the running ticket is %s, nudged %d times", s.Status, nudged[tk.ID])
				}
				continue
			}
			if s.Status != chat.Cancelled || s.Reason != chat.ReasonOperator || nudged[tk.ID] != 1 {
				t.Fatalf("ticket is %s (%s), nudged %d times", s.Status, s.Reason, nudged[tk.ID])
			}
			events, _, _, err := w.Events(t.Context(), "demo", tk.Session, 0, 10)
			if err != nil || len(events) != 2 || events[1].Status != chat.Cancelled || events[1].Reason != chat.ReasonOperator {
				t.Fatalf("events %+v (%v), want the message and one end", events, err)
			}
		}
		if s := w.ticket(late.ID); s.Status != chat.Queued {
			t.Errorf("the late ticket is %s", s.Status)
		}
		entries, err := w.Audits(t.Context(), 0, 10)
		if err != nil || len(entries) != 1 || entries[0].Action != "lane.purge" || !strings.Contains(entries[0].Result, "ended 79, left 1") {
			t.Errorf("audit %+v (%v)", entries, err)
		}
	})
}

func TestAnswerGivesTheFallbackToWhatWaits(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		p := w.process("one")
		all := w.fill(chat.Batch, 3)
		held := w.pull(chat.Batch) // in somebody's hands, but not running
		s, err := w.Admit(t.Context(), held)
		if err != nil {
			t.Fatal(err)
		}
		p.clear(chat.Batch, ClearByAnswer)
		time.Sleep(time.Second)
		w.wantCleared(chat.Batch, 3, 0, 0)
		w.depth(chat.Batch, 0)
		for _, tk := range all {
			s := w.ticket(tk.ID)
			if s.Status != chat.Answered || s.Route != chat.RouteTemplate || s.Reason != chat.ReasonOverdue || s.Reply.Text != "later" || s.DecidedAt == nil {
				t.Errorf("%+v", s.Ticket)
			}
		}
		if _, err := w.Take(t.Context(), s, time.Now()); !errors.Is(err, ErrLost) {
			t.Errorf("its holder takes it: %v, want ErrLost", err)
		}
	})
}

func TestASecondRequestJoinsTheFirstOrIsRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.fill(chat.Normal, 1)
		l, err := NewLanes(w.Queue, LanesConfig{Node: "asker", Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(way Clearance) (Clearing, error) {
			return l.Clear(t.Context(), Clearing{Lane: chat.Normal, Way: way, Actor: "admin", Reason: "test", At: time.Now().UTC()})
		}
		first, err := ask(ClearByPurge)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ask(ClearByPurge); err != nil || again.Rev != first.Rev {
			t.Errorf("the same again: revision %d of %d, %v", again.Rev, first.Rev, err)
		}
		if _, err := ask(ClearByAnswer); !errors.Is(err, ErrBusy) {
			t.Errorf("the other: %v, want ErrBusy", err)
		}
		w.process("works")
		time.Sleep(5 * time.Second) // it has not moved for long enough
		w.wantCleared(chat.Normal, 1, 0, 0)
		if next, err := ask(ClearByAnswer); err != nil || next.Way != ClearByAnswer {
			t.Errorf("after the end: %+v, %v", next, err)
		}
	})
}

func TestAnotherProcessGoesOnWithARequestAndTheCountsAreWhole(t *testing.T) {
	for _, point := range []Point{CancelTicket, CancelEvent, CancelStory, CancelLane} {
		inBubble(t, nil, func(t *testing.T, w *world) {
			w.fill(chat.Normal, 5)
			l, err := NewLanes(w.Queue, LanesConfig{Node: "dies", Log: zerolog.Nop()})
			if err != nil {
				t.Fatal(err)
			}
			ctx, die := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- l.Run(ctx) }()
			<-l.Ready()
			w.stop(point)
			if _, err := l.Clear(t.Context(), Clearing{Lane: chat.Normal, Way: ClearByPurge, Actor: "admin", Reason: "test", At: time.Now().UTC()}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(500 * time.Millisecond)
			die()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			w.stop("")
			w.process("second")
			time.Sleep(5 * time.Second)
			w.wantCleared(chat.Normal, 5, 0, 0)
			// What the dead one left undone comes with the job's next delivery.
			for _, j := range w.try(chat.Normal, 5) {
				if _, err := w.Admit(t.Context(), j); !errors.Is(err, ErrEnded) {
					t.Errorf("%s: %v, want ErrEnded", point, err)
				}
			}
			w.depth(chat.Normal, 0)
			for i := range 5 {
				w.wantSeqs(fmt.Sprintf("normal-%d", i), 0, 1, 2)
			}
		})
	}
}

func TestPurgeRegainsATicketThatIsMissing(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		p := w.process("one")
		all := w.fill(chat.Normal, 2)
		if err := w.tickets.Delete(t.Context(), all[0].ID); err != nil {
			t.Fatal(err)
		}
		p.clear(chat.Normal, ClearByPurge)
		time.Sleep(time.Second)
		w.wantCleared(chat.Normal, 2, 0, 0)
		w.depth(chat.Normal, 0)
		if s := w.ticket(all[0].ID); s.Status != chat.Cancelled {
			t.Errorf("the missing ticket is %s", s.Status)
		}
		w.wantSeqs("normal-0", 0, 1, 2)
	})
}
