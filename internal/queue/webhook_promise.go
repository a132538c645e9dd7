package queue

import (
	"context"

	"sluice/internal/chat"
)

// announceBroken puts the message about a promise that breaks into the outbox, once. Of any
// other turn there is none.
func (q *Queue) announceBroken(ctx context.Context, o *Owed) error {
	if o.Status != chat.PromiseBroken {
		return nil
	}
	if err := q.before(PromiseHook, o.ID); err != nil {
		return err
	}
	h, body, err := chat.BrokenHook(chat.BrokenPromise{
		Ticket: o.ID, Parent: o.Parent, Session: o.Session, Code: chat.ShortCode(o.ID), Channel: o.Channel,
		Reason: o.Why, Locale: o.Language, MadeAt: o.MadeAt, DueAt: o.DueAt, BrokenAt: o.At,
	}, o.Tenant)
	if err == nil {
		err = q.Announce(ctx, h, body)
	}
	return q.unannounced(err, o.ID)
}
