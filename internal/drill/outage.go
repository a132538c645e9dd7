package drill

import (
	"context"
	"fmt"
	"time"

	"sluice/internal/sim"
)

// When the fault of a quick drill begins and ends, and when the load ends.
const (
	faultFrom  = 3 * time.Second
	faultFor   = 4500 * time.Millisecond
	healthyFor = 10 * time.Second
)

// leastSilence is a pause that only an open breaker explains.
const leastSilence = cooldown * 4 / 5

// outage is a vendor, or a tool, that goes wrong under a steady chat and becomes well again.
type outage struct {
	vendor *vendor
	tool   bool
	played
	from, to, end time.Time // of the fault, and of the load
	calls         []call    // of the vendor, of the whole load
}

// outage plays a fault of vendor a, which is the first choice.
func (d *drill) outage(ctx context.Context, fault func(*sim.Behaviour)) (*outage, error) {
	one, err := d.startSolo(ctx, accounts(), setting{})
	if err != nil {
		return nil, err
	}
	o := &outage{vendor: d.vendors.named("a")}
	d.begin("all is well")
	bad := d.long(faultFor)
	over := faultFrom + bad + d.long(healthyFor)
	steady, err := d.load(ctx, target(one.base, one.tenants), d.chatFor(over))
	if err != nil {
		return nil, err
	}
	if o.from, err = d.at(ctx, faultFrom, "the vendor goes wrong"); err != nil {
		return nil, err
	}
	b := healthy()
	fault(&b)
	if err := o.vendor.behave(b); err != nil {
		return nil, err
	}
	if o.to, err = d.at(ctx, faultFrom+bad, "the vendor is well again"); err != nil {
		return nil, err
	}
	if err := o.vendor.behave(healthy()); err != nil {
		return nil, err
	}
	if o.end, err = d.at(ctx, over, "the last answers"); err != nil {
		return nil, err
	}
	o.played = wait(steady)
	o.calls = o.vendor.between(d.begunAt, o.end)
	return o, nil
}

// opens checks that the breaker stopped the calls, that answers went on, and how the vendor
// came back.
func (d *drill) opens(o *outage) {
	v := o.vendor
	before := calledBetween(o.calls, o.from.Add(-window), o.from)
	bound := before + v.permits + minCalls
	n, since, found := silence(o.calls, o.from, o.to, leastSilence)
	what, others := "vendor", "by the other vendors"
	if o.tool {
		what, others = "tool", "without it"
	}
	d.check("calls to the "+what+" until its breaker opens",
		fmt.Sprintf("≤ %d, then none for %s", bound, short(leastSilence)), fmt.Sprintf("%d, silent: %t", n, found), found && n <= bound)
	if !found {
		return
	}
	d.note("the breaker was open %s after the fault began", short(since.Sub(o.from)))
	rounds := int(o.to.Sub(since)/cooldown) + 1
	probed := calledBetween(o.calls, since.Add(time.Nanosecond), o.to)
	d.check("calls to the open "+what+": probes only", fmt.Sprintf("≤ %d in %d rounds", probes*rounds, rounds), fmt.Sprint(probed), probed <= probes*rounds)
	got, whole := 0, 0
	for _, m := range o.all {
		if m.AcceptedAt.After(since) && m.AcceptedAt.Before(o.to) {
			whole++
			if m.Answered() {
				got++
			}
		}
	}
	d.share("answered "+others+" meanwhile", 0.95, got, whole)
	d.recovers(o, since)
}

// recovers checks that probes find the vendor well again, and that the calls come back step
// by step.
func (d *drill) recovers(o *outage, since time.Time) {
	longest := longestCooldown(o.to.Sub(since))
	first, found := nth(o.calls, 1, o.to)
	if !found {
		d.check("well again: the first good call", "≤ "+short(longest), "none came", false)
		return
	}
	d.atMost("well again: the first good call", longest, first.at.Sub(o.to))
	if closing, found := nth(o.calls, probes, o.to); found {
		step := window / 2
		bound := max(probes, (o.vendor.permits+9)/10)
		most := mostInFlight(o.calls, closing.end, closing.end.Add(step*9/10))
		d.check("in flight in the ramp's first step", fmt.Sprintf("≤ %d", bound), fmt.Sprint(most), most <= bound)
	}
	d.inUseAgain(o)
}

// longestCooldown is the longest that a breaker may be open after so much time in which every
// probe failed: the cooldown doubles with each, and its jitter adds a fifth at most.
func longestCooldown(failing time.Duration) time.Duration {
	longest := cooldown
	for spent := longest; spent < failing; spent += longest {
		longest *= 2
	}
	return longest * 6 / 5
}

// inUseAgain checks that the vendor has its share of the calls again at the end.
func (d *drill) inUseAgain(o *outage) {
	const span = 2 * time.Second
	before := calledBetween(o.calls, o.from.Add(-span), o.from)
	after := calledBetween(o.calls, o.end.Add(-span), o.end)
	d.check("calls in the last 2 s, against those before the fault", fmt.Sprintf("≥ half of %d", before), fmt.Sprint(after), 2*after >= before)
}

// attempts checks how many calls an answer took.
func (d *drill) attempts(o *outage) {
	calls := 0
	for _, v := range d.vendors.all {
		calls += calledBetween(v.log.all(), d.begunAt, time.Now())
	}
	per := float64(calls) / float64(max(len(o.all), 1))
	d.check("calls per message", "≤ 1.10", fmt.Sprintf("%.2f", per), per <= 1.1)
}

// vendorDown breaks every connection.
func vendorDown(ctx context.Context, d *drill) error {
	o, err := d.outage(ctx, func(b *sim.Behaviour) { b.RefuseShare = 1 })
	if err != nil {
		return err
	}
	d.keeps(promise{}, o.played)
	d.opens(o)
	d.attempts(o)
	d.shows(o.played)
	return nil
}

// vendorSlow has every first token come after what counts as slow.
func vendorSlow(ctx context.Context, d *drill) error {
	o, err := d.outage(ctx, func(b *sim.Behaviour) {
		b.FirstToken = sim.Fixed(slowAfter * 6 / 5)
	})
	if err != nil {
		return err
	}
	d.keeps(promise{}, o.played)
	d.opens(o)
	d.attempts(o)
	d.shows(o.played)
	return nil
}

// vendorHangs takes every call and answers none.
func vendorHangs(ctx context.Context, d *drill) error {
	o, err := d.outage(ctx, func(b *sim.Behaviour) { b.HangShare = 1 })
	if err != nil {
		return err
	}
	d.keeps(promise{byQuota: []string{"a"}}, o.played)
	d.opens(o)
	d.attempts(o)
	var hung []time.Duration
	for _, c := range o.calls {
		if c.at.After(o.from) && c.at.Before(o.to) && c.left {
			hung = append(hung, c.took())
		}
	}
	d.check("calls that were ended at the first-token limit", "> 0", fmt.Sprint(len(hung)), len(hung) > 0)
	d.atMost("a hung call ended upstream: limit + 200 ms", firstToken+200*time.Millisecond, quantile(hung, 1))
	d.shows(o.played)
	return nil
}
