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

// Clearance says how what waits in a lane ends.
type Clearance string

// The ways to clear a lane.
const (
	ClearByAnswer Clearance = "answer" // each gets the answer without a vendor
	ClearByPurge  Clearance = "purge"  // each is cancelled
)

// Clearing is a request to end what waited in a lane when it was made. It is durable:
// some process works it off ticket by ticket, and another one goes on after its death.
type Clearing struct {
	Lane   chat.Lane `json:"lane"`
	Way    Clearance `json:"way"`
	Actor  string    `json:"actor"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`

	Next  uint64   `json:"next"`           // stream sequence from which on nobody has looked
	Until uint64   `json:"until"`          // the lane's newest message when it was asked for
	Step  []placed `json:"step,omitempty"` // being ended now
	Ended int      `json:"ended"`          // by this request
	Left  int      `json:"left"`           // not waiting: a vendor works on them
	Gone  int      `json:"gone"`           // ended by somebody else meanwhile
	Done  bool     `json:"done"`           // nothing is left to do
	Rev   uint64   `json:"-"`
}

// placed names one ticket and its message in the lane.
type placed struct {
	ID  string `json:"id"`
	Seq uint64 `json:"seq"`
}

// ErrBusy says that another request of another kind is being worked off.
var ErrBusy = errors.New("the lane is being cleared in another way")

const clearingPrefix = "clear."

// Clearing returns the newest request for a lane, done or not, or ErrNotFound.
func (q *Queue) Clearing(ctx context.Context, lane chat.Lane) (Clearing, error) {
	entry, err := q.steering.Get(ctx, clearingPrefix+string(lane))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Clearing{}, fmt.Errorf("clearing of lane %s: %w", lane, ErrNotFound)
	}
	if err != nil {
		return Clearing{}, fmt.Errorf("read the clearing of lane %s: %w", lane, err)
	}
	var c Clearing
	if err := json.Unmarshal(entry.Value(), &c); err != nil {
		return c, fmt.Errorf("decode the clearing of lane %s: %w", lane, err)
	}
	c.Rev = entry.Revision()
	return c, nil
}

// setClearing writes a request over its revision. ErrLost: somebody else works on it.
func (q *Queue) setClearing(ctx context.Context, c *Clearing) error {
	body, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode the clearing of lane %s: %w", c.Lane, err)
	}
	rev, err := q.steer(ctx, clearingPrefix+string(c.Lane), body, c.Rev)
	if err == nil {
		c.Rev = rev
	}
	return err
}

// Clear asks for what waits in a lane now to be ended: c says for which lane, how, by whom and why.
// The request is durable on return. One of the same kind that is not done yet is
// returned instead, with its counts so far. ErrBusy: one of the other kind is not done yet.
func (l *Lanes) Clear(ctx context.Context, c Clearing) (Clearing, error) {
	before, err := l.queue.Clearing(ctx, c.Lane)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return c, err
	}
	switch {
	case err == nil && !before.Done && before.Way == c.Way:
		signal(l.asked[c.Lane])
		return before, nil
	case err == nil && !before.Done:
		return before, ErrBusy
	}
	info, err := l.queue.lanes[c.Lane].Info(ctx)
	if err != nil {
		return c, fmt.Errorf("read depth of %s: %w", c.Lane, err)
	}
	c.Next, c.Until, c.Rev = info.State.FirstSeq, info.State.LastSeq, before.Rev
	if err := l.queue.setClearing(ctx, &c); errors.Is(err, ErrLost) {
		return c, ErrBusy
	} else if err != nil {
		return c, err
	}
	l.own(&c)
	signal(l.asked[c.Lane])
	return c, nil
}

// own remembers that this process works on a request, and at which revision.
func (l *Lanes) own(c *Clearing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mine[c.Lane] = c.Rev
}

func (l *Lanes) isMine(c *Clearing) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mine[c.Lane] == c.Rev
}

// did reports whether a ticket's end is the one that the request asks for.
func (c *Clearing) did(t *chat.Ticket) bool {
	if t.EndedAt == nil || t.EndedAt.Before(c.At) {
		return false
	}
	if c.Way == ClearByPurge {
		return t.Status == chat.Cancelled && t.Reason == chat.ReasonOperator
	}
	return t.Status == chat.Answered && t.Reason == chat.ReasonOverdue
}

// end ends a ticket as the request asks for.
func (c *Clearing) end(t *chat.Ticket, answer func(*chat.Ticket, chat.Reason) chat.Answer, now time.Time) {
	if c.Way == ClearByPurge {
		t.Cancel(chat.ReasonOperator, now)
		return
	}
	// The reason is that of its deadline, which the operator has put to now.
	t.Answer(answer(t, chat.ReasonOverdue), now)
}
