package control

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// Times of a member's work.
const (
	registerEvery = 5 * time.Second
	// registerLimit is how long after its last registration a node takes permits: the
	// registration outlives every call by more than that.
	registerLimit = 25 * time.Second
	registerSpare = 30 * time.Second // of the registration beyond the longest call
	lookEvery     = 100 * time.Millisecond
	partLimit     = time.Second // for what is in use to come back at the end
)

// Run registers the node, tells the controller what the process holds and waits for,
// and at the end, when nothing is held any more, removes the registration. It returns
// after ctx has ended.
func (m *Member) Run(ctx context.Context) error {
	turnAway := sync.OnceFunc(m.turnAway)
	defer turnAway()
	stopMail, err := m.queue.Mail(m.cfg.Node, m.read)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer stopMail()
	stopHellos, err := m.queue.Hellos(m.greeted)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer stopHellos()
	if m.cfg.Onlooker {
		close(m.ready)
		<-ctx.Done()
		return nil
	}
	if !m.register(ctx) {
		return nil
	}
	close(m.ready)
	refreshed := make(chan struct{})
	go func() {
		defer close(refreshed)
		m.refresh(ctx)
	}()
	m.work(ctx)
	<-refreshed
	turnAway()
	m.part(ctx)
	return nil
}

func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// register registers the node for the first time, as often as it takes. False: ctx
// ended first.
func (m *Member) register(ctx context.Context) bool {
	for ctx.Err() == nil {
		if m.registerOnce(ctx) {
			return true
		}
		pause(ctx, electEvery)
	}
	return false
}

func (m *Member) registerOnce(ctx context.Context) bool {
	now := time.Now()
	until := now.Add(registerLimit)
	if m.alone() {
		until = now.Add(100 * 365 * 24 * time.Hour) // nobody else will ever ask who was there
	} else {
		asked, cancel := context.WithTimeout(ctx, askLimit)
		defer cancel()
		ttl := (m.cfg.Hard + registerSpare).Round(time.Second)
		if err := m.queue.RegisterNode(asked, m.cfg.Node, ttl); err != nil {
			if ctx.Err() == nil {
				m.log.Warn().Err(err).Msg("register the node, trying again")
			}
			return false
		}
	}
	m.mu.Lock()
	m.holder.validUntil = until
	m.mu.Unlock()
	return true
}

func (m *Member) alone() bool { return m.local != nil && m.local.cfg.Alone }

// refresh keeps the registration alive until ctx ends.
func (m *Member) refresh(ctx context.Context) {
	every := registerEvery
	for pause(ctx, every); ctx.Err() == nil; pause(ctx, every) {
		every = registerEvery
		if !m.alone() && !m.registerOnce(ctx) {
			every = electEvery
		}
	}
}

// work tells what is due until ctx ends.
func (m *Member) work(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		m.mu.Lock()
		lost := m.holder.expire(time.Now())
		m.mu.Unlock()
		if lost > 0 {
			m.log.Error().Int("permits", lost).Msg("no controller answers, calls are ended")
		}
		m.report()
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-m.wake:
		}
	}
}

// part waits for who was turned away to leave and for what is in use to come back, says
// good-bye and removes the registration. What does not come back is left to the controller, which finds the
// node dead.
func (m *Member) part(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for end := time.Now().Add(partLimit); m.holding() && time.Now().Before(end); {
		pause(ctx, lookEvery/10)
	}
	m.report()
	if m.holding() {
		m.log.Warn().Msg("permits are still in use at the end")
		return
	}
	m.sending.Lock()
	m.mu.Lock()
	bye := m.holder.bye(time.Now())
	m.mu.Unlock()
	m.send(bye)
	m.parted = true
	m.sending.Unlock()
	if m.alone() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	if err := m.queue.UnregisterNode(ctx, m.cfg.Node); err != nil {
		m.log.Warn().Err(err).Msg("the registration ends by itself")
	}
}

func (m *Member) holding() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.holder.holds)+len(m.holder.asks) > 0
}

func (m *Member) read(body []byte) {
	var got mail
	if err := json.Unmarshal(body, &got); err != nil {
		m.log.Warn().Err(err).Msg("message of a controller dropped")
		return
	}
	m.receive(got)
}

func (m *Member) greeted(body []byte) {
	var got hello
	if err := json.Unmarshal(body, &got); err != nil {
		m.log.Warn().Err(err).Msg("sign of life of a controller dropped")
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.holder.epoch
	m.holder.meet(got.Epoch, got.Node, time.Now())
	if got.Epoch == m.holder.epoch {
		m.told, m.toldAt = got, time.Now()
		m.levels.set(got.Levels)
	}
	if m.holder.epoch != before {
		m.nudge()
	}
}
