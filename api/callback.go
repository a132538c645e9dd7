package api

import (
	"context"
	"time"

	"sluice/internal/chat"
	"sluice/internal/hook"
)

// checkCallback refuses a message whose end could not be told to its callback_url: one that
// names an address inside, and any while the outbox of webhooks is nearly full.
func (in *Intake) checkCallback(ctx context.Context, m *Message) error {
	if m.CallbackURL == "" {
		return nil
	}
	if !in.rules().Webhooks.AllowPrivate && hook.CheckURL(m.CallbackURL) != nil {
		return chat.Bad("callback_url", "must not name a private or local address (rules: webhooks.allow_private)")
	}
	room, err := in.queue.RoomForHooks(ctx)
	if err != nil {
		return unavailable(err)
	}
	if !room {
		return &chat.Error{
			Kind: chat.Overloaded, Code: codeStorageFull, RetryAfter: 30 * time.Second,
			Detail: "the outbox of webhooks is full; leave callback_url out, or try again after the time in retry_after_ms",
		}
	}
	return nil
}
