package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/ledger"
	"sluice/internal/ledger/ledgertest"
	"sluice/internal/queue"
)

// wantRecorded compares the ledger with what the engine says, row by row.
func (w *world) wantRecorded(book *ledger.Ledger, tickets []chat.Ticket) {
	w.t.Helper()
	perSession := map[string]int{}
	for _, want := range tickets {
		perSession[want.Session] += 2
		row, err := book.Ticket(w.t.Context(), "demo", want.ID)
		if err != nil {
			w.t.Errorf("ticket %s: %v", want.ID, err)
			continue
		}
		var got chat.Ticket
		if err := json.Unmarshal(row.Body, &got); err != nil {
			w.t.Fatal(err)
		}
		live, err := w.q.Ticket(w.t.Context(), want.ID)
		if err != nil || !reflect.DeepEqual(got, live.Ticket) {
			w.t.Errorf("the ledger holds %+v, the engine %+v (%v)", got, live.Ticket, err)
		}
		if row.Status != string(want.Status) || row.Route != string(want.Route) || row.Session != want.Session || row.Attempts != want.Attempts || row.EndedAt == nil || row.Rev == 0 {
			w.t.Errorf("row %+v of ticket %+v", row, want)
		}
		if want.Usage != nil && row.CompletionTokens != int64(want.Usage.CompletionTokens) {
			w.t.Errorf("%d tokens, want %d", row.CompletionTokens, want.Usage.CompletionTokens)
		}
	}
	for session, n := range perSession {
		rows, err := book.Events(w.t.Context(), "demo", session, 0, 1000)
		events, _, ok, err2 := w.q.Events(w.t.Context(), "demo", session, 0, 1000)
		if err := errors.Join(err, err2); err != nil || !ok || len(rows) != n || len(events) != n {
			w.t.Fatalf("session %s: %d rows of %d events, want %d (%v)", session, len(rows), len(events), n, err)
		}
		for i, row := range rows {
			var got chat.Event
			if err := json.Unmarshal(row.Body, &got); err != nil || !reflect.DeepEqual(got, events[i]) {
				w.t.Errorf("event %d is %+v, want %+v", i, got, events[i])
			}
			if row.Seq != uint64(i+1) || row.Ticket != events[i].Ticket || row.Who != string(events[i].Who) || row.Kind != string(events[i].Kind) {
				w.t.Errorf("row %+v of event %+v", row, events[i])
			}
		}
	}
}

func (w *world) talks(n int) []chat.Ticket {
	w.t.Helper()
	var all []chat.Ticket
	for i := range n {
		all = append(all, w.talk(fmt.Sprint("s", i%3), i))
	}
	return all
}

func TestEndsAndEventsReachTheLedgerOnceWhateverIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	book := ledgertest.New(t)
	w.book.Store(book)
	tickets := w.talks(12)
	stop := w.start()
	w.caughtUp()
	w.wantRecorded(book, tickets)
	stop()
	// The recorder's place in both logs is lost: it is given all of it again.
	for _, src := range []queue.Source{queue.Stories, queue.Talks} {
		if err := w.stream().DeleteConsumer(t.Context(), string(src), "record"); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.unrecorded(); n != 12+24 {
		t.Fatalf("%d are to be recorded again, want 36", n)
	}
	tickets = append(tickets, w.talks(3)...)
	w.start()
	w.caughtUp()
	w.wantRecorded(book, tickets)
}

func TestADatabaseThatComesLateGetsAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	tickets := w.talks(5)
	if n := w.unrecorded(); n != 5+10 {
		t.Errorf("%d unrecorded without a database, want 15", n)
	}
	book := ledgertest.New(t)
	w.book.Store(book)
	w.caughtUp()
	w.wantRecorded(book, tickets)
}

// The database goes and comes back while the recorder runs.
func TestADatabaseThatWasAwayCatchesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	book := ledgertest.New(t)
	away, err := ledger.Open(t.Context(), ledger.Config{URL: "postgres://nobody@/none?host=" + t.TempDir() + "&connect_timeout=1", Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(away.Close)
	w.book.Store(book)
	w.start()
	tickets := w.talks(4)
	w.caughtUp()
	w.book.Store(away)
	w.passes(2 * batchWait) // a batch that was begun may still go to the former
	tickets = append(tickets, w.talks(4)...)
	w.passes(3 * awayPause)
	if n := w.unrecorded(); n != 4+8 {
		t.Errorf("%d unrecorded while the database is away, want 12", n)
	}
	w.book.Store(book)
	w.caughtUp()
	w.wantRecorded(book, tickets)
}

func TestAPoisonRecordIsLeftOutAndTheOthersAreRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	book := ledgertest.New(t)
	tickets := w.talks(3)
	w.tell("story.demo.t_zero", `{"id":"t_zero","tenant":"demo","session":"p","accepted_at":"0001-01-01T00:00:00Z"}`)
	w.tell("story.demo.t_garbage", "\xff not JSON")
	w.tell("story.demo.t_type", `{"id":7}`)
	w.tell("talk.demo.p.t_zero.in", `{"seq":1,"at":"0001-01-01T00:00:00Z"}`)
	w.tell("talk.demo.p.t_garbage.in", "{")
	w.tell("talk.demo.p.t_huge.in", `{"seq":18446744073709551615,"at":"2026-03-01T00:00:00Z"}`)
	tickets = append(tickets, w.talks(3)...)
	w.book.Store(book)
	w.start()
	w.caughtUp()
	w.wantRecorded(book, tickets)
	if rows, err := book.Events(t.Context(), "demo", "p", 0, 10); err != nil || len(rows) > 0 {
		t.Errorf("poison is in the ledger: %+v, %v", rows, err)
	}
	if _, err := book.Ticket(t.Context(), "demo", "t_zero"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("poison is in the ledger: %v", err)
	}
}

func TestAStoppedRecorderEndsAtOnceAndLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	book := ledgertest.New(t)
	w.book.Store(book)
	var tickets []chat.Ticket
	for range 4 {
		stop := w.start()
		tickets = append(tickets, w.talks(2)...)
		began := time.Now()
		stop()
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("stopped after %s", took)
		}
	}
	w.start()
	w.caughtUp() // what a stopped recorder held comes again after the acknowledgement's time
	w.wantRecorded(book, tickets)
}
