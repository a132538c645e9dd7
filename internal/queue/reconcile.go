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
			s, err := decodeStored(entry)
			if err != nil {
				q.log.Error().Err(err).Msg("ticket cannot be read")
				continue
			}
			r, p, err := q.mend(ctx, s, now)
			if err != nil {
				return removed, restored, err
			}
			removed, restored = removed+r, restored+p
		}
	}
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
	if errors.Is(err, errAccepted) || errors.Is(err, ErrFull) {
		return 0, 0, nil // there after all, or no room now: the next sweep
	}
	return 0, 1, err
}

// strayFor is how long a message must be seen below the floor: on several replicas an
// acknowledgement counts a moment before its message is gone.
const strayFor = 2 * time.Second

// Strays finds messages that their lane will never deliver again although they are
// stored: below the consumer's floor. Each is published once more, then removed, so
// that a crash in between leaves two, of which the second meets an ended ticket. Several
// processes may look at once: only one of them can publish a stray.
func (q *Queue) Strays(ctx context.Context) (moved int, err error) {
	for _, lane := range chat.Lanes() {
		n, failed := q.straysOf(ctx, lane)
		moved += n
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("look for strays in %s: %w", lane, failed))
		}
	}
	return moved, err
}

func (q *Queue) straysOf(ctx context.Context, lane chat.Lane) (moved int, err error) {
	stream := q.lanes[lane]
	cons, err := stream.Consumer(ctx, dispatchConsumer)
	if err != nil {
		return 0, err
	}
	floor := cons.CachedInfo().AckFloor.Stream
	seen, err := q.below(ctx, lane, floor)
	if err != nil || len(seen) == 0 {
		return 0, err
	}
	if err := pause(ctx, strayFor); err != nil {
		return 0, err
	}
	for _, seq := range seen {
		raw, err := stream.GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return moved, err
		}
		again, err := q.moveStray(ctx, stream, raw)
		if err != nil {
			return moved, err
		}
		if again {
			moved++
		}
	}
	return moved, nil
}

// below returns the sequences of a lane's messages that are not above a floor.
func (q *Queue) below(ctx context.Context, lane chat.Lane, floor uint64) (seen []uint64, err error) {
	for seq := uint64(1); seq <= floor; seq++ {
		raw, err := q.lanes[lane].GetMsg(ctx, seq, jetstream.WithGetMsgSubject(laneFilter(lane)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return seen, nil
		}
		if err != nil {
			return seen, err
		}
		if seq = raw.Sequence; seq > floor {
			return seen, nil
		}
		seen = append(seen, seq)
	}
	return seen, nil
}

// moveStray reports whether the message was published again; one that cannot be read
// is only removed, as a pull does.
func (q *Queue) moveStray(ctx context.Context, stream jetstream.Stream, raw *jetstream.RawStreamMsg) (again bool, err error) {
	var t chat.Ticket
	if err := json.Unmarshal(raw.Data, &t); err != nil {
		q.log.Error().Err(err).Str("subject", raw.Subject).Msg("stray cannot be read, removed")
	} else {
		err := decided(ctx, func() error {
			_, err := q.js.Publish(ctx, raw.Subject, raw.Data, jetstream.WithExpectLastSequencePerSubject(raw.Sequence))
			return err
		})
		if err != nil && !outpaced(err) {
			return false, refusal("move stray "+t.ID, err)
		}
		again = true
	}
	if _, err := erase(ctx, stream, raw.Sequence); err != nil {
		return again, fmt.Errorf("remove stray %d: %w", raw.Sequence, err)
	}
	return again, nil
}
