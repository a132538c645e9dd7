package control

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sluice/internal/gate"
)

// lastingEvery is how often it is looked whether there is something new to keep: so much of
// it a crash of every process may cost.
const lastingEvery = 500 * time.Millisecond

// lasting is what is known of the vendors that outlives every process: an operator's word,
// breakers that are not closed, pauses and lower limits after 429s. What has begun in the
// last second or minute is not in it.
type lasting struct {
	At     time.Time                    `json:"at"` // by the clock of the controller
	States map[string]gate.AccountState `json:"states"`
}

// last returns what is to be kept at now, and a word that changes when it does.
func (s *server) last(now time.Time) (l lasting, word string) {
	l = lasting{At: now, States: map[string]gate.AccountState{}}
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
	return l, fmt.Sprint(words) // printed in the order of the names
}

// keepLasting stores what is to outlive this process until ctx ends, each time it changes.
func (c *Controller) keepLasting(ctx context.Context, s *server) {
	stored := "" // nothing is known of what the bucket holds
	away := false
	for ; ctx.Err() == nil; pause(ctx, lastingEvery) {
		c.mu.Lock()
		l, word := s.last(time.Now())
		c.mu.Unlock()
		if word == stored {
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
// heard of the former controller, or what that had stored, whichever is newer. Where neither
// can be had it begins without: calls must not wait for it.
func (c *Controller) remember(ctx context.Context, s *server) {
	var kept lasting
	body, err := c.queue.Vendors(ctx)
	if err == nil && body != nil {
		err = json.Unmarshal(body, &kept)
	}
	if err != nil {
		c.failed(ctx, err, "read how the vendors stood, beginning without")
		kept = lasting{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own != nil {
		if states, at := c.own.states(); at.After(kept.At) {
			s.table.Restore(states, at)
			return
		}
	}
	s.table.Restore(kept.States, kept.At)
}
