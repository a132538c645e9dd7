package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// SetHook writes an entry over the revision that the writer saw. ErrLost: it has another one.
// One that is waiting no more is kept for a while.
func (q *Queue) SetHook(ctx context.Context, h chat.Hook) (chat.Hook, error) {
	if err := q.before(HookEntry, h.ID); err != nil {
		return h, err
	}
	h, err := q.setHook(ctx, h)
	if err != nil || h.State == chat.HookWaiting || h.State == chat.HookDead {
		return h, err
	}
	if err := q.hooks.Purge(ctx, hookBodyKey(h.ID), jetstream.PurgeTTL(time.Minute)); err != nil {
		q.log.Warn().Err(err).Str("webhook", h.ID).Msg("the body of a delivered webhook stays for a while")
	}
	return h, nil
}

func (q *Queue) setHook(ctx context.Context, h chat.Hook) (chat.Hook, error) {
	body, err := json.Marshal(h)
	if err != nil {
		return h, fmt.Errorf("encode webhook %s: %w", h.ID, err)
	}
	keep := map[chat.HookState]time.Duration{chat.HookDelivered: keepDelivered, chat.HookUnwanted: keepDelivered, chat.HookDead: keepDeadHook}[h.State]
	rev, err := q.putHook(ctx, hookKey(h.ID), body, h.Rev, keep)
	if err == nil {
		h.Rev = rev
	}
	return h, err
}

// putHook writes a key over a revision, 0: there is none, and returns the new one. ErrLost:
// it has another one.
func (q *Queue) putHook(ctx context.Context, key string, body []byte, rev uint64, keep time.Duration) (uint64, error) {
	opts := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(rev)}
	if keep > 0 {
		opts = append(opts, jetstream.WithMsgTTL(keep))
	}
	msg := &nats.Msg{Subject: bucketSubject(hookBucket, key), Data: body}
	var ack *jetstream.PubAck
	err := decided(ctx, func() (err error) {
		ack, err = q.js.PublishMsg(ctx, msg, opts...)
		return err
	})
	if outpaced(err) {
		return 0, fmt.Errorf("write %s: %w", key, ErrLost)
	}
	if err != nil {
		return 0, refusal("write "+key+" into the webhooks' outbox", err)
	}
	return ack.Sequence, nil
}

// Hook returns an entry, or ErrNotFound.
func (q *Queue) Hook(ctx context.Context, id string) (chat.Hook, error) {
	entry, err := q.hooks.Get(ctx, hookKey(id))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return chat.Hook{}, fmt.Errorf("webhook %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return chat.Hook{}, fmt.Errorf("read webhook %s: %w", id, err)
	}
	return decodeHook(entry)
}

// HookBody returns the body of a webhook; nil: it is kept no more.
func (q *Queue) HookBody(ctx context.Context, id string) ([]byte, error) {
	entry, err := q.hooks.Get(ctx, hookBodyKey(id))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the body of webhook %s: %w", id, err)
	}
	return entry.Value(), nil
}

func decodeHook(entry jetstream.KeyValueEntry) (chat.Hook, error) {
	h := chat.Hook{Rev: entry.Revision()}
	if err := json.Unmarshal(entry.Value(), &h); err != nil {
		return h, fmt.Errorf("decode webhook %s: %w", entry.Key(), err)
	}
	return h, nil
}

// ErrNotDead says that a webhook is not one to be sent again.
var ErrNotDead = errors.New("the webhook is not dead")

// ReplayHook lets a dead webhook be tried again for a day from now on. Errors: ErrNotFound,
// ErrNotDead.
func (q *Queue) ReplayHook(ctx context.Context, id string, now time.Time) (chat.Hook, error) {
	h, err := q.Hook(ctx, id)
	if err != nil {
		return h, err
	}
	if h.State != chat.HookDead {
		return h, fmt.Errorf("webhook %s: %w", id, ErrNotDead)
	}
	h.State, h.Since, h.NextAt, h.DoneAt = chat.HookWaiting, now, now, time.Time{}
	h.Status, h.Fault = 0, ""
	return q.SetHook(ctx, h)
}

// WatchHooks gives every entry to visit and each later change of one, until ctx ends. It
// returns earlier when the engine ends the watch. caught is called once all that was there
// at the beginning was given.
func (q *Queue) WatchHooks(ctx context.Context, visit func(chat.Hook), caught func()) error {
	watch, err := q.hooks.Watch(ctx, hookKey("*"), jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("watch the webhooks' outbox: %w", err)
	}
	defer func() { _ = watch.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case entry, open := <-watch.Updates():
			switch {
			case !open && ctx.Err() != nil:
				return nil
			case !open:
				return errors.New("watch the webhooks' outbox: ended early")
			case entry == nil:
				caught()
			default:
				h, err := decodeHook(entry)
				if err != nil {
					q.log.Error().Err(err).Msg("webhook cannot be read")
					continue
				}
				visit(h)
			}
		}
	}
}

// Hooks returns the entries in a state, those that changed last first, at most limit of them,
// and how many there are in each state. It reads all.
func (q *Queue) Hooks(ctx context.Context, state chat.HookState, limit int) ([]chat.Hook, map[chat.HookState]int, error) {
	ctx, cancel := context.WithTimeout(ctx, newestLimit)
	defer cancel()
	all := map[string]chat.Hook{}
	err := q.WatchHooks(ctx, func(h chat.Hook) { all[h.ID] = h }, cancel)
	if err == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("list webhooks: %w", ctx.Err())
	}
	if err != nil {
		return nil, nil, err
	}
	counts := map[chat.HookState]int{}
	var found []chat.Hook
	for _, h := range all {
		counts[h.State]++
		if h.State == state {
			found = append(found, h)
		}
	}
	slices.SortFunc(found, func(a, b chat.Hook) int { return cmp.Compare(b.Rev, a.Rev) })
	return found[:min(len(found), limit)], counts, nil
}
