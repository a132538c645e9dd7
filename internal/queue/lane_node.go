package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// How long a node that takes messages in counts as live after its last confirmation, a
// whole number of seconds, and how often it confirms anew.
const (
	intakeTTL  = 15 * time.Second
	intakeBeat = 4 * time.Second
)

// confirmed is, by lane, the revision of the order that a node obeys: of a draining lane
// once nothing that had entered it before is under way any more.
type confirmed map[chat.Lane]uint64

// confirm tells everybody which orders this node obeys, until ctx ends. Then the node
// takes nothing in any more, and its key goes.
func (l *Lanes) confirm(ctx context.Context) {
	select {
	case <-l.ready:
	case <-ctx.Done():
		return
	}
	var told confirmed
	var toldAt time.Time
	every(ctx, intakeBeat/4, l.moved, func() {
		now := l.obeyed(told)
		if maps.Equal(now, told) && time.Since(toldAt) < intakeBeat {
			return
		}
		limited, cancel := context.WithTimeout(ctx, readLimit)
		defer cancel()
		if err := l.queue.confirmOrders(limited, l.key(), now); err != nil {
			l.complain(ctx, err)
			return
		}
		told, toldAt = now, time.Now()
	})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readLimit)
	defer cancel()
	if err := l.queue.steering.Purge(ctx, l.key(), jetstream.PurgeTTL(time.Minute)); err != nil {
		l.log.Warn().Err(err).Msg("this node counts as live for a while more")
	}
}

// obeyed returns what may be confirmed now; a draining lane in which something is still
// under way stays at what was told before.
func (l *Lanes) obeyed(told confirmed) confirmed {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := confirmed{}
	for lane, o := range *l.known.Load() {
		if o.State == chat.LaneDraining && l.inside[lane] > 0 {
			now[lane] = min(told[lane], o.Rev)
			continue
		}
		now[lane] = o.Rev
	}
	return now
}

// The keys of the nodes that take messages in, and of those that only put follow-ups into
// lanes.
const (
	intakePrefix = "node."
	innerPrefix  = "inner."
)

// key is where the node confirms.
func (l *Lanes) key() string {
	if l.cfg.Intake {
		return intakePrefix + l.cfg.Node
	}
	return innerPrefix + l.cfg.Node
}

// confirmOrders writes what a node obeys under its key, for intakeTTL.
func (q *Queue) confirmOrders(ctx context.Context, key string, c confirmed) error {
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode what %s obeys: %w", key, err)
	}
	msg := &nats.Msg{Subject: bucketSubject(steeringBucket, key), Data: body}
	_, err = q.js.PublishMsg(ctx, msg, jetstream.WithMsgTTL(intakeTTL))
	return refusal("confirm the orders of the lanes", err)
}

// intakes returns, by node, what every live node under a prefix obeys.
func (q *Queue) intakes(ctx context.Context, prefix string) (map[string]confirmed, error) {
	stream, err := q.js.Stream(ctx, "KV_"+steeringBucket)
	if err != nil {
		return nil, fmt.Errorf("list who takes messages in: %w", err)
	}
	// A consumer may read from a replica that lags; the stream's info comes from the leader.
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(bucketSubject(steeringBucket, prefix+"*")))
	if err != nil {
		return nil, fmt.Errorf("list who takes messages in: %w", err)
	}
	nodes := map[string]confirmed{}
	for subject := range info.State.Subjects {
		key := strings.TrimPrefix(subject, bucketSubject(steeringBucket, ""))
		entry, err := q.steering.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue // the mark of a removal
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", key, err)
		}
		c := confirmed{}
		if err := json.Unmarshal(entry.Value(), &c); err != nil {
			return nil, fmt.Errorf("decode %s: %w", key, err)
		}
		nodes[strings.TrimPrefix(key, prefix)] = c
	}
	return nodes, nil
}

// forgetIntakes removes all nodes that confirmed anything.
func (q *Queue) forgetIntakes(ctx context.Context) error {
	for _, prefix := range []string{intakePrefix, innerPrefix} {
		nodes, err := q.intakes(ctx, prefix)
		if err != nil {
			return err
		}
		for node := range nodes {
			if err := q.steering.Purge(ctx, prefix+node, jetstream.PurgeTTL(time.Minute)); err != nil {
				return fmt.Errorf("remove node %s: %w", node, err)
			}
		}
	}
	return nil
}
