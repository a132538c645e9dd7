package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// LaneOrder is an operator's word about a lane. It stands until the next one.
type LaneOrder struct {
	State  chat.LaneState `json:"state"` // open, paused or draining
	Actor  string         `json:"actor,omitempty"`
	Reason string         `json:"reason,omitempty"`
	At     time.Time      `json:"at,omitzero"`
	Until  time.Time      `json:"until,omitzero"` // of a pause: when the lane opens by itself; zero: never
	Rev    uint64         `json:"-"`              // 0: nobody has said anything yet
}

const orderPrefix = "state."

// LaneOrder reads the order of a lane as it is stored. A lane without one is open.
func (q *Queue) LaneOrder(ctx context.Context, lane chat.Lane) (LaneOrder, error) {
	o := LaneOrder{State: chat.LaneOpen}
	entry, err := q.steering.Get(ctx, orderPrefix+string(lane))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return o, nil
	}
	if err != nil {
		return o, fmt.Errorf("read the order of lane %s: %w", lane, err)
	}
	if err := json.Unmarshal(entry.Value(), &o); err != nil {
		return o, fmt.Errorf("decode the order of lane %s: %w", lane, err)
	}
	o.Rev = entry.Revision()
	return o, nil
}

// SetLaneOrder replaces the order that has the revision o.Rev. ErrLost: there is
// another one by now.
func (q *Queue) SetLaneOrder(ctx context.Context, lane chat.Lane, o LaneOrder) (LaneOrder, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return o, fmt.Errorf("encode the order of lane %s: %w", lane, err)
	}
	o.Rev, err = q.steer(ctx, orderPrefix+string(lane), body, o.Rev)
	return o, err
}

// steer writes a key of the steering bucket over the revision that the writer saw (0:
// none yet). ErrLost: it has another one.
func (q *Queue) steer(ctx context.Context, key string, body []byte, rev uint64) (uint64, error) {
	var next uint64
	err := decided(ctx, func() (err error) {
		if rev == 0 {
			next, err = q.steering.Create(ctx, key, body)
		} else {
			next, err = q.steering.Update(ctx, key, body, rev)
		}
		return err
	})
	if outpaced(err) {
		return 0, fmt.Errorf("write %s: %w", key, ErrLost)
	}
	return next, refusal("write "+key, err)
}
