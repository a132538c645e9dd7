package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/ledger"
	"sluice/internal/ledger/ledgertest"
	"sluice/internal/queue"
	"sluice/internal/record"
)

// archive is a history over a real database, which may go away.
type archive struct {
	*ledger.Ledger
	away atomic.Bool
}

var errGone = errors.New("the database is away")

func (b *archive) Ticket(ctx context.Context, tenant, id string) (json.RawMessage, error) {
	row, err := b.Ledger.Ticket(ctx, tenant, id)
	return b.body(row, id, err)
}

func (b *archive) TicketOf(ctx context.Context, id string) (json.RawMessage, error) {
	row, err := b.Ledger.TicketOf(ctx, id)
	return b.body(row, id, err)
}

func (b *archive) body(row ledger.TicketRow, id string, err error) (json.RawMessage, error) {
	switch {
	case b.away.Load():
		return nil, errGone
	case errors.Is(err, ledger.ErrNotFound):
		return nil, fmt.Errorf("ticket %s: %w", id, queue.ErrNotFound)
	}
	return row.Body, err
}

func (b *archive) Events(context.Context, string, string, uint64, int) ([]chat.Event, error) {
	return nil, nil
}

func (b *archive) Search(ctx context.Context, f chat.TicketFilter, after chat.TicketMark, limit int) ([]json.RawMessage, error) {
	if b.away.Load() {
		return nil, errGone
	}
	return b.Ledger.Search(ctx, f, after, limit)
}

func (b *archive) Marks(ctx context.Context, f chat.TicketFilter, after chat.TicketMark, limit int) ([]chat.TicketMark, error) {
	if b.away.Load() {
		return nil, errGone
	}
	return b.Ledger.Marks(ctx, f, after, limit)
}

// recorded gives a node of nodes a history that a recorder writes.
func recorded(t *testing.T, f *fixture) *archive {
	t.Helper()
	b := &archive{Ledger: ledgertest.New(t)}
	f.deps.History = b
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	r := record.New(f.queue, func() *ledger.Ledger { return b.Ledger }, func() time.Duration { return 90 * 24 * time.Hour }, zerolog.Nop())
	go func() { defer close(ended); _ = r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return b
}

// settled waits until the history has all that has ended.
func (f *fixture) settled() {
	f.t.Helper()
	f.await("the recorder", func() bool {
		n, err := f.queue.Unrecorded(f.t.Context())
		return err == nil && n == 0
	})
}

// wonder submits a message of shop's and returns its ticket.
func (f *fixture) wonder(text, session string) string {
	f.t.Helper()
	body := map[string]any{"message": text}
	if session != "" {
		body["session_id"] = session
	}
	return f.send(f.shop.Secret, body).text("ticket_id")
}

// endAs ends the next ticket of a lane on a route.
func (f *fixture) endAs(lane chat.Lane, route chat.Route, reason chat.Reason) string {
	f.t.Helper()
	job, s := f.take(lane)
	s.Answer(chat.Answer{Reply: chat.Reply{Text: "later", HTML: "later", Locale: "en"}, Route: route, Reason: reason}, time.Now().UTC())
	_, err := f.queue.End(f.t.Context(), job, s)
	must(f.t, err)
	return s.ID
}

// found searches, page after page, and returns the ids with how often each page said partial.
func (f *fixture) found(query string, limit int) (ids []string, partial int) {
	f.t.Helper()
	after := ""
	for range 100 {
		a := f.admin("GET", fmt.Sprintf("tickets?limit=%d&%s&after=%s", limit, query, url.QueryEscape(after)), nil)
		if a.status != 200 {
			f.t.Fatalf("search %s: %d %s", query, a.status, a.raw)
		}
		var page TicketPage
		must(f.t, json.Unmarshal(a.raw, &page))
		for _, t := range page.Tickets {
			ids = append(ids, t.TicketID)
		}
		if page.Partial {
			partial++
		}
		if after = page.Next; after == "" {
			return ids, partial
		}
	}
	f.t.Fatalf("the search %s has no end: %s", query, strings.Join(ids, " "))
	return nil, 0
}
