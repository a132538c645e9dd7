package sms

import (
	"context"

	"sluice/internal/chat"
)

// Outbox carries nothing: a notice counts as sent, and shows what would have been.
type Outbox struct{ Link string }

// Name returns ProviderOutbox.
func (Outbox) Name() string { return ProviderOutbox }

// Text returns what a notice would say, and its segments.
func (o Outbox) Text(n *chat.Notice) (text string, segments int) { return counted(n, o.Link) }

// Send does nothing.
func (Outbox) Send(context.Context, *chat.Notice) (chat.Receipt, error) {
	return chat.Receipt{Status: "kept", State: chat.NoticeSent}, nil
}

// Find finds every notice: keeping it cannot fail.
func (Outbox) Find(context.Context, *chat.Notice) (Found, error) {
	return Found{There: true, Receipt: chat.Receipt{Status: "kept", State: chat.NoticeSent}}, nil
}
