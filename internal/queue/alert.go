package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// The keys of the bucket alerts.
const (
	alertStateKey = "state"
	alertWatchKey = "watch"
	herePrefix    = "here."
)

// hereTTL is how long a process counts as there after its last word, a whole number of seconds.
const hereTTL = 15 * time.Second

// brokenAtOnce is the most promises that one count reads.
const brokenAtOnce = 500

// Alerts returns what is known of alerts, and its revision for SetAlerts; nil and 0: nothing yet.
func (q *Queue) Alerts(ctx context.Context) ([]byte, uint64, error) {
	entry, err := q.alerts.Get(ctx, alertStateKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the alerts: %w", err)
	}
	return entry.Value(), entry.Revision(), nil
}

// SetAlerts stores what is known of alerts over the revision that the writer saw. ErrLost: it
// has another one.
func (q *Queue) SetAlerts(ctx context.Context, body []byte, rev uint64) error {
	err := decided(ctx, func() error {
		_, err := q.js.Publish(ctx, bucketSubject(alertBucket, alertStateKey), body, jetstream.WithExpectLastSequencePerSubject(rev))
		return err
	})
	if outpaced(err) {
		return fmt.Errorf("store the alerts: %w", ErrLost)
	}
	return refusal("store the alerts", err)
}

// AlertWatch returns what may become an alert; nil: nothing.
func (q *Queue) AlertWatch(ctx context.Context) ([]byte, error) {
	entry, err := q.alerts.Get(ctx, alertWatchKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is watched: %w", err)
	}
	return entry.Value(), nil
}

// SetAlertWatch stores what may become an alert. The last writer wins: what two at once found
// is the same but for a moment.
func (q *Queue) SetAlertWatch(ctx context.Context, body []byte) error {
	_, err := q.alerts.Put(ctx, alertWatchKey, body)
	return refusal("store what is watched", err)
}

// BeHere says that a process is there, for 15 s from now, and what it has to say.
func (q *Queue) BeHere(ctx context.Context, node string, body []byte) error {
	msg := &nats.Msg{Subject: bucketSubject(alertBucket, herePrefix+node), Data: body}
	_, err := q.js.PublishMsg(ctx, msg, jetstream.WithMsgTTL(hereTTL))
	return refusal("say that this process is there", err)
}

// BeGone says that a process is there no more.
func (q *Queue) BeGone(ctx context.Context, node string) error {
	if err := q.alerts.Purge(ctx, herePrefix+node, jetstream.PurgeTTL(time.Minute)); err != nil {
		return fmt.Errorf("say goodbye: %w", err)
	}
	return nil
}

// WhoIsHere returns what each process that is there has said last, as the bucket's leader
// knows it.
func (q *Queue) WhoIsHere(ctx context.Context) (map[string][]byte, error) {
	stream, err := q.js.Stream(ctx, "KV_"+alertBucket)
	if err != nil {
		return nil, fmt.Errorf("list who is there: %w", err)
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(bucketSubject(alertBucket, herePrefix+"*")))
	if err != nil {
		return nil, fmt.Errorf("list who is there: %w", err)
	}
	all := map[string][]byte{}
	for subject := range info.State.Subjects {
		key := strings.TrimPrefix(subject, bucketSubject(alertBucket, ""))
		entry, err := q.alerts.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue // the mark of a removal
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", key, err)
		}
		all[strings.TrimPrefix(key, herePrefix)] = entry.Value()
	}
	return all, nil
}

// Untaken returns since when the oldest ticket of a lane is there that no dispatcher has
// taken; zero: all are taken.
func (q *Queue) Untaken(ctx context.Context, lane chat.Lane) (time.Time, error) {
	cons, err := q.lanes[lane].Consumer(ctx, dispatchConsumer)
	if err != nil {
		return time.Time{}, fmt.Errorf("find consumer of %s: %w", lane, err)
	}
	info := cons.CachedInfo()
	if info.NumPending == 0 {
		return time.Time{}, nil
	}
	first, err := q.lanes[lane].GetMsg(ctx, info.Delivered.Stream+1, jetstream.WithGetMsgSubject(laneFilter(lane)))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return time.Time{}, nil // taken meanwhile
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read the oldest of %s: %w", lane, err)
	}
	return first.Time, nil
}

// BuriedSince returns how many dead letters came after a place, and the place of the last.
func (q *Queue) BuriedSince(ctx context.Context, place uint64) (count int, upto uint64, err error) {
	info, err := q.dead.Info(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("count dead letters: %w", err)
	}
	last := info.State.LastSeq
	return int(last - min(place, last)), last, nil
}

// BrokenSince returns how many promises were broken after a place of the kept ones, and the
// place up to which it counted: at most 500 are read at once.
func (q *Queue) BrokenSince(ctx context.Context, place uint64) (count int, upto uint64, err error) {
	info, err := q.kept.Info(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("ask for the kept promises: %w", err)
	}
	last := info.State.LastSeq
	upto = min(place, last)
	for range brokenAtOnce {
		if upto >= last {
			break
		}
		raw, err := q.kept.GetMsg(ctx, upto+1, jetstream.WithGetMsgSubject(promiseSubject(">")))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return count, last, nil
		}
		if err != nil {
			return 0, 0, fmt.Errorf("read the kept promises: %w", err)
		}
		var o Owed
		if err := json.Unmarshal(raw.Data, &o); err == nil && o.Status == chat.PromiseBroken {
			count++
		}
		upto = raw.Sequence
	}
	return count, upto, nil
}
