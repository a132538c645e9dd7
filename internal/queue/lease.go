package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// LeaseTTL is how long the controller's lease stands after the server stored its last
// renewal, which is never before that renewal was sent.
const LeaseTTL = 2 * time.Second

const leaseKey = "lease"

// Lease is the right to be the one controller. It is for one goroutine.
type Lease struct {
	// Epoch is the bucket's revision at the acquisition: greater than that of every
	// earlier lease.
	Epoch uint64

	queue *Queue
	value string
	rev   uint64
}

// TakeLease takes the controller's lease for owner. ErrLost: another one holds it.
func (q *Queue) TakeLease(ctx context.Context, owner string) (*Lease, error) {
	// The value is unique, so that an owner whose renewal went unanswered can tell it
	// from an earlier lease of its own.
	value := owner + " " + chat.NewTicketID()
	rev, err := q.control.Create(ctx, leaseKey, []byte(value), jetstream.KeyTTL(LeaseTTL))
	if outpaced(err) {
		return nil, ErrLost
	}
	if err != nil {
		return nil, refusal("take the controller's lease", err)
	}
	return &Lease{Epoch: rev, queue: q, value: value, rev: rev}, nil
}

// Renew lets the lease stand for LeaseTTL more. ErrLost: it is gone. After any other
// error nobody knows, and another try tells.
func (l *Lease) Renew(ctx context.Context) error {
	err := l.write(ctx)
	if !outpaced(err) {
		return refusal("renew the controller's lease", err)
	}
	// The renewal before may have been stored although its answer never came.
	entry, err := l.queue.control.Get(ctx, leaseKey)
	if errors.Is(err, jetstream.ErrKeyNotFound) || (err == nil && string(entry.Value()) != l.value) {
		return ErrLost
	}
	if err != nil {
		return fmt.Errorf("read the controller's lease: %w", err)
	}
	l.rev = entry.Revision()
	if err := l.write(ctx); outpaced(err) {
		return ErrLost
	} else if err != nil {
		return refusal("renew the controller's lease", err)
	}
	return nil
}

// write publishes raw, because KeyValue.Update drops the time to live.
func (l *Lease) write(ctx context.Context) error {
	msg := &nats.Msg{Subject: bucketSubject(controlBucket, leaseKey), Data: []byte(l.value)}
	return decided(ctx, func() error {
		ack, err := l.queue.js.PublishMsg(ctx, msg,
			jetstream.WithExpectLastSequencePerSubject(l.rev), jetstream.WithMsgTTL(LeaseTTL))
		if err == nil {
			l.rev = ack.Sequence
		}
		return err
	})
}

// Drop lets the lease go, so that another controller need not wait for its end. It is
// no error if it is gone.
func (l *Lease) Drop(ctx context.Context) error {
	err := l.queue.control.Purge(ctx, leaseKey, jetstream.LastRevision(l.rev), jetstream.PurgeTTL(time.Minute))
	if err != nil && !outpaced(err) {
		return fmt.Errorf("drop the controller's lease: %w", err)
	}
	return nil
}
