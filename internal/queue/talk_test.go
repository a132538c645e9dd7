package queue

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestTwentyAppendsAtOnceAreGapless(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		var all sync.WaitGroup
		seqs := make(chan uint64, 20)
		for range 20 {
			all.Go(func() {
				got, _, err := w.Accept(t.Context(), message("s", "hello"), Claim{})
				if err != nil || got.Seq == 0 {
					t.Errorf("accept = seq %d, %v", got.Seq, err)
				}
				seqs <- got.Seq
			})
		}
		all.Wait()
		close(seqs)
		var got []uint64
		for seq := range seqs {
			got = append(got, seq)
		}
		slices.Sort(got)
		if !slices.Equal(got, upTo(20)) {
			t.Errorf("the tickets were told %v", got)
		}
		w.wantSeqs("s", 0, upTo(20)...)
		if s, err := w.Session(t.Context(), "demo", "s"); err != nil || s.Seq != 20 {
			t.Errorf("session = %+v, %v; want seq 20", s, err)
		}
	})
}

func TestAnEventIsAppendedOnce(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(message("s", "hello"))
		w.accept(message("s", "another"))
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if seq, err := w.appendEvent(t.Context(), IntakeEvent, &m, slotIn); err != nil || seq != 1 {
					t.Errorf("appended again = %d, %v; want 1", seq, err)
				}
			})
		}
		all.Wait()
		w.wantSeqs("s", 0, 1, 2)
		m.Cancel(chat.ReasonCustomer, time.Now())
		for range 20 {
			all.Go(func() {
				if seq, err := w.appendEvent(t.Context(), EndEvent, &m, slotFinal); err != nil || seq != 3 {
					t.Errorf("final appended = %d, %v; want 3", seq, err)
				}
			})
		}
		all.Wait()
		w.wantSeqs("s", 0, 1, 2, 3)
	})
}

func TestASessionNeverTouchesAnother(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.accept(message("s", "hello"))
		w.accept(message("s2", "hello"))
		other := message("s", "hello")
		other.Tenant = "another"
		w.accept(other)
		w.wantSeqs("s", 0, 1)
		w.wantSeqs("s2", 0, 1)
		if events, _, _, err := w.Events(t.Context(), "another", "s", 0, 9); err != nil || len(events) != 1 || events[0].Ticket != other.ID {
			t.Errorf("the other tenant's events = %v, %v", events, err)
		}
	})
}

// TestAnEmptyLogThatFillsHasNotExpired reads sessions without a pause while their first
// event is written.
func TestAnEmptyLogThatFillsHasNotExpired(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		for n := range 40 {
			session := fmt.Sprint("s", n)
			var reader sync.WaitGroup
			reader.Go(func() {
				for {
					events, head, ok, err := w.Events(t.Context(), "demo", session, 0, 9)
					if err != nil || !ok {
						t.Errorf("session %s: %d events, head %d, whole %t, %v", session, len(events), head, ok, err)
						return
					}
					if len(events) > 0 {
						return
					}
				}
			})
			w.accept(message(session, "hello"))
			reader.Wait()
		}
	})
}

func TestPagesOfEvents(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		for range 10 {
			w.accept(message("s", "hello"))
		}
		for name, c := range map[string]struct {
			session string
			after   uint64
			limit   int
			want    []uint64
			head    uint64
			ok      bool
		}{
			"all":                                    {session: "s", limit: 100, want: upTo(10), head: 10, ok: true},
			"a page":                                 {session: "s", after: 3, limit: 4, want: []uint64{4, 5, 6, 7}, head: 10, ok: true},
			"the last page":                          {session: "s", after: 7, limit: 4, want: []uint64{8, 9, 10}, head: 10, ok: true},
			"exactly the end":                        {session: "s", after: 7, limit: 3, want: []uint64{8, 9, 10}, head: 10, ok: true},
			"at the head":                            {session: "s", after: 10, limit: 4, head: 10, ok: true},
			"past the head":                          {session: "s", after: 11, limit: 4, head: 10},
			"unknown session":                        {session: "none", limit: 4, ok: true},
			"of an unknown session, after something": {session: "none", after: 2, limit: 4},
		} {
			if got, head, ok := w.seqs(c.session, c.after, c.limit); !slices.Equal(got, c.want) || head != c.head || ok != c.ok {
				t.Errorf("%s: %v, head %d, %v; want %v, %d, %v", name, got, head, ok, c.want, c.head, c.ok)
			}
		}
	})
}

func TestALogGoesOnAfterItsEventsHaveExpired(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.KeepEvents = 10 * time.Second }, func(t *testing.T, w *world) {
		w.accept(message("s", "one"))
		w.accept(message("s", "two"))
		time.Sleep(6 * time.Second)
		w.accept(message("s", "three"))
		time.Sleep(6 * time.Second) // the first two are gone
		for after, want := range []struct {
			seqs []uint64
			ok   bool
		}{{[]uint64{3}, false}, {[]uint64{3}, false}, {[]uint64{3}, true}, {nil, true}} {
			if got, head, ok := w.seqs("s", uint64(after), 9); !slices.Equal(got, want.seqs) || ok != want.ok || head != 3 {
				t.Errorf("after %d: %v, head %d, %v; want %+v", after, got, head, ok, want)
			}
		}
		time.Sleep(time.Minute) // all are
		for after, want := range []bool{false, false, false, true, false} {
			if got, head, ok := w.seqs("s", uint64(after), 9); len(got) > 0 || head != 3 || ok != want {
				t.Errorf("empty log after %d: %v, head %d, %v; want head 3, %v", after, got, head, ok, want)
			}
		}
		if got := w.accept(message("s", "four")); got.Seq != 4 {
			t.Errorf("the emptied log goes on at %d, want 4", got.Seq)
		}
		w.wantSeqs("s", 3, 4)
	})
}

// A crash between an event and the session's record must not begin the log again at 1.
func TestTheRecordKnowsOfAnEventThatACrashKeptFromIt(t *testing.T) {
	inBubble(t, func(c *Config, _ *ServerConfig) { c.KeepEvents = 10 * time.Second }, func(t *testing.T, w *world) {
		m := message("s", "one")
		w.stop(IntakeQueued)
		w.accept(m)
		w.stop("")
		if err := w.sessions.Purge(t.Context(), "demo.s"); err != nil { // as if the crash had come before it
			t.Fatal(err)
		}
		if _, err := w.Admit(t.Context(), w.pull(chat.Normal)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := w.accept(message("s", "two")); got.Seq != 2 {
			t.Errorf("seq %d after an expired 1, want 2", got.Seq)
		}
	})
}

func TestPastHoldsTheNewestAndWhatIsOpen(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		for range 5 {
			w.accept(message("s", "hello"))
			w.finish(chat.Normal, "yes")
		}
		open := w.accept(message("s", "open"))
		cancelled := w.accept(message("s", "cancelled"))
		if _, err := w.Cancel(t.Context(), cancelled.ID, chat.ReasonCustomer, time.Now()); err != nil {
			t.Fatal(err)
		}
		for _, keep := range []int{1, 2, 3, 12, 13, 14, 100} {
			past, err := w.Past(t.Context(), "demo", "s", keep)
			if err != nil {
				t.Fatal(err)
			}
			var got []uint64
			for _, e := range past.Events {
				got = append(got, e.Seq)
			}
			if want := upTo(13)[max(0, 13-keep):]; !slices.Equal(got, want) {
				t.Errorf("keep %d: %v, want %v", keep, got, want)
			}
			if len(past.Open) != 1 || past.Open[open.ID] != 11 || past.OpenBefore(11) || !past.OpenBefore(12) {
				t.Errorf("keep %d: open %v, want the ticket at 11 alone", keep, past.Open)
			}
		}
	})
}

func TestTheFeedGivesEveryEventOnceInOrder(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.accept(message("before", "not fed"))
		ctx, cancel := context.WithCancel(t.Context())
		ready, ended := make(chan struct{}), make(chan error, 1)
		var mu sync.Mutex
		got := map[string][]uint64{}
		go func() {
			ended <- w.Feed(ctx, ready, func(_, session string, e chat.Event) {
				mu.Lock()
				defer mu.Unlock()
				got[session] = append(got[session], e.Seq)
			})
		}()
		<-ready
		var all sync.WaitGroup
		for _, session := range []string{"a", "b"} {
			all.Go(func() {
				for range 10 {
					if _, _, err := w.Accept(t.Context(), message(session, "hello"), Claim{}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		time.Sleep(time.Second)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(got) != 2 || !slices.Equal(got["a"], upTo(10)) || !slices.Equal(got["b"], upTo(10)) {
			t.Errorf("fed %v", got)
		}
	})
}
