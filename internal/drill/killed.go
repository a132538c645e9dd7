package drill

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/load"
)

// What a process's death costs, in time that is not scaled.
const (
	permitsBack  = 5 * time.Second  // until its permits are others'
	leaseOver    = 2 * time.Second  // more, if the controller died with it
	jobsBack     = 12 * time.Second // until its jobs have been answered by others
	burstComesIn = 2 * time.Second  // and what is looked at takes a moment to come in
	restartAfter = 3 * time.Second  // after its permits are back
)

// death is a dispatcher that is killed with kill -9 in the middle of its work.
type death struct {
	who    string
	victim *instance
	within time.Duration // its permits are back
	begin  time.Duration // after the beginning of the load

	killed time.Time
	back   time.Duration // after the kill all permits were in use again; 0: never
	many   *load.Running
}

// killDispatcher kills one of two dispatchers, has another take its place, and then kills
// the one with the controller in it.
func killDispatcher(ctx context.Context, d *drill) error {
	c, err := d.startCluster(ctx, 1, 2)
	if err != nil {
		return err
	}
	deaths := []*death{
		{who: "a dispatcher", victim: c.members[2], within: permitsBack, begin: 4 * time.Second},
		{who: "the one with the controller", victim: c.members[1], within: permitsBack + leaseOver, begin: 19 * time.Second},
	}
	d.begin("two dispatchers")
	last := deaths[1]
	steady, err := d.load(ctx, target(c.api.base, c.tenants), d.chatFor(last.begin+last.within+jobsBack-permitsBack))
	if err != nil {
		return err
	}
	for k, one := range deaths {
		if err := c.bury(ctx, one, uint64(k)); err != nil {
			return err
		}
	}
	chat := wait(steady)
	loads := []played{chat}
	for _, one := range deaths {
		loads = append(loads, wait(one.many))
	}
	d.keeps(promise{exempt: func(o load.Outcome) bool { return held(o, deaths) }, byQuota: []string{"a", "b", "c"}}, loads...)
	for _, one := range deaths {
		d.judgeDeath(one, chat)
	}
	d.shows(loads...)
	return nil
}

// bury kills a dispatcher and has so many messages come when its permits must be back that
// all are used again. Then another dispatcher takes its place.
func (c *cluster) bury(ctx context.Context, one *death, seed uint64) (err error) {
	d := c.d
	if one.killed, err = d.at(ctx, one.begin, one.who+" is killed"); err != nil {
		return err
	}
	one.victim.kill()
	if _, err := d.at(ctx, one.begin+one.within, "its permits are others'"); err != nil {
		return err
	}
	one.many, err = d.load(ctx, target(c.api.base, c.tenants), load.BurstConfig{
		Tickets: 60, Sessions: anySession, Timeout: 30 * time.Second, Seed: d.cfg.Seed + 1 + seed,
	})
	if err != nil {
		return err
	}
	if one.back, err = d.allInUse(ctx, one.killed); err != nil {
		return err
	}
	if _, err := d.at(ctx, one.begin+one.within+restartAfter, "another one starts"); err != nil {
		return err
	}
	_, err = c.join(ctx, "dispatcher")
	return err
}

// allInUse waits a few seconds until the vendors have as many calls as there are permits, and
// returns how long after an instant that was; 0: it was not.
func (d *drill) allInUse(ctx context.Context, since time.Time) (time.Duration, error) {
	for end := time.Now().Add(burstComesIn); time.Now().Before(end); {
		if d.inFlight() >= permitsOf(accounts()) {
			return time.Since(since), nil
		}
		if err := sleep(ctx, 2*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// held reports whether a dispatcher may have died with the message in its hands: then it
// comes back after the lanes' time, whatever its own limit was.
func held(o load.Outcome, deaths []*death) bool {
	for _, one := range deaths {
		if o.AcceptedAt.Before(one.killed.Add(halfSecond)) && o.EndedAt.After(one.killed) {
			return true
		}
	}
	return false
}

// judgeDeath checks that a death cost no more than it must.
func (d *drill) judgeDeath(one *death, chat played) {
	measured := "never"
	if one.back > 0 {
		measured = short(one.back)
	}
	bound := one.within + burstComesIn
	d.check("all permits in use again after the kill of "+one.who, "≤ "+short(bound), measured, one.back > 0 && one.back <= bound)
	var last time.Duration
	n := 0
	for _, o := range chat.all {
		if held(o, []*death{one}) {
			n++
			last = max(last, o.EndedAt.Sub(one.killed))
		}
	}
	d.atMost(fmt.Sprintf("%d messages under way then: all ended", n), jobsBack, last)
}
