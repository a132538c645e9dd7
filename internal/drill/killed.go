package drill

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/load"
)

// What a process's death costs, in time that is not scaled.
const (
	permitsBack = 5 * time.Second  // until its permits are others'
	jobsBack    = 12 * time.Second // until its jobs have been answered by others
)

// killDispatcher kills one of two dispatchers with kill -9 in the middle of its work.
func killDispatcher(ctx context.Context, d *drill) error {
	c, err := d.startCluster(ctx, 1, 2)
	if err != nil {
		return err
	}
	to := target(c.api.base, c.tenants)
	d.begin("two dispatchers")
	killAt, rest := d.long(4*time.Second), 16*time.Second
	chat, err := d.load(ctx, to, d.chatFor(killAt+rest))
	if err != nil {
		return err
	}
	killed, err := d.at(ctx, killAt, "one is killed")
	if err != nil {
		return err
	}
	c.members[1].kill()
	// More at once than one dispatcher's half of the permits: all must be used again.
	if _, err := d.at(ctx, killAt+permitsBack, "its permits are others'"); err != nil {
		return err
	}
	many, err := d.load(ctx, to, load.BurstConfig{Tickets: 60, Sessions: anySession, Timeout: 30 * time.Second, Seed: d.cfg.Seed + 1})
	if err != nil {
		return err
	}
	back, err := d.allInUse(ctx, killed)
	if err != nil {
		return err
	}
	if _, err := d.at(ctx, killAt+9*time.Second, "a new dispatcher starts"); err != nil {
		return err
	}
	next, err := c.launch("dispatcher")
	if err != nil {
		return err
	}
	if err := next.ready(ctx); err != nil {
		return err
	}
	steady, burst := wait(chat), wait(many)
	// What the dead one held comes back after the lanes' time, whatever its own limit was.
	held := func(o load.Outcome) bool {
		return o.AcceptedAt.Before(killed.Add(halfSecond)) && o.EndedAt.After(killed)
	}
	d.keeps(promise{exempt: held, byQuota: []string{"a", "b", "c"}}, steady, burst)
	most := permitsBack + 2*time.Second // the burst takes a moment to come in
	d.check("all permits in use again after the kill", "≤ "+short(most), inUseText(back), back > 0 && back <= most)
	var last time.Duration
	n := 0
	for _, o := range steady.all {
		if held(o) {
			n++
			last = max(last, o.EndedAt.Sub(killed))
		}
	}
	d.atMost(fmt.Sprintf("%d messages under way at the kill: all ended", n), jobsBack, last)
	d.shows(steady, burst)
	return nil
}

func inUseText(back time.Duration) string {
	if back == 0 {
		return "never"
	}
	return short(back)
}

// allInUse waits a few seconds until the vendors have as many calls as there are permits, and
// returns how long after an instant that was; 0: it was not.
func (d *drill) allInUse(ctx context.Context, since time.Time) (time.Duration, error) {
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		if d.inFlight() >= permitsOf(accounts()) {
			return time.Since(since), nil
		}
		if err := sleep(ctx, 2*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return 0, nil
}
