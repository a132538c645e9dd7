package drill

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/chat"
	"sluice/internal/load"
)

const (
	leastUsed   = 0.8 // of the permits, while something waits
	degradedFor = 300 * time.Millisecond
)

// burst sends several times what the vendors can take.
func burst(ctx context.Context, d *drill) error {
	one, err := d.startSolo(ctx, accounts(), setting{})
	if err != nil {
		return err
	}
	d.begin("the burst")
	begun := time.Now()
	tickets, over := 300, 4*time.Second
	if !d.cfg.Quick {
		tickets, over = 2000, 20*time.Second
	}
	p, err := d.play(ctx, target(one.base, one.tenants), load.BurstConfig{
		Tickets: tickets, Over: over, Sessions: anySession, Timeout: 30 * time.Second, Seed: d.cfg.Seed,
	})
	if err != nil {
		return err
	}
	d.keeps(promise{}, p)
	d.none("refused for load without Retry-After", p.report.BareRefused)
	used, busy := d.used(begun, lastGrant(p.all))
	d.check("permits used while messages waited", "≥ "+percent(leastUsed), percent(used), used >= leastUsed)
	var refused []time.Duration
	for _, o := range p.all {
		if o.Reason == chat.ReasonPredictedWait {
			refused = append(refused, o.Total)
		}
	}
	if len(refused) > 0 {
		d.atMost("predicted wait to answer without a vendor, p95", degradedFor, quantile(refused, 0.95))
	} else {
		d.check("messages told at once that their wait is too long", "> 0", "0", false)
	}
	d.note("permits were looked at over %s", short(busy))
	d.shows(p)
	return nil
}

// lastGrant is when the last message that a vendor answered got its permit: until then
// messages waited.
func lastGrant(all []load.Outcome) (last time.Time) {
	for _, o := range all {
		if at := o.AcceptedAt.Add(o.Wait); o.Answered() && at.After(last) {
			last = at
		}
	}
	return last
}

// used returns which part of all permits had a call, on average, from when all of them
// were first in use up to an instant, and over how long.
func (d *drill) used(from, to time.Time) (share float64, over time.Duration) {
	var calls []call
	limit := 0
	for _, v := range d.vendors.all {
		calls = append(calls, v.log.all()...)
		limit += v.permits
	}
	from = firstFull(calls, limit, from, to)
	over = to.Sub(from)
	if over <= 0 || limit == 0 {
		return 0, 0
	}
	var busy time.Duration
	for _, c := range calls {
		begin, end := c.at, c.end
		if begin.Before(from) {
			begin = from
		}
		if end.IsZero() || end.After(to) {
			end = to
		}
		busy += max(0, end.Sub(begin))
	}
	return busy.Seconds() / over.Seconds() / float64(limit), over
}

// firstFull returns when so many calls were first in flight at once; to, if they never were.
func firstFull(calls []call, limit int, from, to time.Time) time.Time {
	for _, at := range arrivals(calls) {
		if at.Before(from) || at.After(to) {
			continue
		}
		if mostInFlight(calls, at, at.Add(time.Microsecond)) >= limit*9/10 {
			return at
		}
	}
	return to
}

// batchFlood puts 2,000 jobs of batch beside a steady chat.
func batchFlood(ctx context.Context, d *drill) error {
	one, err := d.startSolo(ctx, accounts(), setting{})
	if err != nil {
		return err
	}
	to := target(one.base, one.tenants[:2])
	over := d.long(10 * time.Second)
	d.begin("chat alone")
	alone, err := d.play(ctx, to, d.chatFor(over))
	if err != nil {
		return err
	}
	d.mark("2,000 jobs come in", time.Now())
	flood, err := d.load(ctx, target(one.base, one.tenants[2:]), load.BurstConfig{
		Tickets: 2000, Lanes: map[chat.Lane]float64{chat.Batch: 1}, Timeout: 5 * time.Minute, Seed: d.cfg.Seed + 1,
	})
	if err != nil {
		return err
	}
	<-flood.Sent()
	d.mark("chat beside the jobs", time.Now())
	cfg := d.chatFor(over)
	cfg.Seed += 2
	beside, err := d.play(ctx, to, cfg)
	if err != nil {
		return err
	}
	working := d.inFlight()
	d.mark("the rest of the jobs, with fast vendors", time.Now())
	if err := d.hurry(); err != nil {
		return err
	}
	jobs := wait(flood)
	d.check("jobs still at work when the chat ends", "> 0", fmt.Sprintf("%d calls", working), working > 0)
	d.keeps(promise{}, alone, beside, jobs)
	before, after := waitP95(alone.all), waitP95(beside.all)
	bound := max(before*11/10, before+50*time.Millisecond)
	d.check("chat's p95 wait beside 2,000 jobs", fmt.Sprintf("≤ %s (alone: %s)", short(bound), short(before)), short(after), after <= bound)
	d.share("jobs answered by a vendor", 1, answered(jobs.all), len(jobs.all))
	d.shows(alone, beside, jobs)
	return nil
}

// inFlight returns the calls that all vendors have.
func (d *drill) inFlight() (n int) {
	for _, v := range d.vendors.all {
		n += v.sim.Stats().InFlight
	}
	return n
}

// hurry makes all vendors fast, so that what is left ends soon.
func (d *drill) hurry() error {
	for _, v := range d.vendors.all {
		b := healthy()
		b.Slow = 0.1
		if err := v.behave(b); err != nil {
			return err
		}
	}
	return nil
}

func waitP95(all []load.Outcome) time.Duration {
	var waits []time.Duration
	for _, o := range all {
		if !o.EndedAt.IsZero() {
			waits = append(waits, o.Wait)
		}
	}
	return quantile(waits, 0.95)
}

func answered(all []load.Outcome) (n int) {
	for _, o := range all {
		if o.Answered() {
			n++
		}
	}
	return n
}
