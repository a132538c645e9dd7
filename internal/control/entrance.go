package control

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

// intakeLimit is how long a node waits for the controller's word about one message.
const intakeLimit = 250 * time.Millisecond

// entrance is how a node lets messages in when no controller says who may. It is safe for
// concurrent use; its lock is taken after all others.
type entrance struct {
	mu        sync.Mutex
	cfg       gate.Intake
	turnstile *gate.Turnstile
	nodes     int       // that share the limits
	alone     bool      // the last message was let in or turned away without a controller
	decidedAt time.Time // when a controller did it last
}

func newEntrance(cfg gate.Intake) *entrance {
	return &entrance{cfg: cfg, turnstile: gate.NewTurnstile(cfg)}
}

// Enter lets a message in or says with a *chat.Error when it may come again. undo, called
// at most once, gives back what was taken by a message that was not accepted after all.
//
// The controller decides for all nodes: what it lets in is exact over the cluster. Where it
// gives no answer within intakeLimit, this node goes on by its share: the limits ÷ the
// nodes that took messages in when a controller was heard last, but at least 1. What all
// let in together is then within the limits unless nodes have joined since (one that has
// never heard a controller takes itself to be the only one), a limit is smaller than the
// number of nodes, or there is a controller after all: one that not all can hear, or that
// was slow or paused for less than two seconds. No burst is given twice. But the tokens of
// a minute that falls on both sides are counted on each, what a node lets in by itself
// does not count for the day, and no lane is tightened. The lanes' bounds hold as ever.
func (m *Member) Enter(ctx context.Context, a chat.Arrival) (undo func(), err error) {
	v, decided := m.askIntake(ctx, a)
	if !decided {
		v = m.enterAlone(a)
	}
	if v.Turned != nil {
		return nil, turnedAway(*v.Turned)
	}
	return func() { m.undo(v) }, nil
}

// SetIntake puts new limits in force for the time without a controller.
func (m *Member) SetIntake(cfg gate.Intake) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	e := m.entrance
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cfg = cfg
	if e.alone {
		e.turnstile.SetConfig(cfg.Share(e.nodes), time.Now())
	}
	return nil
}

// Room returns when a lane that is full has a place again, as fast as it has emptied of
// late; ok is false where nobody knows.
func (m *Member) Room(lane chat.Lane) (wait time.Duration, ok bool) {
	if m.local != nil {
		if wait, ok = m.local.intake.room(lane); ok {
			return wait, true
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.toldAt) >= stateAge {
		return 0, false
	}
	wait, ok = m.told.Room[lane]
	return wait, ok
}

// askIntake asks the controller. False: nobody decides for all nodes now.
func (m *Member) askIntake(ctx context.Context, a chat.Arrival) (v verdict, decided bool) {
	if m.local != nil {
		v, decided = m.local.admit(a)
	}
	if !decided && m.mayHear() {
		v, decided = m.askIntakeFar(ctx, a)
	}
	if decided {
		m.entrance.decided(time.Now())
	}
	return v, decided
}

// mayHear reports whether there may be a controller: one was heard of late, or this node
// has only begun to listen.
func (m *Member) mayHear() bool {
	s := m.State()
	return s.Node != "" || time.Since(s.Since) < stateAge
}

func (m *Member) askIntakeFar(ctx context.Context, a chat.Arrival) (v verdict, decided bool) {
	ctx, cancel := context.WithTimeout(ctx, intakeLimit)
	defer cancel()
	body, err := json.Marshal(entry{Arrival: &a})
	if err == nil {
		body, err = m.queue.AskIntake(ctx, body)
	}
	if err == nil {
		err = json.Unmarshal(body, &v)
	}
	if err == nil && v.Epoch == 0 {
		err = errors.New("no verdict")
	}
	if err != nil {
		m.log.Debug().Err(err).Msg("the intake does not answer")
	}
	return v, err == nil
}

func (m *Member) enterAlone(a chat.Arrival) verdict {
	m.mu.Lock()
	nodes, heardAt := max(m.told.Doors, 1), m.toldAt
	if heardAt.IsZero() {
		heardAt = m.holder.origin
	}
	m.mu.Unlock()
	now := time.Now()
	e := m.entrance
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.alone {
		e.alone, e.nodes = true, nodes
		if e.decidedAt.After(heardAt) {
			heardAt = e.decidedAt
		}
		// Until then a controller may have emptied every bucket.
		e.turnstile.SetConfig(e.cfg.Share(nodes), now)
		e.turnstile.Empty(heardAt, now)
		m.log.Warn().Int("nodes", nodes).Msg("no controller answers, messages come in by this node's share")
	}
	pass, turned := e.turnstile.Enter(a, now)
	return verdict{Pass: pass, Turned: turned}
}

func (m *Member) undo(v verdict) {
	switch {
	case v.Epoch == 0:
		e := m.entrance
		e.mu.Lock()
		defer e.mu.Unlock()
		e.turnstile.Back(v.Pass, time.Now())
	case m.local != nil && m.local.giveBack(v):
	default:
		body, err := json.Marshal(entry{Back: &v})
		if err == nil {
			err = m.queue.SendIntake(body)
		}
		if err != nil {
			m.log.Warn().Err(err).Msg("a message that was not accepted counts for its tenant")
		}
	}
}

func (e *entrance) decided(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.alone, e.decidedAt = false, now
}

// turnedAway is what the sender of a message is told. The time is rounded up: whoever
// comes again to the millisecond is not too early.
func turnedAway(t gate.TurnedAway) *chat.Error {
	detail := "too many tenants send messages at once; try again after the time in retry_after_ms"
	switch t.Limit {
	case gate.LimitRate:
		detail = "the tenant sends more messages a second than it may; try again after the time in retry_after_ms"
	case gate.LimitLane:
		detail = "the lane is filling and takes fewer messages of each tenant; try again after the time in retry_after_ms"
	case gate.LimitTokens:
		detail = "the tenant's tokens of this minute are used up; try again after the time in retry_after_ms"
	case gate.LimitUser:
		detail = "this customer's tokens of this minute are used up; try again after the time in retry_after_ms"
	case gate.LimitDay:
		detail = "the tenant's messages of this day are used up; the next day begins at midnight UTC"
	}
	wait := (t.Wait + time.Millisecond - 1).Truncate(time.Millisecond)
	return &chat.Error{Kind: chat.Overloaded, Code: t.Limit.Code(), Detail: detail, RetryAfter: wait}
}
