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
)

const (
	nodePrefix = "node."
	chargeKey  = "charge"
)

// RegisterNode says that a process may hold permits, for ttl from now, a whole number
// of seconds. Whoever becomes controller asks every registered node.
func (q *Queue) RegisterNode(ctx context.Context, node string, ttl time.Duration) error {
	return q.putFor(ctx, nodePrefix+node, nil, ttl)
}

// putFor writes a key of the control bucket that ends by itself. Put has no time to live.
func (q *Queue) putFor(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	msg := &nats.Msg{Subject: bucketSubject(controlBucket, key), Data: value}
	_, err := q.js.PublishMsg(ctx, msg, jetstream.WithMsgTTL(ttl))
	return refusal("write "+key, err)
}

// UnregisterNode removes a registration; it is no error if there is none.
func (q *Queue) UnregisterNode(ctx context.Context, node string) error {
	return q.forget(ctx, nodePrefix+node)
}

func (q *Queue) forget(ctx context.Context, key string) error {
	if err := q.control.Purge(ctx, key, jetstream.PurgeTTL(time.Minute)); err != nil {
		return fmt.Errorf("remove %s: %w", key, err)
	}
	return nil
}

// Nodes returns every registered node, as the bucket's leader knows them.
func (q *Queue) Nodes(ctx context.Context) ([]string, error) {
	stream, err := q.js.Stream(ctx, "KV_"+controlBucket)
	if err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	// A consumer may read from a replica that lags; the stream's info comes from the leader.
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(bucketSubject(controlBucket, nodePrefix+">")))
	if err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	var nodes []string
	for subject := range info.State.Subjects {
		key := strings.TrimPrefix(subject, bucketSubject(controlBucket, ""))
		_, err := q.control.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue // the mark of a removal
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", key, err)
		}
		nodes = append(nodes, strings.TrimPrefix(key, nodePrefix))
	}
	return nodes, nil
}

// clearNodes removes all registrations and the charge.
func (q *Queue) clearNodes(ctx context.Context) error {
	nodes, err := q.Nodes(ctx)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if err := q.UnregisterNode(ctx, node); err != nil {
			return err
		}
	}
	return q.forget(ctx, chargeKey)
}

// Charge returns, by vendor, how many permits beyond its limit may be in use because
// holders were silent.
func (q *Queue) Charge(ctx context.Context) (map[string]int, error) {
	charge := map[string]int{}
	entry, err := q.control.Get(ctx, chargeKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return charge, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the charge: %w", err)
	}
	if err := json.Unmarshal(entry.Value(), &charge); err != nil {
		return nil, fmt.Errorf("decode the charge: %w", err)
	}
	return charge, nil
}

// SetCharge stores the charge for ttl, a whole number of seconds. It must return before
// the first permit beyond a limit is granted.
func (q *Queue) SetCharge(ctx context.Context, charge map[string]int, ttl time.Duration) error {
	body, err := json.Marshal(charge)
	if err != nil {
		return fmt.Errorf("encode the charge: %w", err)
	}
	return q.putFor(ctx, chargeKey, body, ttl)
}
