package control

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"sluice/internal/queue"
)

// Times of the election, and limits of what it asks the engine.
const (
	electEvery = 250 * time.Millisecond
	leaseEvery = 500 * time.Millisecond // a renewal
	tickEvery  = 50 * time.Millisecond
	helloEvery = 500 * time.Millisecond
	askLimit   = time.Second
	probeLimit = 450 * time.Millisecond
)

// Run stands for election until ctx ends, and serves each time that it is elected. At
// the end it grants nothing more and lets its lease go, so that another may take over
// at once.
func (c *Controller) Run(ctx context.Context) error {
	stopReports, err := c.queue.Reports(c.hear)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer stopReports()
	stopPlaces, err := c.queue.Places(func(body []byte) []byte {
		p, ok := c.look(string(body))
		if !ok {
			return nil
		}
		answer, _ := json.Marshal(p) // two numbers
		return answer
	})
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer stopPlaces()
	stopIntake, err := c.queue.Intake(c.hearIntake)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer stopIntake()
	stopSteers, err := c.queue.Steers(c.steer)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer stopSteers()
	for ctx.Err() == nil {
		if !c.stand(ctx) {
			pause(ctx, electEvery)
		}
	}
	return nil
}

// stand stands for election once and serves to the end of the lease if it is won.
func (c *Controller) stand(ctx context.Context) (won bool) {
	sentAt := time.Now()
	asked, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	if c.cfg.Alone {
		epoch, err := c.queue.SeizeLease(asked, c.cfg.Node)
		var s *server
		if err == nil {
			s, err = c.found(asked, epoch, sentAt)
		}
		if err == nil {
			c.reign(ctx, s, nil)
			return true
		}
		c.failed(ctx, err, "take the lease, trying again")
		return false
	}
	lease, err := c.queue.TakeLease(asked, c.cfg.Node)
	if errors.Is(err, queue.ErrLost) {
		c.isReady()
		return false
	}
	if err != nil {
		c.failed(ctx, err, "stand for election, trying again")
		return false
	}
	// The nodes are read after the lease was taken: whoever got a permit of a former
	// controller had registered before.
	s, err := c.found(asked, lease.Epoch, sentAt)
	if err == nil {
		err = c.inherit(asked, s)
	}
	if err != nil {
		c.failed(ctx, err, "read what the former controller left, trying again")
		c.drop(ctx, lease)
		return false
	}
	c.isReady()
	c.reign(ctx, s, lease)
	return true
}

// found makes the server of an epoch, with what is known of the vendors.
func (c *Controller) found(ctx context.Context, epoch uint64, sentAt time.Time) (*server, error) {
	c.mu.Lock()
	s := newServer(c.cfg, epoch, sentAt, time.Now())
	c.mu.Unlock()
	return s, c.remember(ctx, s)
}

func (c *Controller) failed(ctx context.Context, err error, what string) {
	if ctx.Err() == nil {
		c.log.Warn().Err(err).Msg(what)
	}
}

func (c *Controller) inherit(ctx context.Context, s *server) error {
	nodes, err := c.queue.Nodes(ctx)
	if err != nil {
		return err
	}
	charge, err := c.queue.Charge(ctx)
	if err != nil {
		return err
	}
	s.expect(nodes, charge)
	return nil
}

// reign serves until the lease is lost or ctx ends. lease is nil for one that is alone.
// After a loss the server goes on to acknowledge renewals, as its own time allows.
func (c *Controller) reign(ctx context.Context, s *server, lease *queue.Lease) {
	lost, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	c.mu.Lock()
	if lease == nil {
		s.keep(time.Now())
	}
	s.setLimits(c.cfg.Gate, c.cfg.Quotas, time.Now()) // they may have changed meanwhile
	c.server = s
	c.mu.Unlock()
	c.log.Info().Uint64("epoch", s.epoch).Msg("elected controller")
	if lease != nil {
		helpers.Go(func() {
			defer cancel()
			c.renew(lost, s, lease)
		})
	}
	helpers.Go(func() { c.keepIntake(lost, s) })
	helpers.Go(func() { c.keepLasting(lost, s) })
	c.govern(lost, s, &helpers)
	cancel()
	if ctx.Err() != nil {
		c.mu.Lock()
		s.closed = true
		c.mu.Unlock()
	}
	helpers.Wait()
	if lease != nil && ctx.Err() != nil {
		c.drop(ctx, lease)
	}
}

func (c *Controller) drop(ctx context.Context, lease *queue.Lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askLimit)
	defer cancel()
	if err := lease.Drop(ctx); err != nil {
		c.log.Warn().Err(err).Msg("the lease was not let go, it ends by itself")
	}
}

// renew renews the lease until it is lost or ctx ends.
func (c *Controller) renew(ctx context.Context, s *server, lease *queue.Lease) {
	for pause(ctx, leaseEvery); ctx.Err() == nil; pause(ctx, leaseEvery) {
		sentAt := time.Now()
		asked, cancel := context.WithTimeout(ctx, askLimit)
		err := lease.Renew(asked)
		cancel()
		switch {
		case err == nil:
			c.mu.Lock()
			s.renewed(sentAt)
			c.mu.Unlock()
		case errors.Is(err, queue.ErrLost):
			c.log.Warn().Uint64("epoch", s.epoch).Msg("the lease is lost, grants nothing any more")
			return
		default:
			c.failed(ctx, err, "renew the lease, trying again")
		}
	}
}

// govern lets time work on the server until ctx ends.
func (c *Controller) govern(ctx context.Context, s *server, helpers *sync.WaitGroup) {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	var helloAt time.Time
	writing := make(chan struct{}, 1)
	for {
		now := time.Now()
		c.mu.Lock()
		probes := s.tick(now)
		due := s.chargeDue(now)
		greet := (s.news || now.Sub(helloAt) >= helloEvery) && now.Before(s.until)
		greeting := hello{}
		if greet {
			greeting, helloAt = s.hello(now), now
			greeting.Live = s.live(now)
			s.news = false
		}
		changes := s.valve.Fresh()
		c.deliver()
		learned := s.learned
		c.mu.Unlock()
		if learned {
			c.isReady()
		}
		c.logChanges(changes)
		if greet {
			c.greet(greeting)
		}
		for _, node := range probes {
			helpers.Go(func() { c.probe(ctx, s, node) })
		}
		if due != nil {
			select {
			case writing <- struct{}{}:
				helpers.Go(func() {
					c.charge(ctx, s, due)
					<-writing
				})
			default: // one write at a time
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (c *Controller) greet(h hello) {
	h.Room, h.Doors = c.intake.greet(time.Now())
	body, err := json.Marshal(h)
	if err == nil {
		err = c.queue.SendHello(body)
	}
	if err != nil {
		c.log.Warn().Err(err).Msg("sign of life was not sent")
	}
}

func (c *Controller) probe(ctx context.Context, s *server, node string) {
	asked, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	err := c.queue.Probe(asked, node)
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.probed(node, errors.Is(err, queue.ErrAbsent), err == nil, time.Now())
}

// charge writes the charge, and only then lets the server grant on it.
func (c *Controller) charge(ctx context.Context, s *server, all map[string]int) {
	asked, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	ttl := (c.cfg.Hard + 2*hardMargin).Round(time.Second)
	if err := c.queue.SetCharge(asked, all, ttl); err != nil {
		c.failed(ctx, err, "write the charge of silent holders, trying again")
		return
	}
	c.log.Warn().Interface("charge", all).Msg("holders are silent, permits beyond the limit are granted")
	c.mu.Lock()
	defer c.mu.Unlock()
	s.charged(all, time.Now())
	c.deliver()
}

// pause waits on a timer or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
