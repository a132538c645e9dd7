package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The spool's bound, and when one without a record is taken for one that was left behind:
// so long nothing was added to it.
const (
	maxSpool   = 1 << 30
	StaleSpool = 10 * time.Minute
)

// Part is some lines of a batch one after another, as they were checked.
type Part struct {
	First int               `json:"first"` // line, from 1
	Lines []json.RawMessage `json:"lines"`

	seq uint64
}

// openSpool makes the stream in which lines wait for their tickets. It holds whole parts
// in messages, so that a feeder finds its place in it at once. It has no size of its own:
// the servers would set that aside, also in an account that has less.
func (q *Queue) openSpool(ctx context.Context) (err error) {
	q.spool, err = q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: spoolStream, Subjects: []string{spoolSubject("*", "*")}, Storage: jetstream.FileStorage,
		Replicas: q.cfg.Replicas, AllowDirect: false,
	})
	if err != nil {
		return fmt.Errorf("open stream %s: %w", spoolStream, err)
	}
	return nil
}

func spoolSubject(spool, part string) string { return "spool." + spool + "." + part }

// Spool adds a part to the lines of a batch that is being checked. Parts are added in
// their order. ErrStorage: there is no room for it. Several at once may go beyond the
// bound by a part each.
func (q *Queue) Spool(ctx context.Context, spool string, p Part) error {
	if err := q.room(ctx); err != nil {
		return err
	}
	if err := q.before(BatchPart, spool); err != nil {
		return err
	}
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode lines of %s: %w", spool, err)
	}
	info, err := q.spool.Info(ctx)
	if err != nil {
		return fmt.Errorf("measure the spool: %w", err)
	}
	if info.State.Bytes+uint64(len(body)) > maxSpool {
		return fmt.Errorf("%d bytes in the spool: %w", info.State.Bytes, ErrStorage)
	}
	_, err = q.js.Publish(ctx, spoolSubject(spool, strconv.Itoa(p.First)), body)
	return refusal("spool lines of "+spool, err)
}

// PartAfter returns the part that holds the line after a cursor. Parts before it are
// removed: their lines have tickets. ErrNotFound: there is none.
func (q *Queue) PartAfter(ctx context.Context, b Batch) (Part, error) {
	for from := uint64(1); ; {
		raw, err := q.spool.GetMsg(ctx, from, jetstream.WithGetMsgSubject(spoolSubject(b.Spool, "*")))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return Part{}, fmt.Errorf("lines of batch %s after %d: %w", b.ID, b.Cursor, ErrNotFound)
		}
		if err != nil {
			return Part{}, fmt.Errorf("read lines of batch %s: %w", b.ID, err)
		}
		p := Part{seq: raw.Sequence}
		if err := json.Unmarshal(raw.Data, &p); err != nil {
			return Part{}, fmt.Errorf("decode lines of batch %s: %w", b.ID, err)
		}
		switch last := p.First + len(p.Lines) - 1; {
		case p.First > b.Cursor+1:
			return Part{}, fmt.Errorf("line %d of batch %s: %w", b.Cursor+1, b.ID, ErrNotFound)
		case last > b.Cursor:
			return p, nil
		}
		if _, err := erase(ctx, q.spool, p.seq); err != nil {
			return Part{}, fmt.Errorf("remove lines of batch %s: %w", b.ID, err)
		}
		from = raw.Sequence + 1
	}
}

// SweepSpools removes what is spooled and belongs to no batch that is open, if nobody has
// added to it since.
func (q *Queue) SweepSpools(ctx context.Context, since time.Time) (removed int, err error) {
	info, err := q.spool.Info(ctx, jetstream.WithSubjectFilter(spoolSubject("*", "*")))
	if err != nil {
		return 0, fmt.Errorf("list the spools: %w", err)
	}
	newest := map[string]string{} // spool → one of its parts
	for subject := range info.State.Subjects {
		if parts := strings.Split(subject, "."); len(parts) == 3 {
			newest[parts[1]] = subject
		}
	}
	if len(newest) == 0 {
		return 0, nil
	}
	// Read after the spools: one that is found has its batch in the list, if it has one.
	open, err := q.OpenBatches(ctx)
	if err != nil {
		return 0, err
	}
	for _, b := range open {
		if b.Cursor < b.Total {
			delete(newest, b.Spool)
		}
	}
	for spool := range newest {
		last, err := q.spool.GetLastMsgForSubject(ctx, spoolSubject(spool, "*"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return removed, fmt.Errorf("read spool %s: %w", spool, err)
		}
		if !last.Time.Before(since) {
			continue
		}
		if err := q.DropBatch(ctx, spool); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}
