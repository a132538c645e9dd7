package ledger_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sluice/internal/ledger"
	"sluice/internal/ledger/ledgertest"
)

func TestEventsPageInOrder(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(t)
	april := noon.AddDate(0, 0, 1)
	record(t, l, nil, []ledger.EventRow{event(3, april), event(1, noon), event(2, noon), event(1, noon)})
	record(t, l, nil, []ledger.EventRow{event(2, noon), event(4, april)})
	for _, page := range []struct {
		after uint64
		limit int
		want  []uint64
	}{{0, 10, []uint64{1, 2, 3, 4}}, {0, 2, []uint64{1, 2}}, {2, 10, []uint64{3, 4}}, {4, 10, []uint64{}}, {0, 0, []uint64{}}, {1 << 63, 10, []uint64{}}} {
		if got := seqs(t, l, page.after, page.limit); !slices.Equal(got, page.want) {
			t.Errorf("after %d, limit %d: %v, want %v", page.after, page.limit, got, page.want)
		}
	}
	if other, err := l.Events(t.Context(), "other", "s_1", 0, 10); err != nil || len(other) != 0 {
		t.Errorf("another tenant reads %v, %v", other, err)
	}
}

func TestTicketOfAnotherTenantIsNotFound(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(t)
	record(t, l, []ledger.TicketRow{ticket("t_1", 1)}, nil)
	for _, key := range [][2]string{{"other", "t_1"}, {"demo", "t_2"}, {"demo", "\x00\xff"}} {
		if _, err := l.Ticket(t.Context(), key[0], key[1]); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestRecordMakesTheMonthAhead(t *testing.T) {
	t.Parallel()
	url := ledgertest.URL(t)
	record(t, openAt(t, url), []ledger.TicketRow{ticket("t_1", 1)}, nil)
	now := time.Now().UTC()
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	for _, month := range []time.Time{first, first.AddDate(0, 1, 0)} {
		name := "talk_events_" + month.Format("2006_01")
		if !query[bool](t, url, "select to_regclass($1) is not null", name) {
			t.Errorf("no %s", name)
		}
	}
}

func TestDropBeforeIsExact(t *testing.T) {
	t.Parallel()
	url := ledgertest.URL(t)
	l := openAt(t, url)
	limit := time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)
	var tickets []ledger.TicketRow
	var events []ledger.EventRow
	for i, at := range []time.Time{limit.AddDate(0, -2, 0), limit.AddDate(0, -1, 0), limit.Add(-time.Second), limit, limit.AddDate(0, 1, 0)} {
		row := ticket("t_"+string(rune('0'+i)), 1)
		row.AcceptedAt = at
		tickets, events = append(tickets, row), append(events, event(uint64(i), at))
	}
	record(t, l, tickets, events)
	gone, err := l.DropBefore(t.Context(), limit)
	if err != nil || gone != (ledger.Dropped{Tickets: 3, Events: 1, Months: 2}) {
		t.Errorf("dropped %+v, %v", gone, err)
	}
	if left, err := l.Events(t.Context(), "demo", "s_1", 0, 10); err != nil || len(left) != 2 {
		t.Errorf("%d events left, %v; want 2", len(left), err)
	}
	if got := query[int](t, url, "select count(*) from tickets"); got != 2 {
		t.Errorf("%d tickets left, want 2", got)
	}
	if gone, err = l.DropBefore(t.Context(), limit); err != nil || gone != (ledger.Dropped{}) {
		t.Errorf("dropped %+v once more, %v", gone, err)
	}
}

func TestRecordMakesAnewAMonthThatAnotherProcessDropped(t *testing.T) {
	t.Parallel()
	url := ledgertest.URL(t)
	recorder, janitor := openAt(t, url), openAt(t, url)
	record(t, recorder, nil, []ledger.EventRow{event(1, noon)})
	if _, err := janitor.DropBefore(t.Context(), noon.AddDate(0, 2, 0)); err != nil {
		t.Fatal(err)
	}
	record(t, recorder, nil, []ledger.EventRow{event(2, noon)})
	if got := seqs(t, recorder, 0, 10); !slices.Equal(got, []uint64{2}) {
		t.Errorf("events %v, want [2]", got)
	}
}

func TestMigrateByManyProcessesAtOnce(t *testing.T) {
	t.Parallel()
	url := ledgertest.URL(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), "create schema fresh")
	if err = errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	fresh := url + "&search_path=fresh"
	var wait sync.WaitGroup
	for range 3 {
		l := openAt(t, fresh)
		wait.Go(func() {
			if err := l.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	l := openAt(t, fresh)
	if err := l.Migrate(t.Context()); err != nil {
		t.Error(err)
	}
	record(t, l, []ledger.TicketRow{ticket("t_1", 1)}, []ledger.EventRow{event(1, noon)})
	if got := query[int](t, url, "select count(*) from fresh.tickets"); got != 1 {
		t.Errorf("%d rows in the fresh schema, want 1", got)
	}
}

func TestLedgerOutlivesLostConnections(t *testing.T) {
	t.Parallel()
	url := ledgertest.URL(t)
	l := openAt(t, url)
	record(t, l, []ledger.TicketRow{ticket("t_1", 1)}, nil)
	killed := query[int](t, url, `select count(pg_terminate_backend(pid)) from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)
	if killed == 0 {
		t.Fatal("no connection to lose")
	}
	for range 10 {
		err := l.Record(t.Context(), []ledger.TicketRow{ticket("t_1", 2)}, nil)
		if err == nil {
			return
		}
		if ledger.IsData(err) {
			t.Fatalf("a lost connection is blamed on the row: %v", err)
		}
	}
	t.Error("no connection is made anew")
}

func TestLedgerWithoutADatabase(t *testing.T) {
	t.Parallel()
	l := openAt(t, "postgres://nobody:secret@127.0.0.1:1/none?sslmode=disable")
	_, ticketErr := l.Ticket(t.Context(), "demo", "t_1")
	_, eventsErr := l.Events(t.Context(), "demo", "s_1", 0, 10)
	_, dropErr := l.DropBefore(t.Context(), noon)
	for name, err := range map[string]error{
		"ping": l.Ping(t.Context()), "migrate": l.Migrate(t.Context()), "ticket": ticketErr, "events": eventsErr, "drop": dropErr,
		"record": l.Record(t.Context(), []ledger.TicketRow{ticket("t_1", 1)}, nil),
	} {
		if err == nil || ledger.IsData(err) || errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the password: %v", name, err)
		}
	}
}

func TestOpenNamesTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	for field, cfg := range map[string]ledger.Config{"URL": {}, "MaxConns": {URL: "postgres:///x", MaxConns: -1}} {
		if _, err := ledger.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("error %v does not name %s", err, field)
		}
	}
	if _, err := ledger.Open(t.Context(), ledger.Config{URL: "postgres://u:secret@h:bad/x"}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a bad url: %v", err)
	}
}
