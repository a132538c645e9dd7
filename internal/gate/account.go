package gate

import (
	"maps"
	"math/rand/v2"
	"time"

	"sluice/internal/chat"
)

// account is one vendor: its limits, and everything that is in use of them.
type account struct {
	cfg     Vendor
	removed bool // not in the rules any more: its calls end in their own time
	shut    bool // by an operator, until one opens it again
	over    int  // see Table.Stretch

	inUse   int
	pools   map[Pool]int
	lanes   map[chat.Lane]int // of the base pool
	models  map[string]int
	retries int

	breaker  *Breaker // nil: none
	throttle *Throttle
	calls    *CallWindow
	tokens   *TokenWindow
	holds    holds
	elapsed  time.Duration // third quartile of how long the permits in use are held by now: see Measure
}

func newAccount() *account {
	return &account{
		pools: map[Pool]int{}, lanes: map[chat.Lane]int{}, models: map[string]int{},
		throttle: NewThrottle(1), calls: NewCallWindow(0), tokens: NewTokenWindow(0),
	}
}

// configure puts new limits in force. What is in use above them ends in its own time.
func (a *account) configure(v Vendor) {
	a.cfg, a.removed = v, false
	a.throttle.SetLimit(v.Limit)
	a.calls.SetLimit(v.QPS)
	a.tokens.SetLimit(v.Tokens)
	switch {
	case v.Breaker.Window == 0:
		a.breaker = nil
	case a.breaker == nil:
		a.breaker = NewBreaker(v.Breaker, rand.Float64)
	default:
		a.breaker.SetConfig(v.Breaker)
	}
}

// limit returns how many permits may be in use at now, before any stretch.
func (a *account) limit(now time.Time) int {
	if a.removed {
		return 0
	}
	return min(a.cfg.Limit, a.throttle.Limit(now))
}

// inForce is limit as the breaker allows it now: what operators see.
func (a *account) inForce(now time.Time) int {
	limit := a.limit(now)
	switch {
	case a.shut || a.throttle.Paused(now):
		return 0
	case a.breaker == nil:
		return limit
	}
	return a.breaker.Most(now, limit)
}

// elastic returns how many of limit are elastic: the configured part of it.
func (a *account) elastic(limit int) int { return limit * a.cfg.Elastic / a.cfg.Limit }

// base returns how many base permits there are of limit, at least one.
func (a *account) base(limit int) int { return max(1, limit-a.elastic(limit)) }

// shareOf returns part of n, at least one.
func shareOf(n int, part float64) int { return max(1, int(float64(n)*part+1e-9)) }

// room returns the pool from which a call of this kind may come now. Nothing changes.
func (a *account) room(ask *Ask, lane Lane, now time.Time) (Pool, bool) {
	limit := a.limit(now) + a.over
	if a.shut || a.inUse >= limit || a.throttle.Paused(now) || a.breaker != nil && !a.breaker.Allow(now, a.inUse, limit) {
		return "", false
	}
	if most := a.cfg.Models[ask.Model]; most > 0 && a.models[ask.Model] >= most {
		return "", false
	}
	if !a.calls.Room(now) || !a.tokens.Room(now, a.tokens.Clamp(ask.Tokens)) {
		return "", false
	}
	return a.pool(ask.Lane, lane, limit)
}

// pool returns the pool with room for a lane: elastic first, so that base is left to the
// lanes that have nothing else.
func (a *account) pool(name chat.Lane, lane Lane, limit int) (Pool, bool) {
	if lane.Elastic && a.pools[Elastic] < a.elastic(limit) {
		return Elastic, true
	}
	base := a.base(limit)
	if a.pools[Base] >= base || lane.Share > 0 && a.lanes[name] >= shareOf(base, lane.Share) {
		return "", false
	}
	return Base, true
}

// floor reports whether a lane holds less than its floor here.
func (a *account) floor(name chat.Lane, lane Lane, now time.Time) bool {
	return lane.Floor > 0 && a.lanes[name] < shareOf(a.base(a.limit(now)), lane.Floor)
}

// well reports whether a retry may go here: never to a vendor that is being probed.
func (a *account) well(now time.Time) bool { return a.state(now) == BreakerClosed }

// state returns how the vendor's breaker stands; an operator's word is above it.
func (a *account) state(now time.Time) BreakerState {
	switch {
	case a.shut:
		return BreakerOpen
	case a.breaker == nil:
		return BreakerClosed
	}
	return a.breaker.State(now)
}

// shutFor is how long a vendor that an operator has shut is taken to be away.
const shutFor = 24 * time.Hour

// take counts a permit.
func (a *account) take(p Permit, tokens int, now time.Time) {
	a.count(p, 1)
	a.calls.Take(now)
	a.tokens.Take(p.ID, a.tokens.Clamp(tokens), now)
	if a.breaker != nil {
		a.breaker.Begin(p.ID, now)
	}
}

// count changes what is in use by one permit.
func (a *account) count(p Permit, by int) {
	a.inUse += by
	change(a.pools, p.Pool, by)
	if p.Pool == Base {
		change(a.lanes, p.Lane, by)
	}
	change(a.models, p.Model, by)
	if p.Retry {
		a.retries += by
	}
}

// end takes in how a call ended.
func (a *account) end(p Permit, e End, now time.Time) {
	if a.breaker != nil {
		a.breaker.End(p.ID, e.Outcome, now)
	}
	if e.Outcome == Throttled {
		a.throttle.Hit(p.GrantedAt, now, e.RetryAfter)
	}
	switch {
	case e.Unused:
		a.tokens.Settle(p.ID, 0, now)
	case e.Tokens > 0:
		a.tokens.Settle(p.ID, e.Tokens, now)
	}
}

// availableAt returns when the vendor takes calls again by what is known: now, unless it
// is paused or its breaker is open.
func (a *account) availableAt(now time.Time) time.Time {
	at := now
	if a.shut {
		at = now.Add(shutFor)
	}
	if until := a.throttle.PausedUntil(); until.After(at) {
		at = until
	}
	if a.breaker != nil {
		a.breaker.State(now)
		if until := a.breaker.RetryAt(now); until.After(at) {
			at = until
		}
	}
	return at
}

// change adds to a count and forgets one that is zero.
func change[K comparable](counts map[K]int, key K, by int) {
	if counts[key] += by; counts[key] == 0 {
		delete(counts, key)
	}
}

// AccountState is how a vendor stands: what people ask for, and what a new controller
// must know that no holder tells.
type AccountState struct {
	InUse    int              `json:"in_use"`
	Limit    int              `json:"limit"` // permits that may be in use now: after a cut, in a ramp
	State    BreakerState     `json:"state"`
	Shut     bool             `json:"shut,omitempty"` // by an operator
	Breaker  *BreakerSnapshot `json:"breaker,omitempty"`
	Throttle ThrottleSnapshot `json:"throttle"`
	Calls    WindowSnapshot   `json:"calls"`
	Tokens   WindowSnapshot   `json:"tokens"`
}

// States returns how each vendor stands at now.
func (t *Table) States(now time.Time) map[string]AccountState {
	all := map[string]AccountState{}
	for name, a := range t.accounts {
		s := AccountState{InUse: a.inUse, Limit: a.inForce(now), State: a.state(now), Shut: a.shut, Throttle: a.throttle.Snapshot(now), Calls: a.calls.Snapshot(now), Tokens: a.tokens.Snapshot(now)}
		if a.breaker != nil {
			b := a.breaker.Snapshot(now)
			s.Breaker = &b
		}
		all[name] = s
	}
	return all
}

// Probed returns how the probes of each vendor's breaker went.
func (t *Table) Probed() map[string]Probed {
	all := map[string]Probed{}
	for name, a := range t.accounts {
		if a.breaker != nil {
			all[name] = a.breaker.probed
		}
	}
	return all
}

// Steer shuts a vendor on an operator's word, or lets calls through again at once, whatever
// its breaker has seen and however long it is paused. False: there is no such vendor.
func (t *Table) Steer(vendor string, open bool, now time.Time) bool {
	a := t.accounts[vendor]
	if a == nil || a.removed {
		return false
	}
	if a.shut = open; !open {
		a.throttle.Lift(now)
		if a.breaker != nil {
			a.breaker.Reset(now)
		}
	}
	return true
}

// Running returns how many permits of vendors each lane has in use.
func (t *Table) Running() map[chat.Lane]int {
	all := map[chat.Lane]int{}
	for _, p := range t.permits {
		if !t.accounts[p.Vendor].cfg.Tool {
			all[p.Lane]++
		}
	}
	return all
}

// Restore takes in what a former controller knew. Unknown vendors are left out.
func (t *Table) Restore(states map[string]AccountState, now time.Time) {
	for name, s := range maps.All(states) {
		a := t.accounts[name]
		if a == nil {
			continue
		}
		a.recall(s, now)
		a.calls.Restore(s.Calls, now)
		a.tokens.Restore(s.Tokens, now)
	}
}

// Recall takes in of every vendor what lasts: whether it is shut, its breaker, its throttle.
// One without a state is well. The windows stay as they are.
func (t *Table) Recall(states map[string]AccountState, now time.Time) {
	for name, a := range t.accounts {
		s := states[name]
		if s.Breaker == nil {
			s.Breaker = &BreakerSnapshot{State: BreakerClosed}
		}
		a.recall(s, now)
	}
}

func (a *account) recall(s AccountState, now time.Time) {
	a.shut = s.Shut
	a.throttle.Restore(s.Throttle, now)
	if a.breaker != nil && s.Breaker != nil {
		a.breaker.Restore(*s.Breaker, now)
	}
}
