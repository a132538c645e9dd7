package control

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sluice/internal/gate"
	"sluice/internal/valve"
)

// lastingEvery is how often it is looked whether there is something new to keep: so much of
// it a crash of every process may cost.
const lastingEvery = 500 * time.Millisecond

// lasting is what is known of the vendors and of the load that outlives every process: an operator's word,
// breakers that are not closed, pauses and lower limits after 429s. What has begun in the
// last second or minute is not in it.
type lasting struct {
	At     time.Time                    `json:"at"` // by the clock of the controller
	States map[string]gate.AccountState `json:"states"`
	Valve  valve.State                  `json:"valve"`
}

// last returns what is to be kept at now, and a word that changes when it does.
func (s *server) last(now time.Time) (l lasting, word string) {
	l = lasting{At: now, States: map[string]gate.AccountState{}, Valve: s.valve.State()}
	words := map[string]string{}
	for name, a := range s.table.States(now) {
		ramp := a.Breaker != nil && a.Breaker.RampFor > 0
		if !a.Shut && a.State == gate.BreakerClosed && !ramp && a.Throttle.PauseFor == 0 && a.Throttle.Below == 0 {
			continue
		}
		until := now.Add(a.Throttle.PauseFor).Round(time.Second)
		if a.Throttle.PauseFor == 0 {
			until = time.Time{}
		}
		words[name] = fmt.Sprint(a.Shut, a.State, ramp, a.Throttle.Below, until.Unix())
		l.States[name] = gate.AccountState{State: a.State, Shut: a.Shut, Breaker: a.Breaker, Throttle: a.Throttle}
	}
	return l, fmt.Sprint(words, l.Valve) // printed in the order of the names
}

// keepLasting stores what is to outlive this process until ctx ends, each time it changes.
func (c *Controller) keepLasting(ctx context.Context, s *server) {
	stored := "" // nothing is known of what the bucket holds
	away := false
	for ; ctx.Err() == nil; pause(ctx, lastingEvery) {
		now := time.Now()
		c.mu.Lock()
		l, word := s.last(now)
		grants := s.granting(now) // one that was paused knows nothing of what came after it
		c.mu.Unlock()
		if word == stored || !grants {
			continue
		}
		body, err := json.Marshal(l)
		if err == nil {
			asked, cancel := context.WithTimeout(ctx, askLimit)
			err = c.queue.SetVendors(asked, body)
			cancel()
		}
		if err == nil {
			stored = word
		} else if !away {
			c.failed(ctx, err, "keep how the vendors stand, trying again")
		}
		away = err != nil
	}
}

// remember lets a new server begin with what is known of the vendors: what this process has
// heard of the former controller, and where that is newer what it had stored, which has no
// windows. Without the store nobody begins: its next write would forget an operator's word.
func (c *Controller) remember(ctx context.Context, s *server) error {
	body, err := c.queue.Vendors(ctx)
	if err != nil {
		return err
	}
	var kept lasting
	if body != nil {
		if err := json.Unmarshal(body, &kept); err != nil {
			c.log.Error().Err(err).Msg("how the vendors stood cannot be read, they are taken to be well")
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var heardAt time.Time
	if c.own != nil {
		var heard map[string]gate.AccountState
		heard, heardAt = c.own.states()
		s.table.Restore(heard, heardAt)
	}
	if kept.At.After(heardAt) {
		s.table.Recall(kept.States, kept.At)
	}
	s.valve.Recall(kept.Valve, time.Now())
	return nil
}
