package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sluice/internal/chat"
	"sluice/internal/ledger"
	"sluice/internal/queue"
)

// TicketOf returns an ended ticket as JSON, whosever it is, for the api.
func (d *database) TicketOf(ctx context.Context, id string) (json.RawMessage, error) {
	book := d.ledger()
	if book == nil {
		return nil, errAway
	}
	row, err := book.TicketOf(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, fmt.Errorf("ticket %s: %w", id, queue.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return withPromise(ctx, book, row)
}

// Search returns the ended tickets that a filter takes, for the api.
func (d *database) Search(ctx context.Context, f chat.TicketFilter, after chat.TicketMark, limit int) ([]json.RawMessage, error) {
	book := d.ledger()
	if book == nil {
		return nil, errAway
	}
	return book.Search(ctx, f, after, limit)
}

// Marks returns the places of the ended tickets that a filter takes, for the api.
func (d *database) Marks(ctx context.Context, f chat.TicketFilter, after chat.TicketMark, limit int) ([]chat.TicketMark, error) {
	book := d.ledger()
	if book == nil {
		return nil, errAway
	}
	return book.Marks(ctx, f, after, limit)
}
