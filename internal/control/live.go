package control

import "time"

// live counts the nodes that are there to hold jobs. One that is suspended counts: a node
// that waits for nothing is suspended for a moment before each of its renewals.
func (s *server) live(now time.Time) int {
	count := 0
	for _, n := range s.nodes {
		if n.known && !n.past && s.silence(n, now) < silentAfter {
			count++
		}
	}
	return count
}

// lookLive is look for the number of live nodes.
func (c *Controller) lookLive() (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.server == nil || !c.server.granting(now) {
		return 0, false
	}
	return c.server.live(now), true
}

// Live returns how many processes are there to hold jobs, this one included: as of the
// controller's last sign of life, and 1 if none was heard of late.
func (m *Member) Live() int {
	if m.local != nil {
		if live, served := m.local.lookLive(); served {
			return max(1, live)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.holder.heardAt) >= stateAge {
		return 1
	}
	return max(1, m.told.Live)
}
