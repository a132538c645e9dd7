package control

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/gate"
	"sluice/internal/queue"
)

// MemberConfig describes a member.
type MemberConfig struct {
	Node string // unique id of this process, one subject token; required
	// Onlooker says that this process only asks for places in the line, as an api node
	// does: it never asks for a permit, and no controller waits for what it holds.
	Onlooker bool
	Hard     time.Duration // the longest that a call may hold a permit; 0: 150 s
	// Intake is what this process keeps to a share of while no controller decides who may
	// send; what a controller keeps to stands in its own config.
	Intake gate.Intake
	Log    zerolog.Logger
}

// Validate names the field that is wrong.
func (c MemberConfig) Validate() error {
	if c.Node == "" || strings.ContainsAny(c.Node, ".*> ") {
		return errors.New("member config: Node must be one token of a subject, is " + `"` + c.Node + `"`)
	}
	if c.Hard < 0 {
		return errors.New("member config: Hard must not be negative")
	}
	if err := c.Intake.Validate(); err != nil {
		return fmt.Errorf("member config: %w", err)
	}
	return nil
}

// Member is a process's way to the controller, wherever that is: in the same process
// an ask is a function call. It is safe for concurrent use.
type Member struct {
	cfg   MemberConfig
	queue *queue.Queue
	local *Controller // nil: no candidate runs in this process
	log   zerolog.Logger
	ready chan struct{}
	wake  chan struct{} // there is something to tell

	entrance *entrance

	sending sync.Mutex // keeps reports in their order; taken before all others
	parted  bool       // guarded by sending: good-bye was said, and nothing is told after it

	mu     sync.Mutex // guards the rest
	holder *holder
	closed chan struct{} // closed with mu held
	places placeCache
	told   hello // the controller's latest
	toldAt time.Time
	levels levels
}

// NewMember returns a member that tells nothing yet; what is asked waits. local is the
// candidate of the same process, or nil.
func NewMember(q *queue.Queue, local *Controller, cfg MemberConfig) (*Member, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Hard == 0 {
		cfg.Hard = defaultHard
	}
	m := &Member{
		cfg: cfg, queue: q, local: local, log: cfg.Log.With().Str("stage", "member").Logger(),
		ready: make(chan struct{}), wake: make(chan struct{}, 1),
		holder: newHolder(cfg.Node, time.Now()), closed: make(chan struct{}),
		places: newPlaceCache(), levels: newLevels(), entrance: newEntrance(cfg.Intake),
	}
	if local != nil {
		local.mu.Lock()
		local.own = m
		local.mu.Unlock()
	}
	return m, nil
}

// Ready is closed when the node is registered and may ask.
func (m *Member) Ready() <-chan struct{} { return m.ready }

// Ask waits for a permit until ctx ends (its cause is returned) or Run has ended
// (ErrClosed), also while there is no controller; or until the controller has refused it (a
// *gate.Refusal). A permit that was granted as ctx ended is given back.
func (m *Member) Ask(ctx context.Context, a gate.Ask) (gate.Permit, error) {
	if ctx.Err() != nil {
		return gate.Permit{}, context.Cause(ctx)
	}
	w := m.join(a)
	if w == nil {
		return gate.Permit{}, ErrClosed
	}
	m.tell()
	err := ErrClosed
	select {
	case got := <-w.granted:
		if got.refusal != nil {
			return gate.Permit{}, got.refusal
		}
		return got.Permit, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-m.closed:
	}
	m.mu.Lock()
	m.holder.leave(w)
	m.mu.Unlock()
	m.tell()
	return gate.Permit{}, err
}

// join makes a wait, unless who asks is turned away by now (nil): whoever says good-bye
// must know that nobody joins behind its back.
func (m *Member) join(a gate.Ask) *asking {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.closed:
		return nil
	default:
		return m.holder.ask(a)
	}
}

// turnAway ends all waits, and lets nobody join any more.
func (m *Member) turnAway() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.closed)
}

// End tells the controller at once how a permit's call ended. False: no controller has
// acknowledged a report for so long that the permit is lost, be it that this process was
// paused.
func (m *Member) End(p gate.Permit, e gate.End) (held bool) {
	m.mu.Lock()
	m.holder.expire(time.Now())
	held = m.holder.end(p.ID, e)
	m.mu.Unlock()
	m.tell()
	return held
}

// Release gives a permit back after a while. It never waits for anybody, and a second
// release of the same permit does nothing.
func (m *Member) Release(p gate.Permit, after time.Duration) {
	if after > 0 {
		time.AfterFunc(after, func() { m.Release(p, 0) })
		return
	}
	m.mu.Lock()
	m.holder.release(p.ID)
	m.mu.Unlock()
	m.tell()
}

// EndTurn lets the next ticket of a session begin. The caller has written the end of
// its ticket, or has given it up.
func (m *Member) EndTurn(tenant, session, ticket string) {
	m.mu.Lock()
	m.holder.endTurn(tenant, session, ticket)
	m.mu.Unlock()
	m.tell()
}

// State is what a member knows of the controller.
type State struct {
	Node  string    // of the controller; empty: none was heard of late
	Epoch uint64    // of the controller that was heard last; 0: none ever
	Since time.Time // when one began to be heard, or when it was missed
}

// stateAge is how long a controller is believed to live after its last sign of life.
const stateAge = 3 * time.Second

// State returns what is known of the controller now.
func (m *Member) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.holder
	switch {
	case h.epoch == 0:
		return State{Since: h.origin}
	case time.Since(h.heardAt) >= stateAge:
		return State{Epoch: h.epoch, Since: h.heardAt}
	}
	return State{Node: h.controller, Epoch: h.epoch, Since: h.heardSince}
}

// tell sends what is to be told: at once to a controller in this process, else by
// Run, where all that came while it was at work travels together.
func (m *Member) tell() {
	if m.local != nil && m.local.isNear() {
		m.report()
		return
	}
	m.nudge()
}

func (m *Member) nudge() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// report sends all reports that are due, in their order.
func (m *Member) report() {
	m.sending.Lock()
	defer m.sending.Unlock()
	if m.parted {
		return
	}
	m.mu.Lock()
	due := m.holder.next(time.Now())
	m.mu.Unlock()
	for _, r := range due {
		m.send(r)
	}
}

// send gives a report to the controller. One that is lost is made up for by the next.
func (m *Member) send(r report) {
	if m.local != nil && m.local.serve(r) {
		return
	}
	body, err := encodeReport(r)
	if err == nil {
		err = m.queue.SendReport(body)
	}
	if err != nil {
		m.log.Warn().Err(err).Msg("report was not sent")
	}
}

// receive takes in a controller's message; it never blocks. What it gives rise to is
// told by Run: the caller may hold the controller's lock.
func (m *Member) receive(mail mail) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.holder.expire(now)
	m.holder.receive(mail, now)
	if m.holder.news() || m.holder.fullAt.IsZero() {
		m.nudge()
	}
}
