package gate

import (
	"fmt"
	"math"
	"time"

	"sluice/internal/chat"
)

// Intake is what the rules say to a Turnstile. The zero value limits nothing.
type Intake struct {
	Tenant  Allowance            // of a tenant that has none of its own
	Tenants map[string]Allowance // whole ones: nothing is filled in from Tenant
	// UserTokens is the most tokens of messages that one customer may send in a sliding
	// minute; 0: no limit. An answer's tokens are not counted.
	UserTokens int
	Tighten    Tighten
}

// Allowance is what one tenant may send.
type Allowance struct {
	QPS    int // messages a second, once the burst is used up; 0: no limit
	Burst  int // messages at once; below 1: 1
	Tokens int // of messages, in a sliding minute; 0: no limit
	Daily  int // messages a day, by UTC; 0: no limit
}

// Tighten says when the intake of a lane that fills goes slower. The zero value is never.
type Tighten struct {
	At     float64 // depth ÷ bound where it begins
	Until  float64 // depth ÷ bound where it ends; at most At
	Factor float64 // of each tenant's rate and burst, for what is not urgent
}

// Validate names the field that is wrong.
func (c Intake) Validate() error {
	if err := c.Tenant.validate("Tenant"); err != nil {
		return err
	}
	for name, a := range c.Tenants {
		if err := a.validate("Tenants[" + name + "]"); err != nil {
			return err
		}
	}
	if c.UserTokens < 0 {
		return fmt.Errorf("intake config: UserTokens must not be negative, is %d", c.UserTokens)
	}
	if t := c.Tighten; t != (Tighten{}) && (t.Until < 0 || t.Until > t.At || t.Factor <= 0 || t.Factor > 1) {
		return fmt.Errorf("intake config: Tighten must have Until from 0 to At and Factor above 0 and at most 1, is %+v", t)
	}
	return nil
}

func (a Allowance) validate(field string) error {
	if a.QPS < 0 || a.Burst < 0 || a.Tokens < 0 || a.Daily < 0 {
		return fmt.Errorf("intake config: %s must not have negative numbers, is %+v", field, a)
	}
	return nil
}

// Share is the part of one of several nodes. All together they let in no more than one
// Turnstile for all would, except that nothing falls below 1. A node by itself does not
// know how full the lanes are, so nothing is tightened.
func (c Intake) Share(nodes int) Intake {
	part := func(n int) int {
		if n == 0 {
			return 0
		}
		return max(n/max(nodes, 1), 1)
	}
	share := func(a Allowance) Allowance {
		return Allowance{QPS: part(a.QPS), Burst: part(a.Burst), Tokens: part(a.Tokens), Daily: part(a.Daily)}
	}
	own := Intake{Tenant: share(c.Tenant), Tenants: make(map[string]Allowance, len(c.Tenants)), UserTokens: part(c.UserTokens)}
	for name, a := range c.Tenants {
		own.Tenants[name] = share(a)
	}
	return own
}

func (c Intake) allowance(tenant string) Allowance {
	if a, own := c.Tenants[tenant]; own {
		return a
	}
	return c.Tenant
}

func (a Allowance) rate() rate { return newRate(a.QPS, a.Burst) }

// Limit names what turned a message away.
type Limit string

// The limits of a Turnstile.
const (
	LimitRate   Limit = "rate"        // the tenant's messages a second
	LimitLane   Limit = "lane"        // the part of them that a lane takes while it fills
	LimitTokens Limit = "tokens"      // the tenant's tokens a minute
	LimitUser   Limit = "user_tokens" // the customer's
	LimitDay    Limit = "day"         // the tenant's messages a day
	LimitCrowd  Limit = "crowd"       // more tenants send than are kept count of
)

// Code is what callers are told: rate_limited for what is too fast, quota_exceeded for
// what is used up.
func (l Limit) Code() string {
	switch l {
	case LimitTokens, LimitUser, LimitDay:
		return "quota_exceeded"
	}
	return "rate_limited"
}

// TurnedAway says that a message may not come in now.
type TurnedAway struct {
	Limit Limit         `json:"limit"` // the one that lets it in last
	Wait  time.Duration `json:"wait"`  // until then, if nothing else comes in before
}

// Pass is what a message took on its way in.
type Pass struct {
	chat.Arrival
	At         time.Time `json:"at"`
	Tight      bool      `json:"tight,omitempty"` // it went at the slower rate of its lane
	Tokens     int       `json:"tokens"`          // of the tenant's
	UserTokens int       `json:"user_tokens,omitempty"`
}

// fill is how full a lane is.
type fill struct {
	depth, bound int
	tight        bool
	since        time.Time // when it became tight last
}

func (f *fill) judge(t Tighten, now time.Time) {
	was, depth, bound := f.tight, float64(f.depth), float64(f.bound)
	begins := depth >= math.Ceil(t.At*bound-tiny)
	f.tight = t != (Tighten{}) && f.bound > 0 && (begins || was && depth > t.Until*bound+tiny)
	if f.tight && !was {
		f.since = now
	}
}
