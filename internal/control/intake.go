package control

import (
	"encoding/json"
	"sync"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
)

// intake is the elected controller's turnstile, and what it knows of the lanes. It is safe
// for concurrent use; its lock is taken after Controller.mu.
type intake struct {
	mu        sync.Mutex
	turnstile *gate.Turnstile // nil: this process does not let messages in for all
	epoch     uint64
	only      bool      // no other process lets messages in, whatever happens
	greetedAt time.Time // when the nodes heard of this controller last
	lapsed    bool      // since then nodes may have let messages in by themselves
	stored    gate.Day
	lanes     map[chat.Lane]*outflow
	doors     int
}

// verdict is the controller's answer about one message; a pass or a reason.
type verdict struct {
	Epoch  uint64           `json:"epoch"` // 0: of no controller
	Pass   gate.Pass        `json:"pass,omitzero"`
	Turned *gate.TurnedAway `json:"turned,omitempty"`
}

// entry is what a node asks or tells about one message.
type entry struct {
	Arrival *chat.Arrival `json:"arrival,omitempty"` // may it come in?
	Back    *verdict      `json:"back,omitempty"`    // it did not
}

// admit lets a message in or turns it away. False: this controller does not decide it.
func (c *Controller) admit(a chat.Arrival) (verdict, bool) {
	c.mu.Lock()
	now := time.Now()
	reigns := c.server != nil && c.server.near(now)
	c.mu.Unlock()
	in := &c.intake
	in.mu.Lock()
	defer in.mu.Unlock()
	if !reigns || in.turnstile == nil {
		in.lapsed = true
		return verdict{}, false
	}
	if in.lapsed || in.missed(now) {
		in.turnstile.Empty(now, now)
		in.lapsed = false
	}
	pass, turned := in.turnstile.Enter(a, now)
	return verdict{Epoch: in.epoch, Pass: pass, Turned: turned}, true
}

// giveBack takes a pass back. False: it is another controller's.
func (c *Controller) giveBack(v verdict) bool {
	in := &c.intake
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.turnstile == nil || in.epoch != v.Epoch {
		return false
	}
	in.turnstile.Back(v.Pass, time.Now())
	return true
}

// hearIntake serves a node of another process; nil: somebody else may.
func (c *Controller) hearIntake(body []byte) []byte {
	var e entry
	if err := json.Unmarshal(body, &e); err != nil {
		c.log.Warn().Err(err).Msg("question of the intake dropped")
		return nil
	}
	if e.Back != nil {
		c.giveBack(*e.Back)
	}
	if e.Arrival == nil {
		return nil
	}
	v, decided := c.admit(*e.Arrival)
	if !decided {
		return nil
	}
	answer, err := json.Marshal(v)
	if err != nil {
		c.log.Warn().Err(err).Msg("answer to the intake was not sent")
		return nil
	}
	return answer
}

// setConfig changes the limits. The caller holds Controller.mu.
func (in *intake) setConfig(cfg gate.Intake, now time.Time) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.turnstile != nil {
		in.turnstile.SetConfig(cfg, now)
	}
}

// room returns when a lane that is full has a place again.
func (in *intake) room(lane chat.Lane) (time.Duration, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if o := in.lanes[lane]; o != nil {
		return o.room()
	}
	return 0, false
}

// missed reports whether the nodes may have taken this controller to be gone.
func (in *intake) missed(now time.Time) bool {
	return !in.only && now.Sub(in.greetedAt) >= stateAge-2*helloEvery
}

// greet is what the controller tells all nodes now: of each lane when it has a place again
// once it is full, where that is known, and how many nodes take messages in.
func (in *intake) greet(now time.Time) (room map[chat.Lane]time.Duration, doors int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.lapsed = in.lapsed || in.missed(now)
	in.greetedAt = now
	room = map[chat.Lane]time.Duration{}
	for lane, o := range in.lanes {
		if wait, ok := o.room(); ok {
			room[lane] = wait
		}
	}
	return room, in.doors
}
