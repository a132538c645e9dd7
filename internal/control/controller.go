package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
)

// ErrClosed says that the controller grants nothing any more.
var ErrClosed = errors.New("the controller is closed")

// Config describes a controller.
type Config struct {
	Limits map[string]int              // permits per vendor; at least one vendor
	Ages   map[chat.Lane]time.Duration // see gate.NewTable
	// Settle is how long the controller waits before its first grant, so that calls of
	// a process that was killed a moment ago have left the vendor. 0: 250 ms.
	Settle time.Duration
	Node   string // name of this process, for the lease
	Log    zerolog.Logger
}

// Validate names the field that is wrong.
func (c Config) Validate() error {
	if len(c.Limits) == 0 {
		return errors.New("controller config: Limits names no vendor")
	}
	for vendor, limit := range c.Limits {
		if limit < 1 {
			return fmt.Errorf("controller config: Limits[%s] must be at least 1, is %d", vendor, limit)
		}
	}
	if c.Settle < 0 {
		return errors.New("controller config: Settle must not be negative")
	}
	return nil
}

// Controller grants permits and turns. It is safe for concurrent use. It grants
// between the start and the end of Run; asks made before that wait.
type Controller struct {
	cfg   Config
	queue *queue.Queue
	log   zerolog.Logger
	ready chan struct{}

	mu      sync.Mutex
	table   *gate.Table
	waiting map[uint64]chan gate.Permit
	lastAsk uint64
	epoch   uint64 // 0: not granting
	closed  bool
	hold    time.Duration // moving mean of how long a permit is held
}

// New returns a controller that does not grant yet.
func New(q *queue.Queue, cfg Config) (*Controller, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Settle == 0 {
		cfg.Settle = 250 * time.Millisecond
	}
	c := &Controller{
		cfg: cfg, queue: q, log: cfg.Log.With().Str("stage", "controller").Logger(),
		ready: make(chan struct{}), table: gate.NewTable(cfg.Ages),
		waiting: map[uint64]chan gate.Permit{},
	}
	c.table.SetLimits(cfg.Limits)
	return c, nil
}

// Ready is closed when the controller has begun to grant.
func (c *Controller) Ready() <-chan struct{} { return c.ready }

// Run takes the lease, waits for Config.Settle and grants until ctx ends; then every
// waiter gets ErrClosed. Permits in use may be released after that.
func (c *Controller) Run(ctx context.Context) error {
	defer c.close()
	epoch, err := c.queue.NewEpoch(ctx, c.cfg.Node)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	timer := time.NewTimer(c.cfg.Settle)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-timer.C:
	}
	c.mu.Lock()
	c.epoch = epoch
	c.grant()
	c.mu.Unlock()
	close(c.ready)
	c.log.Info().Uint64("epoch", epoch).Msg("granting")
	<-ctx.Done()
	return nil
}

// Ask waits for a permit until ctx ends (its cause is returned) or the controller
// closes (ErrClosed). A permit that was granted as ctx ended is given back.
func (c *Controller) Ask(ctx context.Context, a gate.Ask) (gate.Permit, error) {
	if ctx.Err() != nil {
		return gate.Permit{}, context.Cause(ctx)
	}
	granted, err := c.join(&a)
	if err != nil {
		return gate.Permit{}, err
	}
	select {
	case p, ok := <-granted:
		if !ok {
			return gate.Permit{}, ErrClosed
		}
		return p, nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.table.Leave(a.ID)
	delete(c.waiting, a.ID)
	select {
	case p, ok := <-granted:
		if ok {
			c.takeBack(a, p)
		}
	default:
	}
	// Whoever stood behind this one in its session may be next.
	c.grant()
	return gate.Permit{}, context.Cause(ctx)
}

// Release gives a permit back after a while. It never blocks; a second release of the
// same permit does nothing.
func (c *Controller) Release(p gate.Permit, after time.Duration) {
	if after > 0 {
		time.AfterFunc(after, func() { c.Release(p, 0) })
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if released, held := c.table.Release(p.ID); held {
		c.observe(time.Since(released.GrantedAt))
		c.grant()
	}
}

// EndTurn lets the next ticket of a session begin. The caller has written the end of
// its ticket, or has given it up.
func (c *Controller) EndTurn(tenant, session, ticket string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.table.EndTurn(tenant, session, ticket)
	c.grant()
}

// join makes the ask wait and returns where its permit will come.
func (c *Controller) join(a *gate.Ask) (<-chan gate.Permit, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	c.lastAsk++
	a.ID = c.lastAsk
	if err := c.table.Join(*a); err != nil {
		return nil, err
	}
	granted := make(chan gate.Permit, 1)
	c.waiting[a.ID] = granted
	c.grant()
	return granted, nil
}

// takeBack undoes a grant that nobody received. The caller holds mu.
func (c *Controller) takeBack(a gate.Ask, p gate.Permit) {
	c.table.Release(p.ID)
	if !a.Step {
		c.table.EndTurn(a.Tenant, a.Session, a.Ticket)
	}
}

// grant gives out what can be given. The caller holds mu.
func (c *Controller) grant() {
	if c.epoch == 0 || c.closed {
		return
	}
	for _, g := range c.table.Grants(time.Now()) {
		p := g.Permit
		p.Epoch = c.epoch
		granted := c.waiting[g.Ask.ID]
		delete(c.waiting, g.Ask.ID)
		granted <- p // never blocks: one place, one grant
	}
}

func (c *Controller) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for id, granted := range c.waiting {
		c.table.Leave(id)
		delete(c.waiting, id)
		close(granted)
	}
}
