package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// How promises stand that are open no more is bounded by count and by age: the oldest go
// first.
const (
	maxKept  = 100_000
	keepKept = 90 * 24 * time.Hour
)

// openKept makes the stream of the promises that are open no more.
func (q *Queue) openKept(ctx context.Context) (err error) {
	q.kept, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: promiseStream, Subjects: []string{"promise.>"}, Storage: jetstream.FileStorage, MaxMsgsPerSubject: 1,
		MaxMsgs: maxKept, Discard: jetstream.DiscardOld, MaxAge: keepKept, Replicas: q.cfg.Replicas, AllowDirect: false,
	})
	if err != nil {
		return fmt.Errorf("open stream %s: %w", promiseStream, err)
	}
	return nil
}

// keepOwed keeps how a promise stands for those who look back, once.
func (q *Queue) keepOwed(ctx context.Context, o Owed) error {
	if err := q.before(PromiseKept, o.ID); err != nil {
		return err
	}
	o.Phone = ""
	return q.keepOnce(ctx, promiseSubject(o.ID), "keep promise "+o.ID, o)
}

// keptOwed returns a promise that is open no more, or ErrNotFound. Its revision is its place.
func (q *Queue) keptOwed(ctx context.Context, id string) (o Owed, err error) {
	raw, err := q.kept.GetLastMsgForSubject(ctx, promiseSubject(id))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return o, fmt.Errorf("promise %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return o, fmt.Errorf("read promise %s: %w", id, err)
	}
	if err := json.Unmarshal(raw.Data, &o); err != nil {
		return o, fmt.Errorf("decode promise %s: %w", id, err)
	}
	o.rev = raw.Sequence
	return o, nil
}

// Owings returns the promises with a status, the newest first, at most limit of them, and
// how many there are of each status. It reads all that are open or kept.
func (q *Queue) Owings(ctx context.Context, status chat.PromiseStatus, limit int) ([]Owed, map[chat.PromiseStatus]int, error) {
	all := map[string]Owed{}
	note := func(o Owed) { all[o.ID] = o }
	// The kept ones last: what is found twice has moved there.
	if err := errors.Join(q.eachOpen(ctx, note), q.eachKept(ctx, note)); err != nil {
		return nil, nil, err
	}
	counts := map[chat.PromiseStatus]int{}
	var found []Owed
	for _, o := range all {
		counts[o.Status]++
		if o.Status == status {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b Owed) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	return found[:min(len(found), limit)], counts, nil
}

// eachKept gives the promises that are open no more to visit, as they were when it was called.
func (q *Queue) eachKept(ctx context.Context, visit func(Owed)) error {
	err := eachEntry(ctx, q.kept, 1, func(body []byte, seq uint64) {
		var o Owed
		if err := json.Unmarshal(body, &o); err != nil {
			q.log.Error().Err(err).Uint64("seq", seq).Msg("promise cannot be read")
			return
		}
		visit(o)
	})
	if err != nil {
		return fmt.Errorf("read the kept promises: %w", err)
	}
	return nil
}
