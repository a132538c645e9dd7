package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sluice/internal/chat"
	"sluice/internal/ledger"
)

// withPromise returns a recorded ticket with its promise as that was last recorded: the
// ticket was told when it ended, and its promise may have ended later.
func withPromise(ctx context.Context, book *ledger.Ledger, row ledger.TicketRow) (json.RawMessage, error) {
	var t chat.Ticket
	if err := json.Unmarshal(row.Body, &t); err != nil {
		return nil, fmt.Errorf("decode ticket %s: %w", row.ID, err)
	}
	id := t.FollowUp
	if t.Parent != "" {
		id = t.ID
	}
	if id == "" {
		return row.Body, nil
	}
	last, err := book.Promise(ctx, row.Tenant, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return row.Body, nil
	}
	if err != nil {
		return nil, err
	}
	var promise chat.Promise
	if err := json.Unmarshal(last, &promise); err != nil {
		return nil, fmt.Errorf("decode promise %s: %w", id, err)
	}
	t.Promise = &promise
	return json.Marshal(t)
}
