package api

import (
	"context"
	"errors"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

// Codes of ratings that are not taken.
const (
	codeNotAnswered = "not_answered"
	codeRated       = "rated"
)

// rate makes a rating durable; its event, on every socket of the session, is what tells
// that it was. The comment stays out of every log.
func (k *socket) rate(ctx context.Context, f rateFrame) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptTimeout)
	defer cancel()
	_, err := k.queue.Rate(ctx, k.tenant.Name, k.session, f.Ticket, chat.Rating{Score: *f.Score, Comment: f.Comment}, time.Now().UTC())
	switch {
	case err == nil:
	case errors.Is(err, queue.ErrNotFound):
		k.push(errorOf("", notFound("ticket")))
	case errors.Is(err, queue.ErrNotAnswered):
		k.push(errorOf("", &chat.Error{Kind: chat.Conflict, Code: codeNotAnswered}))
	case errors.Is(err, queue.ErrRated):
		k.push(errorOf("", &chat.Error{Kind: chat.Conflict, Code: codeRated}))
	default:
		k.push(errorOf("", unavailable(err)))
	}
	return nil
}

func (f rateFrame) check() error {
	return errors.Join(
		need(chat.IsTicketID(f.Ticket), "ticket"),
		need(f.Score != nil && *f.Score >= chat.MinScore && *f.Score <= chat.MaxScore, "score"),
		need(checkText("comment", f.Comment, maxComment) == nil, "comment"),
	)
}
