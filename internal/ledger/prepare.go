package ledger

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Times outside are a fault of the writer: each would make a partition of its own.
const firstYear, lastYear = 2000, 2199

// cleanTickets returns the highest revision of each ticket, fit for the database: one statement must not meet a row
// twice. They are sorted by key, so that two recorders cannot each hold a row that the other waits for.
func cleanTickets(rows []TicketRow) ([]TicketRow, error) {
	out := slices.Clone(rows)
	for i := range out {
		r := &out[i]
		for _, text := range []*string{&r.Tenant, &r.ID, &r.Session, &r.Lane, &r.Status, &r.Intent, &r.Route,
			&r.Reason, &r.Vendor, &r.Model} {
			*text = cleanText(*text)
		}
		if r.Tenant == "" || r.ID == "" || r.Rev > math.MaxInt64 || !sane(r.AcceptedAt) {
			return nil, dataErrorf("ticket %q of %q: revision %d accepted at %v", r.ID, r.Tenant, r.Rev, r.AcceptedAt)
		}
		body, ok := cleanJSON(r.Body)
		if !ok {
			return nil, dataErrorf("ticket %q of %q: body is no JSON", r.ID, r.Tenant)
		}
		r.Body = []byte(body)
	}
	slices.SortStableFunc(out, func(a, b TicketRow) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.ID, b.ID), cmp.Compare(b.Rev, a.Rev))
	})
	return slices.CompactFunc(out, func(a, b TicketRow) bool { return a.Tenant == b.Tenant && a.ID == b.ID }), nil
}

// cleanEvents returns the events fit for the database, sorted by key for the same reason.
func cleanEvents(rows []EventRow) ([]EventRow, error) {
	out := slices.Clone(rows)
	for i := range out {
		r := &out[i]
		for _, text := range []*string{&r.Tenant, &r.Session, &r.Ticket, &r.Kind, &r.Who} {
			*text = cleanText(*text)
		}
		if r.Tenant == "" || r.Session == "" || r.Seq > math.MaxInt64 || !sane(r.At) {
			return nil, dataErrorf("event %d of session %q of %q: at %v", r.Seq, r.Session, r.Tenant, r.At)
		}
		body, ok := cleanJSON(r.Body)
		if !ok {
			return nil, dataErrorf("event %d of session %q of %q: body is no JSON", r.Seq, r.Session, r.Tenant)
		}
		r.Body = []byte(body)
	}
	slices.SortStableFunc(out, func(a, b EventRow) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq))
	})
	return out, nil
}

func sane(t time.Time) bool {
	year := t.UTC().Year()
	return year >= firstYear && year <= lastYear
}

func ticketArgs(rows []TicketRow) []any {
	type row = TicketRow
	return []any{
		column(rows, func(r *row) string { return r.Tenant }),
		column(rows, func(r *row) string { return r.ID }),
		column(rows, func(r *row) int64 { return int64(r.Rev) }),
		column(rows, func(r *row) string { return r.Session }),
		column(rows, func(r *row) string { return r.Lane }),
		column(rows, func(r *row) string { return r.Status }),
		column(rows, func(r *row) string { return r.Intent }),
		column(rows, func(r *row) bool { return r.Urgent }),
		column(rows, func(r *row) string { return r.Route }),
		column(rows, func(r *row) int64 { return int64(r.Level) }),
		column(rows, func(r *row) string { return r.Reason }),
		column(rows, func(r *row) string { return r.Vendor }),
		column(rows, func(r *row) string { return r.Model }),
		column(rows, func(r *row) int64 { return int64(r.Attempts) }),
		column(rows, func(r *row) int64 { return r.PromptTokens }),
		column(rows, func(r *row) int64 { return r.CompletionTokens }),
		column(rows, func(r *row) int64 { return r.QueuedMs }),
		column(rows, func(r *row) int64 { return r.HandledMs }),
		column(rows, func(r *row) time.Time { return r.AcceptedAt }),
		column(rows, func(r *row) *time.Time { return r.EndedAt }),
		column(rows, func(r *row) string { return string(r.Body) }),
	}
}

func eventArgs(rows []EventRow) []any {
	type row = EventRow
	return []any{
		column(rows, func(r *row) string { return r.Tenant }),
		column(rows, func(r *row) string { return r.Session }),
		column(rows, func(r *row) int64 { return int64(r.Seq) }),
		column(rows, func(r *row) time.Time { return r.At }),
		column(rows, func(r *row) string { return r.Ticket }),
		column(rows, func(r *row) string { return r.Kind }),
		column(rows, func(r *row) string { return r.Who }),
		column(rows, func(r *row) string { return string(r.Body) }),
	}
}

// column turns a field of the rows into an array parameter, so that the statement's text stays the same for any number
// of rows and is prepared once a connection.
func column[R, T any](rows []R, field func(*R) T) []T {
	out := make([]T, len(rows))
	for i := range rows {
		out[i] = field(&rows[i])
	}
	return out
}
