package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// A message is taken for a stray when two looks find it, so far apart. On several
// replicas an acknowledgement counts a moment before its message is gone; and a job whose
// holder died comes again within AckWait.
const (
	strayFor  = 2 * time.Second
	unheldFor = AckWait + strayFor
)

// What one round does at most, for each lane.
const (
	maxStrays = 500  // messages moved
	maxLook   = 5000 // messages looked at
)

// How often a stray is stored anew whose place was taken meanwhile, and how far apart.
const (
	placeTries = 20
	placePause = 50 * time.Millisecond
)

// Strays finds messages that are stored in a lane and that its consumer will never
// deliver: below its floor, or in nobody's hands and not counted by the consumer. What
// has ended gets its last steps, and leaves the lane. The rest is stored anew, so that it
// is delivered. Several processes may look at once: every step is a compare-and-set.
// ErrFull is among the errors when a message lost its place in a full lane to another:
// its ticket is open, and a sweep gives it the next free place.
func (q *Queue) Strays(ctx context.Context) (mended int, err error) {
	seen, wait := map[chat.Lane][]uint64{}, time.Duration(0)
	var faults []error
	for _, lane := range chat.Lanes() {
		suspects, far, err := q.suspects(ctx, lane)
		if err != nil {
			faults = append(faults, fmt.Errorf("look for strays in %s: %w", lane, err))
		} else if len(suspects) > 0 {
			seen[lane], wait = suspects, max(wait, far)
		}
	}
	if len(seen) == 0 {
		return 0, errors.Join(faults...)
	}
	if err := pause(ctx, wait); err != nil {
		return 0, err
	}
	for _, lane := range chat.Lanes() {
		n, err := q.moveStrays(ctx, lane, seen[lane])
		if mended += n; err != nil {
			faults = append(faults, fmt.Errorf("move strays of %s: %w", lane, err))
		}
	}
	return mended, errors.Join(faults...)
}

// suspects returns the sequences of messages that may be strays, oldest first, and how
// long they must stay so.
func (q *Queue) suspects(ctx context.Context, lane chat.Lane) ([]uint64, time.Duration, error) {
	// A consumer that somebody has removed or changed is put right at the same time.
	cons, err := q.lanes[lane].CreateOrUpdateConsumer(ctx, dispatchConfig())
	if err != nil {
		return nil, 0, err
	}
	// Count what is stored first: what comes later makes the difference smaller.
	stored, err := q.Depth(ctx, lane)
	if err != nil {
		return nil, 0, err
	}
	info, err := cons.Info(ctx)
	if err != nil {
		return nil, 0, err
	}
	below, err := q.stored(ctx, lane, 1, info.AckFloor.Stream, maxStrays)
	if err != nil || stored-int(info.NumPending)-info.NumAckPending <= len(below) {
		return below, strayFor, err
	}
	held, sure, err := q.heldOf(ctx, lane)
	if err != nil || !sure {
		return below, strayFor, err
	}
	delivered, err := q.stored(ctx, lane, info.AckFloor.Stream+1, info.Delivered.Stream, maxLook)
	if err != nil {
		return nil, 0, err
	}
	strays := slices.DeleteFunc(slices.Clone(delivered), func(seq uint64) bool { return held[seq] })
	// Of what is not delivered yet the consumer counts what it will come by: the newest.
	if passed := stored - len(below) - len(delivered) - int(info.NumPending); passed > 0 && len(delivered) < maxLook {
		above, err := q.stored(ctx, lane, info.Delivered.Stream+1, ^uint64(0), min(passed, maxStrays))
		if err != nil {
			return nil, 0, err
		}
		strays = append(strays, above...)
	}
	strays = append(below, strays...)
	return strays[:min(len(strays), maxStrays)], unheldFor, nil
}

// stored returns the sequences of a lane's messages between two, both included, oldest
// first, at most limit of them.
func (q *Queue) stored(ctx context.Context, lane chat.Lane, from, to uint64, limit int) (seqs []uint64, err error) {
	for seq := from; seq <= to && len(seqs) < limit; seq++ {
		raw, err := q.lanes[lane].GetMsg(ctx, seq, jetstream.WithGetMsgSubject(laneFilter(lane)))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return seqs, nil
		}
		if err != nil {
			return seqs, err
		}
		if seq = raw.Sequence; seq > to {
			return seqs, nil
		}
		seqs = append(seqs, seq)
	}
	return seqs, nil
}

// moveStrays mends those that were seen and are suspects still. One that cannot be mended
// does not keep the others, but for a lane that has no room.
func (q *Queue) moveStrays(ctx context.Context, lane chat.Lane, seen []uint64) (mended int, err error) {
	if len(seen) == 0 {
		return 0, nil
	}
	again, _, err := q.suspects(ctx, lane)
	if err != nil {
		return 0, err
	}
	var faults []error
	for _, seq := range seen {
		if _, still := slices.BinarySearch(again, seq); !still {
			continue
		}
		raw, err := q.lanes[lane].GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err == nil {
			err = q.moveStray(ctx, lane, raw)
		}
		if err == nil {
			mended++
			continue
		}
		faults = append(faults, err)
		if errors.Is(err, ErrFull) || ctx.Err() != nil {
			break
		}
	}
	return mended, errors.Join(faults...)
}

// moveStray brings one message back to where its ticket belongs. One that cannot be
// read is removed, as a pull does.
func (q *Queue) moveStray(ctx context.Context, lane chat.Lane, raw *jetstream.RawStreamMsg) error {
	j := &Job{seq: raw.Sequence}
	if err := json.Unmarshal(raw.Data, &j.Ticket); err != nil {
		q.log.Error().Err(err).Str("subject", raw.Subject).Msg("stray cannot be read, removed")
		return q.eraseStray(ctx, lane, &j.Ticket, raw)
	}
	s, err := q.opened(ctx, j)
	switch {
	case errors.Is(err, ErrEnded):
		return q.eraseStray(ctx, lane, &j.Ticket, raw)
	case err != nil:
		return err
	case s.Status.Ended():
		return errors.Join(q.complete(ctx, endSteps, s, nil), q.eraseStray(ctx, lane, &j.Ticket, raw))
	}
	// First the copy, so that a crash in between leaves two, of which the second meets an
	// ended ticket.
	err = q.storeAgain(ctx, &j.Ticket, raw, raw.Sequence)
	if err == nil {
		return q.eraseStray(ctx, lane, &j.Ticket, raw)
	}
	if !errors.Is(err, ErrFull) {
		return err
	}
	// A full lane has no room for a copy. The open ticket holds all that the message
	// does, and a sweep would store it anew.
	if err := q.eraseStray(ctx, lane, &j.Ticket, raw); err != nil {
		return err
	}
	for range placeTries {
		if err = q.storeAgain(ctx, &j.Ticket, raw, 0); !errors.Is(err, ErrFull) {
			return err
		}
		if err := pause(ctx, placePause); err != nil {
			return err
		}
	}
	return err
}

// opened returns a stray's ticket, and completes what an intake left: an open one is
// queued or running, so that nothing is lost with its message. ErrEnded: it ended long
// ago.
func (q *Queue) opened(ctx context.Context, j *Job) (Stored, error) {
	s, err := q.Ticket(ctx, j.Ticket.ID)
	if errors.Is(err, ErrNotFound) {
		s, err = q.recreate(ctx, &j.Ticket)
	}
	if err != nil || s.Status != chat.Accepting {
		return s, err
	}
	s.LaneSeq = j.seq
	return q.settle(ctx, s)
}

// storeAgain stores a message of a lane anew where the newest under its subject is the given
// one. It is no error if somebody else has done so.
func (q *Queue) storeAgain(ctx context.Context, t *chat.Ticket, raw *jetstream.RawStreamMsg, last uint64) error {
	if err := q.before(StrayStore, t.ID); err != nil {
		return err
	}
	err := decided(ctx, func() error {
		_, err := q.js.Publish(ctx, raw.Subject, raw.Data, jetstream.WithExpectLastSequencePerSubject(last))
		return err
	})
	if outpaced(err) {
		return nil
	}
	return refusal("move stray", err)
}

func (q *Queue) eraseStray(ctx context.Context, lane chat.Lane, t *chat.Ticket, raw *jetstream.RawStreamMsg) error {
	if err := q.before(StrayErase, t.ID); err != nil {
		return err
	}
	if _, err := erase(ctx, q.lanes[lane], raw.Sequence); err != nil {
		return fmt.Errorf("remove stray %d: %w", raw.Sequence, err)
	}
	return nil
}
