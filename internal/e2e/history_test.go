//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestWithoutADatabaseEverythingRunsButHistory(t *testing.T) {
	// PostgreSQL's place is taken by a file: none can be started there.
	taken := newDir(t)
	if err := os.MkdirAll(taken, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(taken, "postgres"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		setup
		state string
	}{
		"the server is away":  {setup{}, "away"},
		"no server to be had": {setup{dir: taken, env: []string{"SLUICE_DATABASE_URL="}}, "none to be had"},
	} {
		t.Run(name, func(t *testing.T) {
			i := start(t, c.setup)
			await(t, 20*time.Second, "readyz tells of the database", func() bool { return i.database() == c.state })
			got := i.end(i.ask(question{Message: "Where is my parcel?"}).TicketID, 20*time.Second)
			if got.Route != "agent" {
				t.Errorf("%+v, want an answer of the agent", got)
			}
			i.checkTold(got.SessionID, got)
			if _, err := i.ticket(got.TicketID); err != nil {
				t.Errorf("a ticket of today: %v", err)
			}
			_, err := i.ticket(unknown)
			refused(t, err, http.StatusServiceUnavailable, "history_unavailable")
			i.stop()
		})
	}
}

// database returns the state of the database as /readyz tells it.
func (i *instance) database() string {
	i.t.Helper()
	var ready struct {
		Checks []struct{ Name, State string }
	}
	if err := i.call(call{url: "/readyz"}, &ready); err != nil {
		i.t.Errorf("readyz: %v", err)
	}
	for _, c := range ready.Checks {
		if c.Name == "database" {
			return c.State
		}
	}
	return ""
}

// TestTheLedgerIsWholeAfterTheDatabaseWasKilledAgainAndAgain: no caller notices, and
// when the database is back it gets every ticket and every event once.
func TestTheLedgerIsWholeAfterTheDatabaseWasKilledAgainAndAgain(t *testing.T) {
	const n, sessions, kills = 600, 150, 4
	i := start(t, setup{rules: patientRules, env: []string{"SLUICE_DATABASE_URL="}})
	await(t, time.Minute, "the database is ready", func() bool { return i.database() == "ready" })
	_, err := i.ticket(unknown)
	refused(t, err, http.StatusNotFound, "not_found")

	asked := make([]ticket, n)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		each(n, 40, func(k int) {
			asked[k] = i.ask(question{Message: fmt.Sprintf("Where is my parcel %d?", k), SessionID: fmt.Sprintf("ledger-%d", k%sessions)})
			asked[k] = i.end(asked[k].TicketID, time.Minute)
		})
	}()
	for range kills {
		await(t, 30*time.Second, "the database is back", func() bool { return i.database() == "ready" })
		poll(300*time.Millisecond, func() bool { return false }) // so that it is in the midst of its work
		if pid := i.postmaster(); pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
			t.Fatal("PostgreSQL answers, and its process cannot be killed")
		}
		await(t, 5*time.Second, "the database is away", func() bool { return i.database() == "away" })
	}
	select {
	case <-answered:
		t.Error("the load was over before the last kill")
	default:
	}
	<-answered
	for _, got := range asked {
		if got.Status != "answered" || got.Route != "agent" {
			t.Errorf("%+v, want an answer of the agent", got)
		}
	}
	begun := time.Now()
	book := i.ledger()
	await(t, time.Minute, "the ledger has every event", func() bool { return book.count("select count(*) from talk_events") >= 2*n })
	await(t, time.Minute, "the ledger has every ticket", func() bool { return book.count("select count(*) from tickets where status = 'answered'") >= n })
	t.Logf("PostgreSQL killed %d times; the ledger was whole %s after the last answer", kills, time.Since(begun).Round(time.Millisecond))
	book.checkWhole(asked, sessions)
	i.stop()
	if pid := i.postmaster(); pid != 0 {
		t.Errorf("PostgreSQL, process %d, runs on after the stop", pid)
	}
}

// ledger is a connection to the private database of an instance.
type ledger struct {
	t    *testing.T
	conn *pgx.Conn
}

func (i *instance) ledger() *ledger {
	i.t.Helper()
	l := &ledger{t: i.t}
	await(i.t, time.Minute, "the database accepts connections", func() bool {
		sockets, _ := filepath.Glob(filepath.Join(i.dir, "postgres", "pg*", "run"))
		if len(sockets) != 1 {
			return false
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, "postgres:///sluice?user=sluice&host="+sockets[0])
		l.conn = conn
		return err == nil
	})
	i.t.Cleanup(func() { _ = l.conn.Close(context.Background()) })
	return l
}

func (l *ledger) count(query string, args ...any) (n int) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := l.conn.QueryRow(ctx, query, args...).Scan(&n); err != nil {
		l.t.Fatal(err)
	}
	return n
}

// checkWhole asserts that the ledger has these tickets, each with its two events, and
// nothing else and nothing twice.
func (l *ledger) checkWhole(tickets []ticket, sessions int) {
	l.t.Helper()
	rows, _ := l.conn.Query(context.Background(), "select id from tickets order by id") // the error comes with the rows
	recorded, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		l.t.Fatal(err)
	}
	var ended []string
	for _, t := range tickets {
		ended = append(ended, t.TicketID)
	}
	slices.Sort(ended)
	if !slices.Equal(recorded, ended) {
		l.t.Errorf("the ledger has %d tickets, want the %d that ended", len(recorded), len(ended))
	}
	for what, c := range map[string]struct {
		query string
		want  int
	}{
		"events":                       {"select count(*) from talk_events", 2 * len(tickets)},
		"tickets with one final event": {"select count(*) from (select ticket from talk_events where who = 'bot' group by ticket having count(*) = 1) as t", len(tickets)},
		"sessions whose seq is gapless": {"select count(*) from (select session from talk_events group by session " +
			"having count(distinct seq) = count(*) and min(seq) = 1 and max(seq) = count(*)) as s", sessions},
	} {
		if got := l.count(c.query); got != c.want {
			l.t.Errorf("%s in the ledger: %d, want %d", what, got, c.want)
		}
	}
}
