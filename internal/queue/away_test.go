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

// bySocket is a message that came in over a socket.
func bySocket(session, text string) chat.Ticket {
	m := message(session, text)
	m.CMID = "c1"
	return m
}

func (w *world) awaited(session string, want ...string) {
	w.t.Helper()
	all, err := w.Awaited(w.t.Context(), "demo", session)
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []string
	for _, t := range all {
		ids = append(ids, t.ID)
	}
	if !slices.Equal(ids, want) {
		w.t.Errorf("session %s awaits %v, want %v", session, ids, want)
	}
}

func TestOnlyWhatNobodyElseHearsOfIsAwaited(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		w.awaited("s")
		for _, change := range []func(*chat.Ticket){
			func(m *chat.Ticket) { m.CMID = "" },
			func(m *chat.Ticket) { m.Phone = "+8613800138000" },
			func(m *chat.Ticket) { m.CallbackURL = "https://shop.example/a" },
			func(m *chat.Ticket) { m.Lane = chat.Deferred },
			func(m *chat.Ticket) { m.Session = "other" },
		} {
			m := bySocket("s", "hello")
			change(&m)
			w.accept(m)
		}
		ended := bySocket("s", "ended")
		ended.Lane = chat.High
		w.accept(ended)
		w.finish(chat.High, "yes")
		low := bySocket("s", "running")
		low.Lane = chat.Low
		running := w.accept(low)
		w.run(w.pull(chat.Low))
		queued := w.accept(bySocket("s", "queued"))
		w.awaited("s", running.ID, queued.ID)
	})
}

// departures collects what is told.
type departures struct {
	mu  sync.Mutex
	all []string
}

func (d *departures) visit(x Departure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, fmt.Sprintf("%s.%s %v", x.Tenant, x.Session, x.Rev > 0))
}

func (d *departures) told() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.all
	d.all = nil
	return all
}

func (w *world) depart(session string) Departure {
	w.t.Helper()
	if err := w.Depart(w.t.Context(), "demo", session); err != nil {
		w.t.Fatal(err)
	}
	entry, err := w.away.Get(w.t.Context(), awayKey("demo", session))
	if err != nil {
		w.t.Fatal(err)
	}
	return Departure{Tenant: "demo", Session: session, Rev: entry.Revision()}
}

func TestDeparturesAreToldOnceAndSoIsTheirWithdrawal(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		before := w.depart("before")
		ctx, cancel := context.WithCancel(t.Context())
		var seen departures
		var watch sync.WaitGroup
		watch.Go(func() { w.Departures(ctx, seen.visit) })
		time.Sleep(time.Second)
		w.depart("s_-1")
		again := w.depart("s_-1")
		time.Sleep(4 * relistAway) // it is read anew, and not told anew
		if got, want := seen.told(), []string{"demo.before true", "demo.s_-1 true", "demo.s_-1 true"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
		for _, d := range []Departure{before, again} {
			if mine, err := w.Withdraw(t.Context(), d); !mine || err != nil {
				t.Errorf("withdraw: %v, %v", mine, err)
			}
		}
		time.Sleep(4 * relistAway)
		if got, want := seen.told(), []string{"demo.before false", "demo.s_-1 false"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
		w.depart("last")
		time.Sleep(keepAway + 2*relistAway)
		if got, want := seen.told(), []string{"demo.last true", "demo.last false"}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
		cancel()
		watch.Wait()
	})
}

// A watch that is open while its server changes may miss something: it is read anew.
func TestDeparturesThatAWatchMissedAreTold(t *testing.T) {
	t.Parallel()
	known := map[string]uint64{"demo.gone": 3, "demo.same": 4, "demo.newer": 5}
	var told []string
	visit := func(d Departure) { told = append(told, fmt.Sprint(d.Session, d.Rev)) }
	for key, rev := range map[string]uint64{"demo.same": 4, "demo.newer": 6} {
		tellAway(known, key, rev, visit)
	}
	tellAway(known, "demo.gone", 0, visit)
	tellAway(known, "demo.gone", 0, visit)
	if want := []string{"newer6", "gone0"}; !slices.Equal(told, want) || len(known) != 2 {
		t.Errorf("told %v, know %v", told, known)
	}
}

func TestOfManyWhoActOnADepartureOneDoes(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		kept := message("s", "by http")
		w.accept(kept)
		first, second := w.accept(bySocket("s", "hello")), w.accept(bySocket("s", "again"))
		d := w.depart("s")
		var all sync.WaitGroup
		counts := make(chan int, 10)
		for range 10 {
			all.Go(func() {
				n, err := w.Abandon(t.Context(), d, time.Now())
				if err != nil {
					t.Errorf("abandon: %v", err)
				}
				counts <- n
			})
		}
		all.Wait()
		close(counts)
		total := 0
		for n := range counts {
			if total += n; n != 0 && n != 2 {
				t.Errorf("one cancelled %d", n)
			}
		}
		if total != 2 {
			t.Errorf("%d cancelled in all, want 2", total)
		}
		for _, id := range []string{first.ID, second.ID} {
			if got := w.ticket(id); got.Status != chat.Cancelled || got.Reason != chat.ReasonAbandoned {
				t.Errorf("%s (%s)", got.Status, got.Reason)
			}
		}
		if got := w.ticket(kept.ID); got.Status != chat.Queued {
			t.Errorf("what came in over HTTP is %s", got.Status)
		}
		w.depth(chat.Normal, 1)
		w.wantSeqs("s", 0, upTo(5)...)
	})
}

func TestAWithdrawnDepartureAbandonsNothing(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, w *world) {
		m := w.accept(bySocket("s", "hello"))
		old := w.depart("s")
		present := w.depart("s") // from another node, a little later
		for _, d := range []Departure{old, {Tenant: "demo", Session: "s", Rev: 99}} {
			if n, err := w.Abandon(t.Context(), d, time.Now()); n != 0 || err != nil {
				t.Errorf("abandoned %d, %v", n, err)
			}
		}
		if mine, err := w.Withdraw(t.Context(), present); !mine || err != nil {
			t.Errorf("withdraw: %v, %v", mine, err)
		}
		if n, err := w.Abandon(t.Context(), present, time.Now()); n != 0 || err != nil {
			t.Errorf("abandoned %d, %v", n, err)
		}
		if got := w.ticket(m.ID); got.Status != chat.Queued {
			t.Errorf("the ticket is %s", got.Status)
		}
	})
}
