package control

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/valve"
)

// waitsEvery is how often it is looked who has waited longest.
const waitsEvery = 100 * time.Millisecond

// ended takes in how a call ended: the breaker, the windows and the valve go by it.
func (s *server) ended(o outcome) {
	p, told := s.table.End(o.ID, o.End, s.now)
	if !told || !p.Lane.Interactive() || s.cfg.Gate.Vendors[p.Vendor].Tool {
		return
	}
	switch o.Outcome {
	case gate.Good, gate.Slow:
		s.valve.Call(valve.Call{FirstToken: o.FirstToken}, s.now)
	case gate.Failed:
		s.valve.Call(valve.Call{Failed: true}, s.now)
	case gate.Ignored, gate.Throttled: // nobody's failure
	}
}

// level finds the levels at now. What has changed is told to all nodes at once.
func (s *server) level(now time.Time) {
	if now.Sub(s.waitsAt) >= waitsEvery {
		s.valve.SetWaits(s.table.Waits(now))
		s.waitsAt = now
	}
	if s.valve.Look(now) {
		s.news = true
	}
}

// fill takes in how full the lanes are.
func (c *Controller) fill(s *server, lane chat.Lane, full float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.valve.SetDepth(lane, full)
	s.level(time.Now())
}

// SetValve puts new conditions of the levels in force.
func (c *Controller) SetValve(cfg valve.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cfg.Valve = cfg
	if c.server != nil {
		c.server.valve.SetConfig(cfg)
		c.server.level(time.Now())
	}
}

// logChanges tells operators of levels that have changed.
func (c *Controller) logChanges(changes []valve.Change) {
	for _, ch := range changes {
		c.log.Info().Str("lane", string(ch.Lane)).Int("from", ch.From).Int("to", ch.To).Str("cause", ch.Cause).Msg("load level")
	}
}

// Levels returns the level that a ticket of each interactive lane feels, as this process
// knows it; missing: 0.
func (m *Member) Levels() map[chat.Lane]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.levels.by
}

// Changes returns the latest changes of levels, oldest first, as the controller has stored
// them: what happened in the last second may be missing.
func (m *Member) Changes(ctx context.Context) ([]valve.Change, error) {
	body, err := m.queue.Vendors(ctx)
	if err != nil || body == nil {
		return nil, err
	}
	var kept lasting
	if err := json.Unmarshal(body, &kept); err != nil {
		return nil, fmt.Errorf("decode the changes of levels: %w", err)
	}
	return kept.Valve.Changes, nil
}
