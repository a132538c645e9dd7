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

// Ages at which a state that should be passing is taken for one that was left behind.
const (
	staleAccepting = 60 * time.Second
	staleOpen      = 15 * time.Second // longer than AckWait: whoever held it had its time
)

// Sweep looks at every ticket once. An accepting one that is older than a minute and
// that no lane holds was never accepted, and is removed; an open one whose lane message is gone
// gets it back. It reads the whole bucket: run it at start and every few minutes.
// Several processes may sweep at once: every repair is a compare-and-set.
func (q *Queue) Sweep(ctx context.Context, now time.Time) (removed, restored int, err error) {
	watch, err := q.tickets.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return 0, 0, fmt.Errorf("read all tickets: %w", err)
	}
	defer func() { _ = watch.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return removed, restored, ctx.Err()
		case entry, open := <-watch.Updates():
			if !open || entry == nil {
				return removed, restored, nil
			}
			if s, ok := q.readable(entry.Value(), entry.Revision()); ok {
				r, p, err := q.mend(ctx, s, now)
				if err != nil {
					return removed, restored, err
				}
				removed, restored = removed+r, restored+p
			}
		}
	}
}

// newestLimit is how long the next of the newest tickets may take to come.
const newestLimit = 5 * time.Second

// SweepSince does the same for the tickets of interactive lanes that were written since
// then: few enough for every minute.
func (q *Queue) SweepSince(ctx context.Context, now, since time.Time) (removed, restored int, err error) {
	cons, err := q.js.OrderedConsumer(ctx, "KV_"+ticketBucket, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartTimePolicy, OptStartTime: &since,
	})
	if err != nil {
		return 0, 0, fmt.Errorf("read the newest tickets: %w", err)
	}
	info, err := cons.Info(ctx)
	if err != nil || info.NumPending == 0 {
		return 0, 0, err
	}
	newest, err := cons.Messages()
	if err != nil {
		return 0, 0, fmt.Errorf("read the newest tickets: %w", err)
	}
	defer newest.Stop()
	for {
		msg, err := newest.Next(jetstream.NextMaxWait(newestLimit))
		if err != nil {
			return removed, restored, fmt.Errorf("read the newest tickets: %w", err)
		}
		meta, err := msg.Metadata()
		if err != nil {
			return removed, restored, fmt.Errorf("read the newest tickets: %w", err)
		}
		if s, ok := q.readable(msg.Data(), meta.Sequence.Stream); ok && s.Lane.Interactive() {
			r, p, err := q.mend(ctx, s, now)
			if err != nil {
				return removed, restored, err
			}
			removed, restored = removed+r, restored+p
		}
		if meta.NumPending == 0 {
			return removed, restored, nil
		}
	}
}

// readable returns a ticket as it was stored. The mark of a removal is none.
func (q *Queue) readable(body []byte, rev uint64) (s Stored, ok bool) {
	if len(body) == 0 {
		return s, false
	}
	s.Rev = rev
	if err := json.Unmarshal(body, &s.Ticket); err != nil {
		q.log.Error().Err(err).Uint64("rev", rev).Msg("ticket cannot be read")
		return s, false
	}
	return s, true
}

// mend repairs one ticket that its lane does not know of.
func (q *Queue) mend(ctx context.Context, s Stored, now time.Time) (removed, restored int, err error) {
	age := now.Sub(s.AcceptedAt)
	if s.Status.Ended() || age < staleOpen || (s.Status == chat.Accepting && age < staleAccepting) {
		return 0, 0, nil
	}
	at, err := q.inLane(ctx, &s.Ticket)
	if err != nil || at > 0 {
		return 0, 0, err
	}
	if s.Status == chat.Accepting {
		return 1, 0, q.remove(ctx, s)
	}
	// It may have ended between the two reads.
	again, err := q.Ticket(ctx, s.ID)
	if errors.Is(err, ErrNotFound) || again.Rev != s.Rev {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	_, err = q.publish(ctx, &again.Ticket)
	if errors.Is(err, errAccepted) || errors.Is(err, ErrFull) || errors.Is(err, ErrStorage) {
		return 0, 0, nil // there after all, or no room now: the next sweep
	}
	return 0, 1, err
}
