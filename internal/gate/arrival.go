package gate

import (
	"time"

	"sluice/internal/chat"
)

// arrival is everything that one message has to pass at a Turnstile. To look at it changes
// no count; only pass does.
type arrival struct {
	chat.Arrival
	allowed Allowance
	sender  *sender
	known   bool      // the tenant has a place
	user    *spending // nil: not limited
	fresh   bool      // the customer has no place yet
	lane    *fill     // nil: not tight
	slow    tightBucket
	pace    rate // of slow
	tokens  int
}

func (t *Turnstile) arrival(a chat.Arrival, now time.Time) *arrival {
	e := &arrival{Arrival: a, allowed: t.cfg.allowance(a.Tenant), tokens: (max(a.Bytes, 0) + bytesPerToken - 1) / bytesPerToken}
	if e.sender, e.known = t.tenants[a.Tenant]; !e.known {
		e.sender = &sender{tokens: newSpending(time.Minute, tokenPart)}
		e.sender.tokens.limit = e.allowed.Tokens
		e.sender.bucket.empty(e.allowed.rate(), t.since)
	}
	if t.cfg.UserTokens > 0 && a.Customer != "" {
		e.user = t.users[a.Customer]
		if e.user == nil && len(t.users) < maxUsers {
			all := newSpending(time.Minute, userPart)
			all.limit = t.cfg.UserTokens
			e.user, e.fresh = &all, true
		}
	}
	if f := t.lanes[a.Lane]; f != nil && f.tight && !a.Urgent {
		e.lane, e.slow = f, e.sender.tight[a.Lane]
		e.pace = e.allowed.rate().slowed(t.cfg.Tighten.Factor)
		if !e.slow.since.Equal(f.since) {
			// Everybody begins with the last one of the burst: the lane fills already.
			e.slow = tightBucket{since: f.since}
			e.slow.empty(e.pace, f.since.Add(-e.pace.every))
		}
	}
	return e
}

// turned returns the limit that lets the message in last, or nil if all do now.
func (e *arrival) turned(t *Turnstile, now time.Time) *TurnedAway {
	var worst *TurnedAway
	look := func(l Limit, opensAt time.Time) {
		if wait := opensAt.Sub(now); wait > 0 && (worst == nil || wait > worst.Wait) {
			worst = &TurnedAway{Limit: l, Wait: wait}
		}
	}
	if t.today.full(e.Tenant, e.allowed.Daily) {
		look(LimitDay, t.today.end())
	}
	if e.Fed {
		return worst
	}
	look(LimitRate, e.sender.bucket.opensAt(e.allowed.rate(), now))
	if e.lane != nil {
		look(LimitLane, e.slow.opensAt(e.pace, now))
	}
	look(LimitTokens, e.sender.tokens.nextAt(now, e.tokens))
	if e.user != nil {
		look(LimitUser, e.user.nextAt(now, e.tokens))
	}
	if !e.known && len(t.tenants) >= maxTenants {
		look(LimitCrowd, now.Add(crowdWait))
	}
	return worst
}

// pass counts the message everywhere.
func (e *arrival) pass(t *Turnstile, now time.Time) Pass {
	p := Pass{Arrival: e.Arrival, At: now, Tight: e.lane != nil}
	if e.allowed.Daily > 0 {
		t.today.Counts[e.Tenant]++
	}
	if e.Fed {
		return p
	}
	if e.lane != nil {
		e.slow.take(e.pace, now)
		if e.sender.tight == nil {
			e.sender.tight = map[chat.Lane]tightBucket{}
		}
		e.sender.tight[e.Lane] = e.slow
	}
	e.sender.bucket.take(e.allowed.rate(), now)
	if e.allowed.Tokens > 0 {
		p.Tokens = e.sender.tokens.clamp(e.tokens)
		e.sender.tokens.add(p.Tokens, now)
	}
	if e.user != nil {
		p.UserTokens = e.user.clamp(e.tokens)
		e.user.add(p.UserTokens, now)
	}
	if e.fresh {
		t.users[e.Customer] = e.user
	}
	t.tenants[e.Tenant] = e.sender
	return p
}
