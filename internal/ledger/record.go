package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	insertEvents = `
insert into talk_events (` + eventColumns + `)
select tenant, session, seq, at, ticket, kind, who, body::jsonb
from unnest($1::text[], $2::text[], $3::bigint[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::text[])
  as e(tenant, session, seq, at, ticket, kind, who, body)
on conflict do nothing`

	upsertTickets = `
insert into tickets (` + ticketColumns + `)
select tenant, id, rev, session, lane, status, intent, urgent, route, level, reason, vendor, model,
  attempts, prompt_tokens, completion_tokens, queued_ms, handled_ms, accepted_at, ended_at, body::jsonb
from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[],
    $9::text[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::bigint[], $16::bigint[],
    $17::bigint[], $18::bigint[], $19::timestamptz[], $20::timestamptz[], $21::text[])
  as t(` + ticketColumns + `)
on conflict (tenant, id) do update set
  rev = excluded.rev, session = excluded.session, lane = excluded.lane, status = excluded.status,
  intent = excluded.intent, urgent = excluded.urgent, route = excluded.route, level = excluded.level,
  reason = excluded.reason, vendor = excluded.vendor, model = excluded.model, attempts = excluded.attempts,
  prompt_tokens = excluded.prompt_tokens, completion_tokens = excluded.completion_tokens,
  queued_ms = excluded.queued_ms, handled_ms = excluded.handled_ms, accepted_at = excluded.accepted_at,
  ended_at = excluded.ended_at, body = excluded.body
where tickets.rev < excluded.rev`
)

// Record writes all rows or none. Rows may be repeated and may come in any order, within a call and over calls: of a
// ticket the highest revision stays, of an event the first. The rows are not changed. An error that IsData is a row's
// own fault; after any other the same call may be made again.
func (l *Ledger) Record(ctx context.Context, tickets []TicketRow, events []EventRow) error {
	if len(tickets) == 0 && len(events) == 0 {
		return nil
	}
	tickets, err := cleanTickets(tickets)
	if err != nil {
		return fmt.Errorf("record tickets: %w", err)
	}
	events, err = cleanEvents(events)
	if err != nil {
		return fmt.Errorf("record events: %w", err)
	}
	wanted := wantedMonths(events, time.Now())
	for again := false; ; again = true {
		if err := l.attach(ctx, wanted); err != nil {
			return fmt.Errorf("record: %w", err)
		}
		err := l.write(ctx, tickets, events)
		switch {
		case err == nil:
			return nil
		case lacksMonth(err) && !again:
			// Another process dropped the month since this one saw it.
			l.months.forget()
		default:
			return fmt.Errorf("record: %w", err)
		}
	}
}

// write sends both statements as one batch, which is one transaction without a round trip for its begin and commit.
func (l *Ledger) write(ctx context.Context, tickets []TicketRow, events []EventRow) error {
	batch := &pgx.Batch{}
	if len(events) > 0 {
		batch.Queue(insertEvents, eventArgs(events)...)
	}
	if len(tickets) > 0 {
		batch.Queue(upsertTickets, ticketArgs(tickets)...)
	}
	return l.pool.SendBatch(ctx, batch).Close()
}
