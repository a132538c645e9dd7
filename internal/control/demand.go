package control

import (
	"time"

	"sluice/internal/gate"
)

// Demands returns who holds and waits for the permits of each vendor, as the controller said
// last: up to half a second ago. queue.ErrAbsent: no controller was heard of late.
func (m *Member) Demands() (map[string]gate.Demand, error) {
	if m.local != nil {
		if demands, served := m.local.lookDemands(); served {
			return demands, nil
		}
	}
	told, _, err := m.latest()
	return told.Demands, err
}

// lookDemands is look for who holds and waits.
func (c *Controller) lookDemands() (map[string]gate.Demand, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil || !c.server.granting(time.Now()) {
		return nil, false
	}
	return c.server.table.Demands(), true
}
