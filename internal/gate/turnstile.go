package gate

import (
	"maps"
	"time"

	"sluice/internal/chat"
)

// How many tenants and customers are kept count of at once, and how often those are
// forgotten who could start anew: as a rule, and while there is no place for more.
const (
	maxTenants = 20_000
	maxUsers   = 100_000
	tidyEvery  = time.Minute
	tidyFull   = time.Second
)

// userPart is how much longer than a minute a customer's tokens may count. With it, what
// is kept of a customer has at most 14 parts.
const userPart = 5 * time.Second

// crowdWait is when a tenant that found no place may find one.
const crowdWait = time.Second

// Turnstile decides how fast messages may come in: of a tenant by the second, the minute
// and the day, of a customer by the minute, and slower into a lane that fills. It is all or
// nothing: a message that is turned away changes no count, so it costs nobody anything
// (litellm#39309). There is one for all nodes, because a limit that each looked up by
// itself would hold once for each (litellm#40291).
//
// A bucket that is full again and a minute without a message are forgotten. When there is
// no place for one more tenant, its messages are turned away; a customer without a place
// is not limited, only its tenant is.
//
// It does no I/O and starts nothing; time comes in by now. It is not safe for concurrent use.
type Turnstile struct {
	cfg     Intake
	since   time.Time // every bucket was empty then: what went before is not known
	voided  time.Time // passes from before are not taken back
	tenants map[string]*sender
	users   map[string]*spending
	lanes   map[chat.Lane]*fill
	today   Day // of tenants with a limit of a day
	tidied  time.Time
}

// sender is what a tenant has sent of late.
type sender struct {
	bucket bucket
	tight  map[chat.Lane]tightBucket
	tokens spending
}

// tightBucket belongs to one time that a lane was tight.
type tightBucket struct {
	bucket
	since time.Time
}

// NewTurnstile returns a turnstile that has let nobody in yet.
func NewTurnstile(cfg Intake) *Turnstile {
	return &Turnstile{
		cfg: cfg, tenants: map[string]*sender{}, users: map[string]*spending{}, lanes: map[chat.Lane]*fill{},
		today: Day{Counts: map[string]int{}},
	}
}

// SetConfig changes the limits. What was taken stays taken, up to a whole burst.
func (t *Turnstile) SetConfig(cfg Intake, now time.Time) {
	for name, s := range t.tenants {
		before, after := t.cfg.allowance(name).rate(), cfg.allowance(name).rate()
		s.bucket.change(before, after, now)
		for lane, b := range s.tight {
			b.change(before.slowed(t.cfg.Tighten.Factor), after.slowed(cfg.Tighten.Factor), now)
			s.tight[lane] = b
		}
		s.tokens.limit = cfg.allowance(name).Tokens
	}
	for _, u := range t.users {
		u.limit = cfg.UserTokens
	}
	t.cfg, t.voided = cfg, now
	for _, f := range t.lanes {
		f.judge(cfg.Tighten, now)
	}
}

// Empty takes every bucket to have been empty at a time up to which somebody else let
// messages in: so no burst is given twice. What the customers and tenants used of their
// minutes is not known, and counts as nothing.
func (t *Turnstile) Empty(at, now time.Time) {
	t.since, t.voided = later(t.since, at), now
	for name, s := range t.tenants {
		s.bucket.empty(t.cfg.allowance(name).rate(), at)
	}
}

// SetDepth tells how full a lane is: how many are accepted and not ended, and the most
// that it holds.
func (t *Turnstile) SetDepth(lane chat.Lane, depth, bound int, now time.Time) {
	f := t.lanes[lane]
	if f == nil {
		f = &fill{}
		t.lanes[lane] = f
	}
	f.depth, f.bound = depth, bound
	f.judge(t.cfg.Tighten, now)
}

// Enter lets a message in, or says which limit lets it in last, and when.
func (t *Turnstile) Enter(a chat.Arrival, now time.Time) (Pass, *TurnedAway) {
	t.tidy(now)
	t.today.turn(now)
	e := t.arrival(a, now)
	if turned := e.turned(t, now); turned != nil {
		return Pass{}, turned
	}
	return e.pass(t, now), nil
}

// Back undoes a pass whose message was not taken in after all. Each is given back at most
// once, by its taker.
func (t *Turnstile) Back(p Pass, now time.Time) {
	if p.At.Before(t.voided) {
		return
	}
	if p.Fed {
		t.today.giveBack(p)
		return
	}
	if s := t.tenants[p.Tenant]; s != nil {
		r := t.cfg.allowance(p.Tenant).rate()
		s.bucket.giveBack(r, p.At, now)
		if b, f := s.tight[p.Lane], t.lanes[p.Lane]; p.Tight && f != nil && b.since.Equal(f.since) {
			b.giveBack(r.slowed(t.cfg.Tighten.Factor), p.At, now)
			s.tight[p.Lane] = b
		}
		s.tokens.giveBack(p.Tokens, p.At)
	}
	if u := t.users[p.Customer]; u != nil {
		u.giveBack(p.UserTokens, p.At)
	}
	t.today.giveBack(p)
}

// tidy forgets whoever could start anew.
func (t *Turnstile) tidy(now time.Time) {
	every := tidyEvery
	if len(t.tenants) >= maxTenants || len(t.users) >= maxUsers {
		every = tidyFull
	}
	if now.Sub(t.tidied) < every {
		return
	}
	t.tidied = now
	maps.DeleteFunc(t.tenants, func(_ string, s *sender) bool { return s.idle(now) })
	maps.DeleteFunc(t.users, func(_ string, u *spending) bool { return u.idle(now) })
}

func (s *sender) idle(now time.Time) bool {
	for _, b := range s.tight {
		if b.fullAt.After(now) {
			return false
		}
	}
	return !s.bucket.fullAt.After(now) && s.tokens.idle(now)
}

func (s *spending) idle(now time.Time) bool {
	s.trim(now)
	return len(s.parts.parts) == 0
}

// giveBack takes n out of the part of a moment, if that still counts.
func (s *spending) giveBack(n int, at time.Time) {
	for i := range s.parts.parts {
		p := &s.parts.parts[i]
		if at.Before(p.first) || at.After(p.last) {
			continue
		}
		n = min(n, p.sum.used)
		p.sum.used -= n
		s.used -= n
		return
	}
}
