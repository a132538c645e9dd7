package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"sluice/internal/chat"
)

// keepAway is how long a departure is kept that nobody dealt with: every node that could
// have was away.
const keepAway = 10 * time.Minute

// relistAway is how often all departures are read anew: a watch may miss one while its
// server changes.
const relistAway = 5 * time.Second

// Departure says that the last socket of a session on some node has gone while something
// waits for the customer. A later one of the same session has a greater Rev.
type Departure struct {
	Tenant  string
	Session string
	Rev     uint64 // 0: it was withdrawn
}

func awayKey(tenant, session string) string { return tenant + "." + session }

// Depart writes a departure of a session, for every node to see.
func (q *Queue) Depart(ctx context.Context, tenant, session string) error {
	_, err := q.away.Put(ctx, awayKey(tenant, session), nil)
	return refusal("note that a customer left", err)
}

// Withdraw takes a departure back: of all that try, one is told that it did. It is how a
// node says that the customer is back, and how one claims to act on the departure.
func (q *Queue) Withdraw(ctx context.Context, d Departure) (bool, error) {
	err := q.away.Purge(ctx, awayKey(d.Tenant, d.Session), jetstream.LastRevision(d.Rev), jetstream.PurgeTTL(time.Minute))
	if outpaced(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("withdraw a departure: %w", err)
	}
	return true, nil
}

// Departures gives each departure to visit, those of before first, and again with Rev 0
// when it was withdrawn, until ctx ends. The calls come one at a time.
func (q *Queue) Departures(ctx context.Context, visit func(Departure)) {
	known := map[string]uint64{}
	for ctx.Err() == nil {
		round, cancel := context.WithTimeout(ctx, relistAway)
		err := q.watchAway(round, known, visit)
		cancel()
		if err != nil && ctx.Err() == nil {
			q.log.Warn().Err(err).Msg("departures of customers cannot be read, nobody is taken for gone")
			_ = pause(ctx, time.Second)
		}
	}
}

// watchAway reads all departures and then each change, until ctx ends.
func (q *Queue) watchAway(ctx context.Context, known map[string]uint64, visit func(Departure)) error {
	watch, err := q.away.WatchAll(ctx)
	if err != nil {
		return fmt.Errorf("watch departures: %w", err)
	}
	defer func() { _ = watch.Stop() }()
	listed := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case entry, open := <-watch.Updates():
			switch {
			case !open:
				return nil
			case entry == nil: // all that there was has come
				for key := range known {
					if !listed[key] {
						tellAway(known, key, 0, visit)
					}
				}
			case entry.Operation() == jetstream.KeyValuePut:
				listed[entry.Key()] = true
				tellAway(known, entry.Key(), entry.Revision(), visit)
			default:
				tellAway(known, entry.Key(), 0, visit)
			}
		}
	}
}

// tellAway tells of a departure, or of its withdrawal, that is not known yet.
func tellAway(known map[string]uint64, key string, rev uint64, visit func(Departure)) {
	if known[key] == rev {
		return
	}
	if known[key] = rev; rev == 0 {
		delete(known, key)
	}
	tenant, session, _ := strings.Cut(key, ".")
	visit(Departure{Tenant: tenant, Session: session, Rev: rev})
}

// Awaited returns the open tickets of a session whose answers nobody would get who is
// not on a socket: what came in over one, waits in an interactive lane, and names
// neither phone nor callback.
func (q *Queue) Awaited(ctx context.Context, tenant, session string) ([]chat.Ticket, error) {
	rec, err := q.Session(ctx, tenant, session)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var awaited []chat.Ticket
	for _, m := range rec.Recent {
		if !m.Open {
			continue
		}
		s, err := q.Ticket(ctx, m.Ticket)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !s.Status.Ended() && s.CMID != "" && s.Phone == "" && s.CallbackURL == "" && s.Lane.Interactive() {
			awaited = append(awaited, s.Ticket)
		}
	}
	return awaited, nil
}

// Abandon cancels at now what waits for a customer who departed and did not come back,
// and returns how much that was. Where the departure was withdrawn it does nothing.
func (q *Queue) Abandon(ctx context.Context, d Departure, now time.Time) (int, error) {
	awaited, err := q.Awaited(ctx, d.Tenant, d.Session)
	if err != nil {
		return 0, err
	}
	// From here on a return is too late. A process that dies now leaves jobs that run.
	if mine, err := q.Withdraw(ctx, d); err != nil || !mine {
		return 0, err
	}
	cancelled := 0
	var faults error
	for _, t := range awaited {
		_, err := q.Cancel(ctx, t.ID, chat.ReasonAbandoned, now)
		if err == nil {
			cancelled++
		} else if !errors.Is(err, ErrEnded) && !errors.Is(err, ErrInEffect) {
			faults = errors.Join(faults, err)
		}
	}
	return cancelled, faults
}
