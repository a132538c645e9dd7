package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/valve"
)

// ErrClosed says that this process asks for no permits any more.
var ErrClosed = errors.New("the way to the controller is closed")

// Config describes a controller.
type Config struct {
	Gate gate.Config // the limits of the vendors, and the order of who waits; at least one vendor
	// Quotas is the contracted number of calls per vendor. What lies between the limit
	// and the quota may be granted while holders are silent. Missing: the limit.
	Quotas map[string]int
	Node   string // unique id of this process, one subject token; required
	// Alone says that the lock of the data directory proves every former process dead
	// and keeps out any other: there is no election, registrations and charges are
	// removed, and the controller grants after Settle.
	Alone bool
	// Settle is how long a controller that is alone waits before its first grant, so that
	// calls of a process that was killed a moment ago have left the vendor. 0: 250 ms.
	Settle time.Duration
	Valve  valve.Config  // the zero value: the level is 0
	Hard   time.Duration // the longest that a call may hold a permit; 0: 150 s
	Log    zerolog.Logger
}

// defaultHard is the hard limit of one answer in the dispatcher.
const defaultHard = 150 * time.Second

// Validate names the field that is wrong.
func (c Config) Validate() error {
	if err := checkLimits(c.Gate, c.Quotas); err != nil {
		return fmt.Errorf("controller config: %w", err)
	}
	if c.Node == "" {
		return errors.New("controller config: Node is empty")
	}
	if c.Settle < 0 || c.Hard < 0 {
		return errors.New("controller config: Settle and Hard must not be negative")
	}
	return nil
}

func checkLimits(g gate.Config, quotas map[string]int) error {
	if err := g.Validate(); err != nil {
		return err
	}
	for name, v := range g.Vendors {
		if quota, known := quotas[name]; known && quota < v.Limit {
			return fmt.Errorf("quota of vendor %s must be at least its limit %d, is %d", name, v.Limit, quota)
		}
	}
	return nil
}

// Controller is a candidate for the one controller. Run takes part in the election
// and, while elected, serves: several may run, one grants at a time. It is safe for
// concurrent use.
type Controller struct {
	cfg   Config
	queue *queue.Queue
	log   zerolog.Logger
	ready chan struct{}
	once  sync.Once // of ready

	intake intake

	// mu is taken after Member.sending and before Member.mu.
	mu     sync.Mutex
	server *server // of the latest election that was won; nil: none
	own    *Member // of this process; nil: none
}

// New returns a controller that does not stand for election yet.
func New(q *queue.Queue, cfg Config) (*Controller, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Settle == 0 {
		cfg.Settle = 250 * time.Millisecond
	}
	if cfg.Hard == 0 {
		cfg.Hard = defaultHard
	}
	return &Controller{
		cfg: cfg, queue: q, log: cfg.Log.With().Str("stage", "controller").Logger(), ready: make(chan struct{}),
	}, nil
}

// Ready is closed when a controller is known: another one was elected, or this one; one
// that is alone must have begun to grant.
func (c *Controller) Ready() <-chan struct{} { return c.ready }

func (c *Controller) isReady() { c.once.Do(func() { close(c.ready) }) }

// Vendor is how one vendor stands.
type Vendor struct {
	Name  string
	InUse int
	Limit int
}

// Vendors returns how each vendor stands, in no order. Only the elected controller
// knows; elsewhere nothing is in use.
func (c *Controller) Vendors() []Vendor {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Vendor, 0, len(c.cfg.Gate.Vendors))
	for name, limits := range c.cfg.Gate.Vendors {
		v := Vendor{Name: name, Limit: limits.Limit}
		if c.server != nil {
			v.InUse, v.Limit = c.server.table.InUse(name, time.Now())
		}
		all = append(all, v)
	}
	return all
}

// Probed returns how the probes of each vendor's breaker went since this controller was
// elected; nil: another one is, or none.
func (c *Controller) Probed() map[string]gate.Probed {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil || !c.server.granting(time.Now()) {
		return nil
	}
	return c.server.table.Probed()
}

// SetLimits puts new limits and quotas in force, at once if this controller is elected.
// What is in use above a lower limit ends in its own time, and nobody is let in before.
func (c *Controller) SetLimits(g gate.Config, quotas map[string]int) error {
	if err := checkLimits(g, quotas); err != nil {
		return fmt.Errorf("set limits: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cfg.Gate, c.cfg.Quotas = g, quotas
	if c.server != nil {
		c.server.setLimits(g, quotas, time.Now())
		c.deliver()
	}
	c.intake.setConfig(g.Intake, time.Now())
	return nil
}

// Waiting returns how many asks wait at this controller.
func (c *Controller) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil {
		return 0
	}
	return c.server.table.Waiting()
}

// serve takes in a report of this process's own member without a detour. False: this
// controller does not serve.
func (c *Controller) serve(r report) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.server == nil || !c.server.near(now) {
		return false
	}
	c.server.handle(r, now)
	c.deliver()
	return !c.server.closed
}

// isNear reports whether this controller serves its own process without a detour.
func (c *Controller) isNear() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server != nil && c.server.near(time.Now())
}

// hear takes in a report from another process.
func (c *Controller) hear(body []byte) {
	r, err := decodeReport(body)
	if err != nil {
		c.log.Warn().Err(err).Msg("report dropped")
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server != nil {
		c.server.handle(r, time.Now())
		c.deliver()
	}
}

// deliver sends what the server has written, in its order. The caller holds mu.
func (c *Controller) deliver() {
	near := c.server.near(time.Now())
	for node, m := range c.server.post() {
		if near && c.own != nil && node == c.own.cfg.Node {
			c.own.receive(*m)
			continue
		}
		body, err := json.Marshal(m)
		if err == nil {
			err = c.queue.SendMail(node, body)
		}
		if err != nil {
			c.log.Warn().Err(err).Str("node", node).Msg("message to a node was not sent")
		}
	}
}

// look answers a question about the line; nil: this controller does not grant.
func (c *Controller) look(ticket string) (place, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.server == nil || !c.server.granting(now) {
		return place{}, false
	}
	return c.server.standing(ticket, now), true
}

// lookBehind is look for a new ticket of a lane.
func (c *Controller) lookBehind(lane chat.Lane) (place, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.server == nil || !c.server.granting(now) {
		return place{}, false
	}
	return c.server.behind(lane, now), true
}
