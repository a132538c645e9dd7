package ledger

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	eventTable  = "talk_events"
	monthLayout = "2006_01"
	// monthLock serialises the attaching of partitions over all processes; the number itself means nothing.
	monthLock = 7236450164
	// lockFor bounds the wait for the parent table. Whoever waits for it makes all later readers and writers wait too.
	lockFor = "set local lock_timeout = '5s'"
)

// months remembers which partitions are there. The zero value knows none. Safe for concurrent use.
type months struct {
	mu    sync.Mutex
	known map[time.Time]bool
}

func (m *months) missing(wanted []time.Time) []time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []time.Time
	for _, month := range wanted {
		if !m.known[month] {
			out = append(out, month)
		}
	}
	return out
}

func (m *months) add(there []time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[time.Time]bool{}
	}
	for _, month := range there {
		m.known[month] = true
	}
}

func (m *months) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known = nil
}

// monthOf is the first instant of t's month, in UTC, which is where partitions begin.
func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// wantedMonths are those of the events, of now, and the one ahead: no event ever waits for a table at the turn of a
// month.
func wantedMonths(events []EventRow, now time.Time) []time.Time {
	this := monthOf(now)
	out := []time.Time{this, this.AddDate(0, 1, 0)}
	seen := map[time.Time]bool{out[0]: true, out[1]: true}
	for _, e := range events {
		if month := monthOf(e.At); !seen[month] {
			seen[month] = true
			out = append(out, month)
		}
	}
	return out
}

func partition(month time.Time) string { return eventTable + "_" + month.Format(monthLayout) }

func parsePartition(name string) (month time.Time, ok bool) {
	text, ok := strings.CutPrefix(name, eventTable+"_")
	if !ok {
		return time.Time{}, false
	}
	month, err := time.Parse(monthLayout, text)
	return month, err == nil
}

// attach makes the partitions that are not known to be there.
func (l *Ledger) attach(ctx context.Context, wanted []time.Time) error {
	missing := l.months.missing(wanted)
	if len(missing) == 0 {
		return nil
	}
	err := pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockFor); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", int64(monthLock)); err != nil {
			return err
		}
		for _, month := range missing {
			_, err := tx.Exec(ctx, fmt.Sprintf("create table if not exists %s partition of %s for values from ('%s') to ('%s')",
				partition(month), eventTable, month.Format(time.RFC3339), month.AddDate(0, 1, 0).Format(time.RFC3339)))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("attach month: %w", err)
	}
	l.months.add(missing)
	return nil
}
