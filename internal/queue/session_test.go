package queue

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/chat"
)

// A session that is far longer than its record reaches back is read right from any
// place, and its record stays small.
func TestALongSessionIsReadFromAnywhere(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		const talks = 60
		for range talks {
			w.accept(message("s", "hello"))
			w.accept(message("other", "hello")) // its events lie between
			w.finish(chat.Normal, "yes")
			w.finish(chat.Normal, "yes")
		}
		for _, after := range []int{0, 1, 54, 55, 56, 57, 58, 90, 119, 120} {
			w.wantSeqs("s", uint64(after), upTo(2 * talks)[after:]...)
		}
		s, err := w.Session(t.Context(), "demo", "s")
		if err != nil || len(s.Recent) != recentMarks || s.Seq != 2*talks {
			t.Fatalf("record has %d marks, seq %d, %v; want %d and %d", len(s.Recent), s.Seq, err, recentMarks, 2*talks)
		}
		past, err := w.Past(t.Context(), "demo", "s", 40)
		if err != nil || len(past.Events) != 40 || past.Events[39].Seq != 2*talks || len(past.Open) != 0 {
			t.Errorf("past holds %d events, open %v, %v", len(past.Events), past.Open, err)
		}
	})
}

// However much is said after it, an open message stays in sight; one that nobody waits
// for does not hold its session up.
func TestAnOpenMessageIsNeverOutOfSight(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Normal] = 500 }, func(t *testing.T, w *world) {
		later := message("s", "call me back")
		later.Lane = chat.Deferred
		w.accept(later)
		open := w.accept(message("s", "open"))
		brief := message("s", "cancelled at once")
		for range recentMarks {
			brief.ID = chat.NewTicketID()
			w.accept(brief)
			if _, err := w.Cancel(t.Context(), brief.ID, chat.ReasonCustomer, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		past, err := w.Past(t.Context(), "demo", "s", 10)
		if err != nil || len(past.Open) != 1 || past.Open[open.ID] != 2 || len(past.Events) != 10 {
			t.Errorf("open %v of %d events, %v; want the interactive one at 2", past.Open, len(past.Events), err)
		}
		for _, id := range []string{later.ID, open.ID} {
			if _, err := w.Cancel(t.Context(), id, chat.ReasonCustomer, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := w.Session(t.Context(), "demo", "s"); err != nil || len(s.Recent) != recentMarks {
			t.Errorf("record keeps %d marks after the end of the open ones, want %d", len(s.Recent), recentMarks)
		}
	})
}

// TestMarksKnowEveryOpenMessage notes events in nearly the order of their log, some late and
// some twice, and asks what a reader relies on.
func TestMarksKnowEveryOpenMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Session
		var log []Mark
		var open []int // places in log of open messages
		var held *Mark
		for range rapid.IntRange(1, 250).Draw(t, "events") {
			m := Mark{Seq: uint64(len(log) + 1), At: uint64(10 * (len(log) + 1))}
			if len(open) > 0 && rapid.IntRange(0, 9).Draw(t, "end") < 6 {
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				m.Ticket = log[open[i]].Ticket
				open = slices.Delete(open, i, i+1)
			} else {
				m.Ticket, m.Open = chat.NewTicketID(), true
				open = append(open, len(log))
			}
			log = append(log, m)
			if held == nil && m.Open && rapid.IntRange(0, 5).Draw(t, "late") == 0 {
				held = &m // its writer died: somebody else notes it
				continue
			}
			s.note(m)
			if held != nil {
				s.note(*held)
				s.note(m) // again: it changes nothing
				held = nil
			}
		}
		if held != nil {
			s.note(*held)
		}
		if s.Seq != uint64(len(log)) {
			t.Fatalf("seq %d of %d events", s.Seq, len(log))
		}
		if !slices.IsSortedFunc(s.Recent, func(a, b Mark) int { return int(a.Seq) - int(b.Seq) }) {
			t.Fatalf("marks out of order: %v", s.Recent)
		}
		for _, i := range open {
			if s.Recent[0].Seq > log[i].Seq {
				t.Fatalf("the open message %d is before the first mark %d", log[i].Seq, s.Recent[0].Seq)
			}
		}
		if n := len(s.Recent); n > recentMarks && !s.Recent[0].Open {
			t.Fatalf("%d marks without need", n)
		}
		for after := range len(log) + 1 {
			from := s.from(uint64(after))
			if from > 1 && (after+1 <= len(log) && from > log[after].At || from%10 != 0) {
				t.Fatalf("events after %d are read from %d, which is past the next one", after, from)
			}
		}
	})
}
