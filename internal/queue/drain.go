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

// How often the lanes that drain are looked at, and how often the tickets are searched
// for open ones of a lane whose stream is empty.
const (
	drainEvery  = time.Second
	searchEvery = 2 * time.Second
)

const emptyPrefix = "empty."

// emptied says that no ticket of a lane was open: at that order, and while the lane's
// stream was empty with that last sequence. Whatever is delivered later raises it.
type emptied struct {
	Order uint64 `json:"order"`
	Last  uint64 `json:"last"`
}

// LaneStanding is how a lane stands over all processes.
type LaneStanding struct {
	Lane chat.Lane
	LaneOrder
	Depth       int       // accepted and not ended
	Bound       int       // in force now
	Oldest      time.Time // when its oldest ticket was accepted; zero: it is empty
	Unconfirmed []string  // live nodes that put messages into lanes and do not obey the order yet
}

// Standing tells how a lane stands. Its State is LaneDrained if the lane drains, every
// live node has confirmed that it takes nothing more in, the stream is empty, and no
// ticket of the lane was found open since the last message left it.
func (q *Queue) Standing(ctx context.Context, lane chat.Lane) (LaneStanding, error) {
	all, err := q.standings(ctx, lane)
	if err != nil {
		return LaneStanding{Lane: lane}, err
	}
	return all[0], nil
}

// Standings tells how all lanes stand, and asks for the nodes that confirm once.
func (q *Queue) Standings(ctx context.Context) ([]LaneStanding, error) {
	return q.standings(ctx, chat.Lanes()...)
}

func (q *Queue) standings(ctx context.Context, lanes ...chat.Lane) (all []LaneStanding, err error) {
	// The orders first: a node that is not there yet will read them.
	for _, lane := range lanes {
		s := LaneStanding{Lane: lane}
		if s.LaneOrder, err = q.LaneOrder(ctx, lane); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	for _, prefix := range []string{intakePrefix, innerPrefix} {
		nodes, err := q.intakes(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for node, c := range nodes {
			for i := range all {
				if s := &all[i]; c[s.Lane] < s.Rev {
					s.Unconfirmed = append(s.Unconfirmed, node)
				}
			}
		}
	}
	for i := range all {
		if err := q.stand(ctx, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// stand reads how full a lane is, and whether it has drained.
func (q *Queue) stand(ctx context.Context, s *LaneStanding) error {
	slices.Sort(s.Unconfirmed)
	info, err := q.lanes[s.Lane].Info(ctx)
	if err != nil {
		return fmt.Errorf("read depth of %s: %w", s.Lane, err)
	}
	s.Depth, s.Bound = int(info.State.Msgs), int(info.Config.MaxMsgs)
	if s.Depth > 0 {
		s.Oldest = info.State.FirstTime
	}
	if s.State != chat.LaneDraining || s.Depth > 0 || len(s.Unconfirmed) > 0 {
		return nil
	}
	found, err := q.emptied(ctx, s.Lane)
	if err == nil && found == (emptied{Order: s.Rev, Last: info.State.LastSeq}) {
		s.State = chat.LaneDrained
	}
	return err
}

// Intakes returns the live nodes that take messages in.
func (q *Queue) Intakes(ctx context.Context) ([]string, error) {
	nodes, err := q.intakes(ctx, intakePrefix)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(nodes))
	for node := range nodes {
		names = append(names, node)
	}
	slices.Sort(names)
	return names, nil
}

// watchDrains looks after the lanes that drain until ctx ends.
func (l *Lanes) watchDrains(ctx context.Context) {
	every(ctx, drainEvery, nil, func() {
		for _, lane := range chat.Lanes() {
			if l.State(lane) != chat.LaneDraining {
				continue
			}
			if err := l.queue.searchDrained(ctx, lane); err != nil && ctx.Err() == nil {
				l.rest.Warn().Err(err).Str("lane", string(lane)).Msg("whether the lane is drained is not known")
			}
		}
	})
}

// searchDrained looks for open tickets of a lane that seems to be drained, and writes
// down that there are none. Open ones whose lane message is lost get it back. One of all
// processes searches.
func (q *Queue) searchDrained(ctx context.Context, lane chat.Lane) error {
	s, err := q.Standing(ctx, lane)
	if err != nil || s.State != chat.LaneDraining || s.Depth > 0 || len(s.Unconfirmed) > 0 {
		return err
	}
	mine, err := q.Duty(ctx, "drain-"+string(lane), searchEvery)
	if err != nil || !mine {
		return err
	}
	info, err := q.lanes[lane].Info(ctx)
	if err != nil {
		return fmt.Errorf("read depth of %s: %w", lane, err)
	}
	open, err := q.openIn(ctx, lane)
	if err != nil || open > 0 || info.State.Msgs > 0 {
		return err
	}
	body, err := json.Marshal(emptied{Order: s.Rev, Last: info.State.LastSeq})
	if err != nil {
		return fmt.Errorf("encode the end of a drain: %w", err)
	}
	_, err = q.steering.Put(ctx, emptyPrefix+string(lane), body)
	return refusal("write the end of a drain", err)
}

// openIn counts the accepted tickets of a lane that have not ended, and mends those that
// their lane does not know of. It reads the whole bucket.
func (q *Queue) openIn(ctx context.Context, lane chat.Lane) (open int, err error) {
	watch, err := q.tickets.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return 0, fmt.Errorf("read all tickets: %w", err)
	}
	defer func() { _ = watch.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return open, ctx.Err()
		case entry, more := <-watch.Updates():
			if !more {
				return open, errors.New("read all tickets: ended early")
			}
			if entry == nil {
				return open, nil
			}
			s, err := decodeStored(entry)
			if err != nil {
				q.log.Error().Err(err).Msg("ticket cannot be read")
				continue
			}
			// An accepting ticket that no lane holds was never accepted.
			if s.Lane != lane || s.Status.Ended() || s.Status == chat.Accepting {
				continue
			}
			open++
			if _, _, err := q.mend(ctx, s, time.Now()); err != nil {
				return open, err
			}
		}
	}
}

func (q *Queue) emptied(ctx context.Context, lane chat.Lane) (e emptied, err error) {
	entry, err := q.steering.Get(ctx, emptyPrefix+string(lane))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return e, nil
	}
	if err != nil {
		return e, fmt.Errorf("read the end of a drain: %w", err)
	}
	if err := json.Unmarshal(entry.Value(), &e); err != nil {
		return e, fmt.Errorf("decode the end of a drain: %w", err)
	}
	return e, nil
}
