package record

import (
	"context"
	"encoding/json"
	"time"

	"sluice/internal/chat"
	"sluice/internal/ledger"
	"sluice/internal/queue"
)

// record writes a batch in one transaction.
func record(ctx context.Context, book *ledger.Ledger, batch []*queue.Record) error {
	var tickets []ledger.TicketRow
	var events []ledger.EventRow
	for _, rec := range batch {
		// What cannot be read has no row; the bytes were written by this program, so
		// that is a record of a newer version, and its own recorder will know it.
		if rec.Ticket != nil {
			if row, err := ticketRow(rec); err == nil {
				tickets = append(tickets, row)
			}
		} else if row, err := eventRow(rec); err == nil {
			events = append(events, row)
		}
	}
	return book.Record(ctx, tickets, events)
}

func ticketRow(rec *queue.Record) (ledger.TicketRow, error) {
	var t chat.Ticket
	if err := json.Unmarshal(rec.Ticket, &t); err != nil {
		return ledger.TicketRow{}, err
	}
	row := ledger.TicketRow{
		Tenant: t.Tenant, ID: t.ID, Rev: rec.Rev, Session: t.Session, Lane: string(t.Lane), Status: string(t.Status),
		Intent: t.Intent, Urgent: t.Urgent, Route: string(t.Route), Level: t.Level, Reason: string(t.Reason),
		Vendor: t.Vendor, Model: t.Model, Attempts: t.Attempts, AcceptedAt: t.AcceptedAt, EndedAt: t.EndedAt,
		QueuedMs: between(&t.AcceptedAt, t.DecidedAt), HandledMs: between(t.DecidedAt, t.EndedAt), Body: rec.Ticket,
	}
	if t.Usage != nil {
		row.PromptTokens, row.CompletionTokens = int64(t.Usage.PromptTokens), int64(t.Usage.CompletionTokens)
	}
	return row, nil
}

func eventRow(rec *queue.Record) (ledger.EventRow, error) {
	var e chat.Event
	if err := json.Unmarshal(rec.Event, &e); err != nil {
		return ledger.EventRow{}, err
	}
	return ledger.EventRow{
		Tenant: rec.Tenant, Session: rec.Session, Seq: e.Seq, Ticket: e.Ticket,
		Kind: string(e.Kind), Who: string(e.Who), At: e.At, Body: rec.Event,
	}, nil
}

// between returns the milliseconds from one instant to another, 0 if either is missing.
func between(from, to *time.Time) int64 {
	if from == nil || to == nil {
		return 0
	}
	return to.Sub(*from).Milliseconds()
}
