package control

import (
	"time"

	"sluice/internal/chat"
)

// firstHold is what a permit's time in use is taken for before any was measured.
const firstHold = time.Second

// leastHold is the shortest time that a call takes: a permit that comes back sooner was
// not used, and tells nothing.
const leastHold = 5 * time.Millisecond

// holdWeight is the share of the newest measurement in the moving mean.
const holdWeight = 0.05

// Standing returns a waiting ticket's place in the line, counted from 1, and when it
// may expect its turn; ok is false if it does not wait. Both are estimates.
func (c *Controller) Standing(ticket string) (position int, eta time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	position, ok = c.table.Place(ticket, time.Now())
	return position, c.eta(position), ok
}

// Behind returns the place that a new ticket of a lane would have, and when it might
// expect its turn.
func (c *Controller) Behind(lane chat.Lane) (position int, eta time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	position = c.table.Behind(lane, time.Now())
	return position, c.eta(position)
}

// Vendor is how one vendor stands.
type Vendor struct {
	Name  string
	InUse int
	Limit int
}

// Vendors returns how each vendor stands, in no order.
func (c *Controller) Vendors() []Vendor {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Vendor, 0, len(c.cfg.Limits))
	for name := range c.cfg.Limits {
		used, limit := c.table.InUse(name)
		all = append(all, Vendor{Name: name, InUse: used, Limit: limit})
	}
	return all
}

// Waiting returns how many asks wait.
func (c *Controller) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.table.Waiting()
}

// eta estimates how long the one at a place waits: permits come back at the rate of
// limit ÷ mean hold. The caller holds mu.
func (c *Controller) eta(position int) time.Duration {
	if position < 1 {
		return 0
	}
	free := 0
	for name := range c.cfg.Limits {
		used, limit := c.table.InUse(name)
		free += max(0, limit-used)
	}
	hold := c.hold
	if hold == 0 {
		hold = firstHold
	}
	ahead := max(0, position-free)
	return time.Duration(float64(ahead) * float64(hold) / float64(c.table.Limit()))
}

// observe learns how long a permit was held. The caller holds mu.
func (c *Controller) observe(held time.Duration) {
	if held < leastHold {
		return
	}
	if c.hold == 0 {
		c.hold = held
		return
	}
	c.hold += time.Duration(holdWeight * float64(held-c.hold))
}
