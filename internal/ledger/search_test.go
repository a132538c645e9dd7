package ledger_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/ledger"
	"sluice/internal/ledger/ledgertest"
)

// TestSearchFindsWhatTheFilterTakes holds the database against the filter itself, page after
// page, with several tickets of one microsecond.
func TestSearchFindsWhatTheFilterTakes(t *testing.T) {
	t.Parallel()
	l := ledgertest.New(t)
	var all []chat.Ticket
	var rows []ledger.TicketRow
	for i := range 60 {
		ticket := chat.Ticket{
			ID: fmt.Sprintf("t_%s%s", strings.Repeat("A", 24), string("ABCDEFGH"[i/8])+string("ABCDEFGH"[i%8])), Tenant: []string{"demo", "shop"}[i%2],
			Session: fmt.Sprint("s", i%7), Lane: chat.Lanes()[i%5], Status: []chat.Status{chat.Answered, chat.Answered, chat.Cancelled, chat.Failed}[i%4],
			Route: []chat.Route{chat.RouteAgent, chat.RouteTemplate, ""}[i%3], Reason: []chat.Reason{"", chat.ReasonOverdue, chat.ReasonError}[i%3],
			AcceptedAt: noon.Add(time.Duration(i/4)*time.Microsecond + time.Duration(i%4)),
		}
		body, err := json.Marshal(ticket)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ticket)
		rows = append(rows, ledger.TicketRow{
			Tenant: ticket.Tenant, ID: ticket.ID, Rev: 1, Session: ticket.Session, Lane: string(ticket.Lane), Status: string(ticket.Status),
			Route: string(ticket.Route), Reason: string(ticket.Reason), AcceptedAt: ticket.AcceptedAt, Body: body,
		})
	}
	record(t, l, rows, nil)
	for _, f := range []chat.TicketFilter{
		{}, {Tenant: "shop"}, {Session: "s3"}, {Tenant: "demo", Session: "s4"}, {Lane: chat.High}, {Status: chat.Answered}, {Status: chat.Failed},
		{Status: chat.Queued}, {Life: chat.LifeOpen}, {Life: chat.LifeEnded}, {Route: chat.RouteTemplate}, {Reason: chat.ReasonOverdue},
		{Reason: chat.ReasonError, Status: chat.Cancelled}, {From: noon.Add(3 * time.Microsecond), To: noon.Add(5 * time.Microsecond)}, {Tenant: "'; drop table tickets; --"},
	} {
		var want []chat.TicketMark
		for i := range all {
			if f.Takes(&all[i]) {
				want = append(want, chat.MarkOf(&all[i]))
			}
		}
		slices.SortFunc(want, chat.TicketMark.Compare)
		var got, marks []chat.TicketMark
		for after := (chat.TicketMark{}); ; after = got[len(got)-1] {
			page, err := l.Search(t.Context(), f, after, 7)
			if err != nil {
				t.Fatal(err)
			}
			for _, body := range page {
				var found chat.Ticket
				if err := json.Unmarshal(body, &found); err != nil {
					t.Fatal(err)
				}
				got = append(got, chat.MarkOf(&found))
			}
			if len(page) < 7 {
				break
			}
		}
		marks, err := l.Marks(t.Context(), f, chat.TicketMark{}, 1000)
		if err != nil || !slices.Equal(got, want) || !slices.Equal(marks, want) {
			t.Errorf("%+v: found %d and %d (%v), want %d", f, len(got), len(marks), err, len(want))
		}
	}
	if row, err := l.TicketOf(t.Context(), all[9].ID); err != nil || row.Tenant != all[9].Tenant {
		t.Errorf("%+v, %v", row, err)
	}
	if _, err := l.TicketOf(t.Context(), "t_nobody"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("nobody's: %v", err)
	}
}

// BenchmarkSearch searches 100,000 tickets of 2 kB, of which one in a thousand failed.
func BenchmarkSearch(b *testing.B) {
	url := ledgertest.URL(b)
	conn, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close(b.Context()) }()
	_, err = conn.Exec(b.Context(), `insert into tickets (tenant, id, rev, session, lane, status, route, reason, accepted_at, body)
		select 'tenant-' || i % 20, 't_' || lpad(i::text, 26, '0'), 1, 's-' || i / 5, (array['high','normal','low'])[1 + i % 3],
			case when i % 1000 = 0 then 'failed' else 'answered' end, case when i % 50 = 0 then 'template' else 'agent' end,
			case when i % 5000 = 0 then 'error' when i % 50 = 0 then 'overdue' else '' end,
			timestamptz '2026-03-01' + i * interval '1 second', jsonb_build_object('id', i, 'message', repeat(md5(i::text), 60))
		from generate_series(1, 100000) i`)
	if err == nil {
		_, err = conn.Exec(b.Context(), "analyze tickets")
	}
	if err != nil {
		b.Fatal(err)
	}
	l, err := ledger.Open(b.Context(), ledger.Config{URL: url, Log: zerolog.Nop()})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	middle := chat.TicketMark{At: time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC), ID: "t_" + strings.Repeat("0", 26)}
	for _, c := range []struct {
		name   string
		filter chat.TicketFilter
		after  chat.TicketMark
	}{
		{"all", chat.TicketFilter{}, chat.TicketMark{}},
		{"middle", chat.TicketFilter{}, middle},
		{"session", chat.TicketFilter{Session: "s-777"}, chat.TicketMark{}},
		{"tenant", chat.TicketFilter{Tenant: "tenant-7"}, middle},
		{"template", chat.TicketFilter{Route: chat.RouteTemplate}, middle},
		{"failed", chat.TicketFilter{Status: chat.Failed}, middle},
		{"error", chat.TicketFilter{Reason: chat.ReasonError, Tenant: "tenant-0"}, middle},
		{"none", chat.TicketFilter{Reason: chat.ReasonHuman}, chat.TicketMark{}},
		{"empty time", chat.TicketFilter{From: middle.At.AddDate(0, 1, 0), Lane: chat.Low}, chat.TicketMark{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := l.Search(b.Context(), c.filter, c.after, 51); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("marks", func(b *testing.B) {
		for b.Loop() {
			if m, err := l.Marks(b.Context(), chat.TicketFilter{Status: chat.Answered}, chat.TicketMark{}, 10_000); err != nil || len(m) != 10_000 {
				b.Fatal(len(m), err)
			}
		}
	})
}
