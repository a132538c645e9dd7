package ledger_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"sluice/internal/ledger"
	"sluice/internal/ledger/ledgertest"
)

func TestMain(m *testing.M) { ledgertest.Main(m) }

var noon = time.Date(2026, 3, 31, 12, 0, 0, 123456000, time.UTC)

func ticket(id string, rev uint64) ledger.TicketRow {
	return ledger.TicketRow{
		Tenant: "demo", ID: id, Rev: rev, Session: "s_1", Lane: "normal", Status: "queued", AcceptedAt: noon,
		Body: json.RawMessage(fmt.Sprintf(`{"ticket_id":%q,"rev":%d}`, id, rev)),
	}
}

func event(seq uint64, at time.Time) ledger.EventRow {
	return ledger.EventRow{
		Tenant: "demo", Session: "s_1", Seq: seq, Ticket: "t_1", Kind: "message", Who: "customer", At: at,
		Body: json.RawMessage(fmt.Sprintf(`{"seq": %d}`, seq)),
	}
}

func record(t *testing.T, l *ledger.Ledger, tickets []ledger.TicketRow, events []ledger.EventRow) {
	t.Helper()
	if err := l.Record(t.Context(), tickets, events); err != nil {
		t.Fatal(err)
	}
}

func openAt(t *testing.T, url string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), ledger.Config{URL: url, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// query asks the database behind the ledger's back.
func query[T any](t *testing.T, url, sql string, args ...any) (out T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func seqs(t *testing.T, l *ledger.Ledger, after uint64, limit int) []uint64 {
	t.Helper()
	rows, err := l.Events(t.Context(), "demo", "s_1", after, limit)
	if err != nil {
		t.Fatal(err)
	}
	out := []uint64{}
	for _, r := range rows {
		out = append(out, r.Seq)
	}
	return out
}
