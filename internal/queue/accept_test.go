package queue

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestAcceptWritesInTheOrderOfTheIntake(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		sent := message("s", "Where is my order?")
		got, dup, err := w.Accept(t.Context(), sent, Claim{Key: "k", Body: "b"})
		if err != nil || dup || got.ID != sent.ID || got.Status != chat.Queued || got.Seq != 1 || got.LaneSeq != 1 {
			t.Errorf("accept = %+v, %v, %v", got, dup, err)
		}
		if want := []Point{IntakeKey, IntakeTicket, IntakeLane, IntakeEvent, IntakeQueued}; !slices.Equal(w.wrote(), want) {
			t.Errorf("wrote in another order than %v", want)
		}
		if s := w.ticket(sent.ID); s.Status != chat.Queued || s.Seq != 1 || s.Message != sent.Message {
			t.Errorf("stored %+v", s)
		}
		w.depth(chat.Normal, 1)
		e, err := w.Question(t.Context(), "demo", "s")
		if err != nil || e.Text != sent.Message || e.Who != chat.ByCustomer || !e.At.Equal(sent.AcceptedAt) {
			t.Errorf("question = %+v, %v", e, err)
		}
	})
}

func TestALaneRefusesAtExactlyItsBoundAndKeepsNothing(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Normal] = 3 }, func(t *testing.T, w *world) {
		for range 3 {
			w.accept(message("s", "taken"))
		}
		refused := message("other", "one too many")
		_, dup, err := w.Accept(t.Context(), refused, Claim{Key: "k", Body: "b"})
		if !errors.Is(err, ErrFull) || dup {
			t.Fatalf("accept into a full lane = %v, %v; want ErrFull", dup, err)
		}
		w.gone(refused.ID)
		w.depth(chat.Normal, 3)
		if seqs, head, _ := w.seqs("other", 0, 10); len(seqs) > 0 || head > 0 {
			t.Errorf("a refused message is in the talk log: %v", seqs)
		}
		if _, err := w.Session(t.Context(), "demo", "other"); !errors.Is(err, ErrNotFound) {
			t.Errorf("a refused message left a session: %v", err)
		}
		if n, err := w.Unrecorded(t.Context()); err != nil || n != 3 {
			t.Errorf("%d messages to record (%v), want the events of the 3", n, err)
		}
		w.finish(chat.Normal, "yes")
		got, dup, err := w.Accept(t.Context(), refused, Claim{Key: "k", Body: "b"})
		if err != nil || dup || got.ID != refused.ID || got.Seq != 1 {
			t.Errorf("the same request after a place became free = %+v, %v, %v", got, dup, err)
		}
		w.depth(chat.Normal, 3)
	})
}

func TestOneFullLaneRefusesForItselfOnly(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Low] = 1 }, func(t *testing.T, w *world) {
		for _, lane := range chat.Lanes() {
			m := message("s-"+string(lane), "hello")
			m.Lane = lane
			w.accept(m)
			m.ID = chat.NewTicketID()
			_, _, err := w.Accept(t.Context(), m, Claim{})
			if full := errors.Is(err, ErrFull); full != (lane == chat.Low) {
				t.Errorf("lane %s: err = %v", lane, err)
			}
		}
	})
}

func TestAFullStoreRefusesAndKeepsNothing(t *testing.T) {
	inBubble(t, func(_ *Config, s *ServerConfig) { s.MaxStore = 1 << 20 }, func(t *testing.T, w *world) {
		var refused chat.Ticket
		var err error
		for n := 0; err == nil && n < 100; n++ {
			refused = message("s", strings.Repeat("x", 30_000))
			_, _, err = w.Accept(t.Context(), refused, Claim{})
		}
		if !errors.Is(err, ErrStorage) {
			t.Fatalf("err = %v, want ErrStorage", err)
		}
		if jobs := w.try(chat.Normal, PullSize); slices.ContainsFunc(jobs, func(j *Job) bool { return j.Ticket.ID == refused.ID }) {
			t.Error("the refused message is in its lane")
		}
		w.gone(refused.ID)
	})
}

func TestAKeyWithAnotherBodyIsRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		first := message("s", "one")
		if _, _, err := w.Accept(t.Context(), first, Claim{Key: "k", Body: "b1"}); err != nil {
			t.Fatal(err)
		}
		second := message("s", "two")
		if _, _, err := w.Accept(t.Context(), second, Claim{Key: "k", Body: "b2"}); !errors.Is(err, ErrReused) {
			t.Errorf("err = %v, want ErrReused", err)
		}
		w.gone(second.ID)
		w.depth(chat.Normal, 1)
		other := message("s", "two")
		other.Tenant = "another"
		if got, dup, err := w.Accept(t.Context(), other, Claim{Key: "k", Body: "b2"}); err != nil || dup || got.ID != other.ID {
			t.Errorf("another tenant's key = %+v, %v, %v; want its own ticket", got, dup, err)
		}
	})
}

func TestTheSameRequestMeetsItsTicketInEveryState(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		first := message("s", "one")
		claim := Claim{Key: "k", Body: "b"}
		again := func(want chat.Status, events int) {
			t.Helper()
			w.wrote()
			got, dup, err := w.Accept(t.Context(), message("s", "one"), claim)
			if err != nil || got.ID != first.ID || got.Status != want || !dup {
				t.Errorf("again = %s %s, dup %v, %v; want the first, %s", got.ID, got.Status, dup, err, want)
			}
			if p := w.wrote(); !slices.Equal(p, []Point{IntakeKey}) {
				t.Errorf("the repeat wrote %v", p)
			}
			w.wantSeqs("s", 0, upTo(events)...)
		}
		if _, dup, err := w.Accept(t.Context(), first, claim); err != nil || dup {
			t.Fatal(dup, err)
		}
		again(chat.Queued, 1)
		j := w.pull(chat.Normal)
		s := w.run(j)
		again(chat.Running, 1)
		if _, err := w.End(t.Context(), j, answered(s, "yes")); err != nil {
			t.Fatal(err)
		}
		again(chat.Answered, 2)
		w.depth(chat.Normal, 0)
	})
}

func TestFiftyTimesTheSameRequestAtOnceIsOneTicket(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		var all sync.WaitGroup
		var mu sync.Mutex
		ids, news := map[string]bool{}, 0
		for range 50 {
			all.Go(func() {
				got, dup, err := w.Accept(t.Context(), message("s", "one"), Claim{Key: "k", Body: "b"})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Errorf("accept: %v", err)
				}
				ids[got.ID] = true
				if !dup {
					news++
				}
			})
		}
		all.Wait()
		if len(ids) != 1 || news != 1 {
			t.Errorf("%d tickets, %d of the answers say new; want one and one", len(ids), news)
		}
		w.depth(chat.Normal, 1)
		w.wantSeqs("s", 0, 1)
		for id := range ids {
			if s := w.ticket(id); s.Status != chat.Queued || s.Seq != 1 {
				t.Errorf("ticket = %+v", s)
			}
		}
	})
}

// The process died between the acceptance and what follows it.
func TestARepeatCompletesWhatACrashLeftAlsoInAFullLane(t *testing.T) {
	for _, at := range []Point{IntakeEvent, IntakeQueued} {
		inBubble(t, func(c *Config, _ *ServerConfig) { c.Bounds[chat.Normal] = 1 }, func(t *testing.T, w *world) {
			claim := Claim{Key: "k", Body: "b"}
			w.stop(at)
			first, dup, err := w.Accept(t.Context(), message("s", "one"), claim)
			if err != nil || dup || first.Seq != 0 {
				t.Fatalf("%s: accept = %+v, %v, %v; want accepted without its event", at, first, dup, err)
			}
			w.stop("")
			got, dup, err := w.Accept(t.Context(), message("s", "one"), claim)
			if err != nil || !dup || got.ID != first.ID || got.Seq != 1 || got.Status != chat.Queued {
				t.Errorf("%s: again = %+v, %v, %v; want the first, complete", at, got, dup, err)
			}
			w.depth(chat.Normal, 1)
			w.wantSeqs("s", 0, 1)
		})
	}
}

func TestAKeyExpiresAfterItsTime(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.KeepKey = 10 * time.Second }, func(t *testing.T, w *world) {
		if _, _, err := w.Accept(t.Context(), message("s", "one"), Claim{Key: "k", Body: "b"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Second)
		if _, _, err := w.Accept(t.Context(), message("s", "two"), Claim{Key: "k", Body: "b2"}); !errors.Is(err, ErrReused) {
			t.Errorf("a key before its time: %v, want ErrReused", err)
		}
		time.Sleep(3 * time.Second)
		next := message("s", "two")
		got, dup, err := w.Accept(t.Context(), next, Claim{Key: "k", Body: "b2"})
		if err != nil || dup || got.ID != next.ID {
			t.Errorf("a key after its time = %+v, %v, %v; want a new ticket", got, dup, err)
		}
	})
}
