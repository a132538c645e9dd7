package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"sluice/internal/chat"
)

// heldLimit is how long the dispatchers may take to say what they hold.
const heldLimit = time.Second

func heldSubject(lane chat.Lane) string { return "held." + string(lane) }

// TellHeld answers questions about the jobs that this process holds of a lane, by the
// sequence of their messages, until stop is called. held must not block.
func (q *Queue) TellHeld(held func(lane chat.Lane) []uint64) (stop func(), err error) {
	return q.subscribe(heldSubject("*"), func(msg *nats.Msg) {
		body, err := json.Marshal(held(chat.Lane(strings.TrimPrefix(msg.Subject, heldSubject("")))))
		if err == nil {
			err = msg.Respond(body)
		}
		if err != nil {
			q.log.Warn().Err(err).Msg("did not say which jobs are held")
		}
	})
}

// heldOf returns what all dispatchers hold of a lane. sure is false when one of those
// that are registered did not answer.
func (q *Queue) heldOf(ctx context.Context, lane chat.Lane) (held map[uint64]bool, sure bool, err error) {
	nodes, err := q.Nodes(ctx)
	if err != nil {
		return nil, false, err
	}
	inbox, answers := q.nc.NewInbox(), make(chan *nats.Msg, len(nodes)+1)
	sub, err := q.nc.ChanSubscribe(inbox, answers)
	if err != nil {
		return nil, false, fmt.Errorf("ask what is held of %s: %w", lane, err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := q.nc.PublishRequest(heldSubject(lane), inbox, nil); err != nil {
		return nil, false, fmt.Errorf("ask what is held of %s: %w", lane, err)
	}
	limit := time.NewTimer(heldLimit)
	defer limit.Stop()
	held = map[uint64]bool{}
	// A process that works alone is not registered.
	for missing := max(1, len(nodes)); missing > 0; {
		select {
		case msg := <-answers:
			var seqs []uint64
			if json.Unmarshal(msg.Data, &seqs) != nil {
				return nil, false, nil // nobody listens
			}
			for _, seq := range seqs {
				held[seq] = true
			}
			missing--
		case <-limit.C:
			return held, false, nil
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	return held, true, nil
}
