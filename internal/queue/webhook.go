package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// The outbox of webhooks is bounded by count, an entry and its body being two. The intake
// takes no more that would need one from hookRoom entries on: what was accepted can still
// be told.
const (
	maxHooks = 100_000
	hookRoom = maxHooks * 9 / 10
)

// How long an entry is kept after it was delivered, or has died. A body is kept a little
// longer than its entry may be tried, and goes with it.
const (
	keepDelivered = 24 * time.Hour
	keepDeadHook  = 30 * 24 * time.Hour
	keepBody      = keepDeadHook + 3*24*time.Hour
)

// openHooks makes the bucket's stream itself, to give it a bound.
func (q *Queue) openHooks(ctx context.Context) (err error) {
	conf := bucketStream(jetstream.KeyValueConfig{
		Bucket: hookBucket, LimitMarkerTTL: time.Minute, Storage: jetstream.FileStorage, Replicas: q.cfg.Replicas,
	})
	conf.MaxMsgs = 2 * maxHooks
	q.hooks, err = openStreamBucket(ctx, q.js, hookBucket, conf)
	return err
}

func hookKey(id string) string { return "entry." + id }

func hookBodyKey(id string) string { return "body." + id }

// Announce puts a webhook into the outbox, once for its id: from then on it is delivered at
// least once, or dies where operators see it. ErrFull and ErrStorage: there is no room.
func (q *Queue) Announce(ctx context.Context, h chat.Hook, body []byte) error {
	// The body first: an entry says that it is there.
	_, err := q.putHook(ctx, hookBodyKey(h.ID), body, 0, keepBody)
	if err == nil || errors.Is(err, ErrLost) {
		_, err = q.setHook(ctx, h)
	}
	if errors.Is(err, ErrLost) {
		return nil
	}
	return err
}

// announceEnd puts the message about the end of a ticket into the outbox.
func (q *Queue) announceEnd(ctx context.Context, t *chat.Ticket) error {
	if t.CallbackURL == "" || t.Reason == chat.ReasonUnpromised {
		return nil
	}
	if err := q.before(EndHook, t.ID); err != nil {
		return err
	}
	h, body, err := t.EndHook()
	if err == nil {
		err = q.Announce(ctx, h, body)
	}
	return q.unannounced(err, t.ID)
}

// announceHandoff puts the message about a handoff into the outbox.
func (q *Queue) announceHandoff(ctx context.Context, t *chat.Ticket) error {
	if err := q.before(HandHook, t.ID); err != nil {
		return err
	}
	h, body, err := t.HandoffHook()
	if err == nil {
		err = q.Announce(ctx, h, body)
	}
	return q.unannounced(err, t.ID)
}

// AnnounceBatch puts the message about the end of a batch into the outbox, once; without room
// there is none.
func (q *Queue) AnnounceBatch(ctx context.Context, b Batch) error {
	h, body, err := chat.NewHook(b.Tenant, chat.HookBatch, b.ID, "", *b.EndedAt, struct {
		ID          string           `json:"batch_id"`
		Status      chat.BatchStatus `json:"status"`
		Total       int              `json:"total"`
		Answered    int              `json:"answered"`
		Failed      int              `json:"failed"`
		Cancelled   int              `json:"cancelled"`
		CreatedAt   time.Time        `json:"created_at"`
		CompletedAt time.Time        `json:"completed_at"`
	}{b.ID, b.Status(), b.Total, b.Before.Answered, b.Before.Failed, b.Before.Cancelled, b.CreatedAt, *b.EndedAt})
	if err == nil {
		err = q.Announce(ctx, h, body)
	}
	return q.unannounced(err, b.ID)
}

// unannounced lets an end go on whose message has no room: its customer comes first.
func (q *Queue) unannounced(err error, about string) error {
	if errors.Is(err, ErrFull) {
		q.log.Error().Err(err).Str("about", about).Msg("no webhook: the outbox is full")
		return nil
	}
	return err
}

// RoomForHooks reports whether the outbox may take what needs a webhook in.
func (q *Queue) RoomForHooks(ctx context.Context) (bool, error) {
	stream, err := q.js.Stream(ctx, "KV_"+hookBucket)
	if err != nil {
		return false, fmt.Errorf("ask for room in the webhooks' outbox: %w", err)
	}
	return stream.CachedInfo().State.Msgs < 2*hookRoom, nil
}
