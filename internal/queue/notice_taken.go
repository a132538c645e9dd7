package queue

import (
	"context"
	"errors"
	"time"

	"sluice/internal/chat"
)

// noticeTaken reports whether a person took the session of a notice over since it was
// promised, or has it now.
func (q *Queue) noticeTaken(ctx context.Context, n *chat.Notice) (bool, error) {
	rec, err := q.Session(ctx, n.Tenant, n.Session)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if n.Epoch == 0 { // from before it was noted
		return err == nil && rec.Owner == string(chat.OwnerHuman), err
	}
	return err == nil && rec.overrules(&chat.Ticket{Epoch: n.Epoch}), err
}

// callOffNotices cancels the notices of a session that a person took over and that have not
// left. What is on its way into the outbox meanwhile is cancelled when a sender claims it.
func (q *Queue) callOffNotices(ctx context.Context, h *Handoff, now time.Time) error {
	filter := sentFilter(h.Tenant, h.Session)
	_, newest, err := q.last(ctx, filter)
	if err != nil || newest == 0 {
		return err
	}
	var sent []string
	// A promise is kept by its deadline, which is far within the time that events live.
	if err := q.scan(ctx, filter, 1, newest, func(e chat.Event) bool { sent = append(sent, e.Ticket); return true }); err != nil {
		return err
	}
	for _, id := range sent {
		if err := q.callOffNotice(ctx, id, now); err != nil {
			return err
		}
	}
	return nil
}

// callOffNotice cancels one notice if it waits to be sent, and lets its promise know.
func (q *Queue) callOffNotice(ctx context.Context, id string, now time.Time) error {
	for range appendTries {
		n, err := q.Notice(ctx, id)
		if errors.Is(err, ErrNotFound) || err == nil && n.State != chat.NoticeQueued && n.State != chat.NoticeCancelled {
			return nil
		}
		if err != nil {
			return err
		}
		if n.State == chat.NoticeCancelled {
			if n.Settled {
				return nil
			}
			return q.settleNotice(ctx, n, chat.PromiseCancelled)
		}
		taken, err := q.noticeTaken(ctx, &n)
		if err != nil || !taken {
			return err // promised since then
		}
		n.Turn(chat.NoticeCancelled, now)
		if _, _, err := q.setNotice(ctx, NoticePoint(n.State), n); err != nil {
			return err
		}
	}
	return errors.New("cancel notice " + id + ": met another writer again and again")
}
