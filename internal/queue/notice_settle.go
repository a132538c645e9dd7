package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// Settle lets the promise of a notice know how the notice ended: its session is told, and
// then the notice is over. A repeat does nothing twice. The promise may not be ready for
// it yet, and somebody else may have changed the notice: then nothing is done, and the
// next look comes by again.
func (o *Outbox) Settle(ctx context.Context, n chat.Notice, status chat.PromiseStatus) error {
	return o.queue.settleNotice(ctx, n, status)
}

func (q *Queue) settleNotice(ctx context.Context, n chat.Notice, status chat.PromiseStatus) error {
	owed, err := q.keptOwed(ctx, n.ID)
	switch {
	case errors.Is(err, ErrNotFound):
		if _, err := q.openOwed(ctx, n.ID); !errors.Is(err, ErrNotFound) {
			return err // its turn to sent is still under way
		}
	case err != nil:
		return err
	case owed.Status.Becomes(status):
		done, err := q.turnKept(ctx, owed, n, status)
		if err != nil || !done {
			return err
		}
	}
	if err := q.freeNotice(ctx, &n); err != nil {
		return err
	}
	n.Settled = true
	_, _, err = q.setNotice(ctx, NoticeSettled, n)
	return err
}

// turnKept turns a promise whose notice is in the outbox. False: another one does it.
func (q *Queue) turnKept(ctx context.Context, o Owed, n chat.Notice, status chat.PromiseStatus) (bool, error) {
	o.Status, o.At, o.Why = status, n.Since, ""
	if !n.State.Ended() {
		o.At = n.DueAt
	}
	switch {
	case status == chat.PromiseCancelled:
		o.Why = chat.ReasonHuman
	case status == chat.PromiseBroken && n.Fault == chat.FaultOverdue:
		o.Why = chat.ReasonOverdue
	case status == chat.PromiseBroken:
		o.Why = chat.ReasonUndelivered
	}
	if _, err := q.appendAs(ctx, NoticeTold, o.session(), string(status), chat.PromiseEvent(o.ID, o.Parent, o.Promise, o.At)); err != nil {
		return false, err
	}
	if err := q.announceBroken(ctx, &o); err != nil {
		return false, err
	}
	if err := q.before(NoticeKept, o.ID); err != nil {
		return false, err
	}
	body, err := json.Marshal(o)
	if err != nil {
		return false, fmt.Errorf("encode promise %s: %w", o.ID, err)
	}
	err = decided(ctx, func() error {
		_, err := q.js.Publish(ctx, promiseSubject(o.ID), body, jetstream.WithExpectLastSequencePerSubject(o.rev))
		return err
	})
	if outpaced(err) {
		return false, nil
	}
	if err != nil {
		return false, refusal("keep promise "+o.ID, err)
	}
	return true, nil
}
