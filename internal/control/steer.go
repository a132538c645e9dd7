package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
)

// ErrUnknown says that the controller has no vendor of that name.
var ErrUnknown = errors.New("unknown vendor")

// steering is an operator's word about a vendor.
type steering struct {
	Vendor string `json:"vendor"`
	Open   bool   `json:"open"` // the breaker: no call goes
}

// How long an operator's word waits for a controller that grants, and how often it is said
// again: twice is as good as once.
const (
	steerLimit = 5 * time.Second
	steerAgain = 250 * time.Millisecond
)

// Steer opens a vendor's breaker until it is closed again, or closes it at once and ends a
// pause. It goes to whoever is elected, and the next controllers keep to it. ErrUnknown:
// there is no such vendor; queue.ErrAbsent: there is no controller.
func (m *Member) Steer(ctx context.Context, vendor string, open bool) error {
	body, err := json.Marshal(steering{Vendor: vendor, Open: open})
	if err != nil {
		return fmt.Errorf("encode word about vendor %s: %w", vendor, err)
	}
	ctx, cancel := context.WithTimeout(ctx, steerLimit)
	defer cancel()
	for {
		answer, err := m.say(ctx, body)
		switch {
		case err == nil && string(answer) != steered:
			return fmt.Errorf("vendor %s: %w", vendor, ErrUnknown)
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return queue.ErrAbsent
		}
		pause(ctx, steerAgain)
	}
}

// say says an operator's word once. A controller that does not grant yet leaves it unanswered.
func (m *Member) say(ctx context.Context, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, steerAgain)
	defer cancel()
	return m.queue.AskSteer(ctx, body)
}

// steered is the answer to a word that was obeyed.
const steered = "ok"

// steer obeys an operator's word; nil: this controller does not grant.
func (c *Controller) steer(body []byte) []byte {
	var word steering
	if err := json.Unmarshal(body, &word); err != nil {
		c.log.Warn().Err(err).Msg("word about a vendor dropped")
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.server == nil || !c.server.granting(now) {
		return nil
	}
	if !c.server.table.Steer(word.Vendor, word.Open, now) {
		return []byte("unknown")
	}
	c.server.grant(now)
	c.deliver()
	return []byte(steered)
}

// VendorStates returns how each vendor stands, as the controller said last: up to half a
// second ago. queue.ErrAbsent: no controller was heard of late.
func (m *Member) VendorStates() (map[string]gate.AccountState, error) {
	if m.local != nil {
		if states, served := m.local.lookStates(); served {
			return states, nil
		}
	}
	told, _, err := m.latest()
	return told.States, err
}

// lookStates is look for the vendors.
func (c *Controller) lookStates() (map[string]gate.AccountState, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.server == nil || !c.server.granting(now) {
		return nil, false
	}
	return c.server.table.States(now), true
}

// Running returns how many permits each lane has in use, as the controller said last.
func (m *Member) Running() (map[chat.Lane]int, error) {
	told, _, err := m.latest()
	if err == nil && told.Running == nil { // nothing runs, which is something to know
		return map[chat.Lane]int{}, nil
	}
	return told.Running, err
}

// latest returns what the controller said last, if it is believed to live.
func (m *Member) latest() (hello, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.holder.heardAt) >= stateAge {
		return hello{}, time.Time{}, queue.ErrAbsent
	}
	return m.told, m.toldAt, nil
}

// states returns what the former controller said last of the vendors, and when.
func (m *Member) states() (map[string]gate.AccountState, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.told.States, m.toldAt
}
