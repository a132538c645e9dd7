package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// subscribeLimit is how long the server may take to confirm a subscription.
const subscribeLimit = 10 * time.Second

// Feed gives each new durable event of every session to visit, in the order of the
// log, until ctx ends. One feed serves all sockets and long polls of a node. ready is
// closed when the feed misses nothing any more: whoever reads the log after that and
// listens to the feed sees every event. visit must not block. Events may come twice
// after a reconnect; Seq tells.
func (q *Queue) Feed(ctx context.Context, ready chan<- struct{}, visit func(tenant, session string, e chat.Event)) error {
	info, err := q.talk.Info(ctx)
	if err != nil {
		return fmt.Errorf("open the feed: %w", err)
	}
	// By sequence and not "new": when the server that feeds us dies before the first
	// event, its successor must begin where the feed began, not where the log is by then.
	cons, err := q.talk.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: info.State.LastSeq + 1,
	})
	if err != nil {
		return fmt.Errorf("open the feed: %w", err)
	}
	run, err := cons.Consume(func(msg jetstream.Msg) {
		part := strings.Split(msg.Subject(), ".")
		var e chat.Event
		if err := json.Unmarshal(msg.Data(), &e); err != nil || len(part) != 5 {
			q.log.Error().Err(err).Str("subject", msg.Subject()).Msg("event cannot be read")
			return
		}
		visit(part[1], part[2], e)
	})
	if err != nil {
		return fmt.Errorf("open the feed: %w", err)
	}
	close(ready)
	<-ctx.Done()
	run.Stop()
	<-run.Closed()
	return nil
}

// SendDelta sends a disposable piece of an answer to whoever listens now.
func (q *Queue) SendDelta(tenant, session string, d chat.Delta) error {
	body, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode delta: %w", err)
	}
	if err := q.nc.Publish(deltaSubject(tenant, session), body); err != nil {
		return fmt.Errorf("send delta: %w", err)
	}
	return nil
}

// Deltas gives every delta to visit until the returned stop is called; one
// subscription serves all sockets of a node. visit must not block.
func (q *Queue) Deltas(visit func(tenant, session string, d chat.Delta)) (stop func(), err error) {
	return q.subscribe("delta.*.*", func(msg *nats.Msg) {
		part := strings.Split(msg.Subject, ".")
		var d chat.Delta
		if err := json.Unmarshal(msg.Data, &d); err == nil {
			visit(part[1], part[2], d)
		}
	})
}

// Nudges gives the id of each ticket that somebody just cancelled to visit. A nudge
// may be lost: it saves time, the ticket's revision is what decides.
func (q *Queue) Nudges(visit func(ticket string)) (stop func(), err error) {
	return q.subscribe("nudge.*", func(msg *nats.Msg) {
		visit(strings.TrimPrefix(msg.Subject, "nudge."))
	})
}

func (q *Queue) nudge(ticket string) {
	if err := q.nc.Publish(nudgeSubject(ticket), nil); err != nil {
		q.log.Warn().Err(err).Str("ticket", ticket).Msg("nudge was not sent")
	}
}

// subscribe returns once the server knows the subscription.
func (q *Queue) subscribe(subject string, visit nats.MsgHandler) (func(), error) {
	sub, err := q.nc.Subscribe(subject, visit)
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), subscribeLimit)
	defer cancel()
	if err := q.nc.FlushWithContext(ctx); err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	return func() { _ = sub.Unsubscribe() }, nil
}
