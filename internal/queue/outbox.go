package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// The outbox is bounded by count and by age. A full one refuses new notices: what they were
// to tell is shown as broken.
const (
	maxOutbox  = 100_000
	keepOutbox = 90 * 24 * time.Hour
)

// openOutbox makes the stream of the notices.
func (q *Queue) openOutbox(ctx context.Context) (err error) {
	q.outbox, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: outboxStream, Subjects: []string{"outbox.>"}, Storage: jetstream.FileStorage, MaxMsgsPerSubject: 1,
		MaxMsgs: maxOutbox, Discard: jetstream.DiscardNew, MaxAge: keepOutbox,
		Replicas: q.cfg.Replicas, AllowDirect: false,
	})
	if err != nil {
		return fmt.Errorf("open stream %s: %w", outboxStream, err)
	}
	return nil
}

// enterOutbox puts the notice of a promise into the outbox, once.
func (q *Queue) enterOutbox(ctx context.Context, o *Owed) error {
	if err := q.before(PromiseOutbox, o.ID); err != nil {
		return err
	}
	return q.keepOnce(ctx, outboxSubject(o.ID), "put notice "+o.ID+" into the outbox", chat.Notice{
		ID: o.ID, Tenant: o.Tenant, Session: o.Session, Parent: o.Parent, Channel: o.Channel, Phone: o.Phone,
		Language: o.Language, Code: chat.ShortCode(o.ID), DueAt: o.DueAt, At: o.At, Epoch: o.Epoch, State: chat.NoticeQueued, Since: o.At,
	})
}

// roomOutbox reports whether the outbox takes a notice now.
func (q *Queue) roomOutbox(ctx context.Context) (bool, error) {
	n, err := q.NoticeCount(ctx)
	return n < maxOutbox, err
}

// NoticeCount returns how many notices the outbox holds.
func (q *Queue) NoticeCount(ctx context.Context) (int, error) {
	info, err := q.outbox.Info(ctx)
	if err != nil {
		return 0, fmt.Errorf("count the notices: %w", err)
	}
	return int(info.State.Msgs), nil
}

// Notices returns up to limit notices, those that were changed last first, of those with a Seq less than
// before; 0 begins with the newest of all.
func (q *Queue) Notices(ctx context.Context, before uint64, limit int) ([]chat.Notice, error) {
	all, err := newest(ctx, q.outbox, before, limit, func(n *chat.Notice, seq uint64) { n.Seq = seq })
	if err != nil {
		return nil, fmt.Errorf("list the notices: %w", err)
	}
	return all, nil
}
