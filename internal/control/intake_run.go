package control

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

// Times of the controller's side of the intake.
const (
	lanesEvery = 250 * time.Millisecond // the lanes are looked at
	laneLimit  = 500 * time.Millisecond // and one may take so long to answer
	dayEvery   = time.Second            // what counts for the day is stored, if it has changed
	doorsEvery = 5 * time.Second        // the nodes that take messages in are counted
)

// keepIntake lets messages in for all nodes until ctx ends. How many came in on this day
// outlives the controller. Of the last seconds a new one knows nothing, so it takes all
// buckets to be empty at its election, unless no other process lets anybody in.
func (c *Controller) keepIntake(ctx context.Context, s *server) {
	if !c.openIntake(ctx, s) {
		return
	}
	defer c.closeIntake(ctx, s)
	ticker := time.NewTicker(lanesEvery)
	defer ticker.Stop()
	var storedAt, countedAt time.Time
	away := false
	for ctx.Err() == nil {
		err := c.readLanes(ctx, s)
		if now := time.Now(); now.Sub(storedAt) >= dayEvery {
			c.storeDay(ctx, s)
			storedAt = now
		}
		if now := time.Now(); now.Sub(countedAt) >= doorsEvery {
			c.countDoors(ctx)
			countedAt = now
		}
		if err != nil && !away {
			c.failed(ctx, err, "the lanes do not tell how full they are, what was known last holds")
		}
		away = err != nil
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}

// openIntake begins with what came in on this day before, asked for as often as it takes.
// False: ctx ended first.
func (c *Controller) openIntake(ctx context.Context, s *server) bool {
	for ; ctx.Err() == nil; pause(ctx, electEvery) {
		asked, cancel := context.WithTimeout(ctx, askLimit)
		body, err := c.queue.IntakeDay(asked)
		cancel()
		if err != nil {
			c.failed(ctx, err, "read what has come in today, trying again")
			continue
		}
		var before gate.Day
		if body != nil {
			if err := json.Unmarshal(body, &before); err != nil {
				c.log.Error().Err(err).Msg("what has come in today cannot be read, the day begins anew")
			}
		}
		c.beginIntake(s, before)
		return true
	}
	return false
}

func (c *Controller) beginIntake(s *server, before gate.Day) {
	c.mu.Lock()
	defer c.mu.Unlock()
	in, now := &c.intake, time.Now()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.turnstile, in.epoch, in.lapsed = gate.NewTurnstile(c.cfg.Gate.Intake), s.epoch, false
	in.only, in.greetedAt = c.cfg.Alone, now
	if !in.only {
		in.turnstile.Empty(now, now)
	}
	in.turnstile.Recall(before, now)
	in.stored, in.lanes = in.turnstile.Today(now), map[chat.Lane]*outflow{}
}

// closeIntake lets nobody in any more, and stores the day before another controller may
// read it.
func (c *Controller) closeIntake(ctx context.Context, s *server) {
	c.storeDay(context.WithoutCancel(ctx), s)
	in := &c.intake
	in.mu.Lock()
	defer in.mu.Unlock()
	in.turnstile, in.lanes = nil, nil
}

// readLanes takes in how full the lanes are. What one does not tell stays as it was.
func (c *Controller) readLanes(ctx context.Context, s *server) (failed error) {
	in := &c.intake
	for _, lane := range chat.Lanes() {
		asked, cancel := context.WithTimeout(ctx, laneLimit)
		load, err := c.queue.LaneLoad(asked, lane)
		cancel()
		if err != nil {
			failed = err
			continue
		}
		now := time.Now()
		in.mu.Lock()
		in.turnstile.SetDepth(lane, load.Depth, load.Bound, now)
		if in.lanes[lane] == nil {
			in.lanes[lane] = &outflow{}
		}
		in.lanes[lane].add(load.Gone, load.Depth, load.Bound, now)
		in.mu.Unlock()
		c.fill(s, lane, float64(load.Depth)/float64(max(1, load.Bound)))
	}
	return failed
}

// storeDay stores what counts for the day, if that has changed and the lease is ours.
func (c *Controller) storeDay(ctx context.Context, s *server) {
	c.mu.Lock()
	ours := time.Now().Before(s.until)
	c.mu.Unlock()
	in := &c.intake
	in.mu.Lock()
	day := in.turnstile.Today(time.Now())
	changed := !maps.Equal(day.Counts, in.stored.Counts)
	in.mu.Unlock()
	if !ours || !changed {
		return
	}
	body, err := json.Marshal(day)
	if err == nil {
		asked, cancel := context.WithTimeout(ctx, askLimit)
		err = c.queue.SetIntakeDay(asked, body)
		cancel()
	}
	if err != nil {
		c.failed(ctx, err, "store what has come in today, trying again")
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.stored = day
}

// countDoors counts the nodes that take messages in. Without a controller they share what
// it would let in.
func (c *Controller) countDoors(ctx context.Context) {
	asked, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	nodes, err := c.queue.Intakes(asked)
	if err != nil {
		return // what was counted last holds
	}
	c.intake.mu.Lock()
	defer c.intake.mu.Unlock()
	c.intake.doors = len(nodes)
}
