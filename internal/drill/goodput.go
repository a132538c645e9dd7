package drill

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"sluice/internal/chat"
	"sluice/internal/llm"
)

// The loads of the drill, as parts of the capacity.
func loads() []float64 { return []float64{0.5, 1, 1.5, 3} }

// What must be shown.
const (
	leastGoodput = 0.95 // of the capacity at 3 times
	leastHigh    = 0.99 // of the customers in high at 1.5 times: all but a stray one
	overloaded   = 3.0
	halfOverload = 1.5
	goodputWarm  = 1500 * time.Millisecond // until the line stands
	goodputRest  = 2 * time.Second         // between loads
)

// single is the one account of the goodput drill.
func single() account { return account{name: "a", quota: 15, permits: 12, elastic: 0.25} }

// contest is both designs, each on a vendor of its own that behaves the same.
type contest struct {
	d            *drill
	one          *solo
	vendor       *vendor
	high, normal tenant
	rival        *naive
	twin         *vendor

	told    []time.Duration // refusal to the lesser answer, of Sluice
	tickets []ticketOf
}

// goodput sends impatient customers to an instance and to the naive design, at the same
// times.
func goodput(ctx context.Context, d *drill) error {
	c, err := d.startContest(ctx)
	if err != nil {
		return err
	}
	over := d.long(10 * time.Second)
	d.out.Goodput = &Goodput{Permits: single().permits, OverMS: over.Milliseconds(), Loads: []GoodputLoad{}}
	d.begin("customers come")
	for i, factor := range loads() {
		d.mark(fmt.Sprintf("%g times the capacity", factor), time.Now())
		rate := factor * float64(single().permits) / callMean.Seconds()
		l := c.meet(ctx, customers(d.cfg.Seed+uint64(i), rate, over), over)
		l.Factor = factor
		d.out.Goodput.Loads = append(d.out.Goodput.Loads, l)
		if err := sleep(ctx, goodputRest); err != nil {
			return err
		}
	}
	d.say("every ticket is looked at")
	lost, err := c.one.unended(ctx, c.tickets)
	if err != nil {
		return err
	}
	d.judgeGoodput(c.told, lost, len(c.tickets))
	return nil
}

func (d *drill) startContest(ctx context.Context) (*contest, error) {
	one, err := d.startSolo(ctx, []account{single()}, setting{})
	if err != nil {
		return nil, err
	}
	c := &contest{d: d, one: one, vendor: d.vendors.all[0]}
	if c.high, err = one.addTenant(ctx, "drill-high", chat.High); err != nil {
		return nil, err
	}
	if c.normal, err = one.addTenant(ctx, "drill-normal", chat.Normal); err != nil {
		return nil, err
	}
	twins, err := startVendors(ctx, []account{single()}, d.cfg.Seed)
	if err != nil {
		return nil, err
	}
	d.own(twins.stop)
	c.twin = twins.all[0]
	client, err := llm.New(llm.Config{Vendor: c.twin.name, BaseURL: c.twin.url, Model: "model-l", MaxConns: c.twin.quota})
	if err != nil {
		return nil, err
	}
	d.own(client.Close)
	c.rival = startNaive(client, c.twin.permits)
	d.own(c.rival.stop)
	return c, nil
}

// meet lets the same customers visit both designs, and measures when all have gone.
func (c *contest) meet(ctx context.Context, all []customer, over time.Duration) GoodputLoad {
	begun := time.Now().Add(2 * connectEarly)
	ours, theirs := make([]visit, len(all)), make([]visit, len(all))
	var visits sync.WaitGroup
	for i, x := range all {
		visits.Go(func() {
			v := &visitor{base: c.one.base, tenant: c.tenantOf(x), visit: visit{customer: x}}
			v.come(ctx, begun)
			ours[i] = v.visit
		})
		visits.Go(func() { theirs[i] = c.rival.come(ctx, x, begun) })
	}
	visits.Wait()
	for _, v := range ours {
		if v.degraded() {
			c.told = append(c.told, v.told(maxWait))
		}
		if v.ticket != "" {
			c.tickets = append(c.tickets, ticketOf{v.ticket, c.tenantOf(v.customer)})
		}
	}
	w := measured{begun: begun, from: begun.Add(goodputWarm), to: begun.Add(over), over: time.Now()}
	l := GoodputLoad{Offered: len(all), Sluice: measure(ours, c.vendor, w, maxWait), Naive: measure(theirs, c.twin, w, naiveWait)}
	l.Sluice.GonePercent = gonePercent(spansOf(c.vendor.log.all()), w)
	l.Naive.GonePercent = gonePercent(c.rival.spans(), w)
	return l
}

func (c *contest) tenantOf(x customer) tenant {
	if x.high {
		return c.high
	}
	return c.normal
}

// judgeGoodput checks what must be shown, and shows the rest.
func (d *drill) judgeGoodput(told []time.Duration, lost, tickets int) {
	g := d.out.Goodput
	faults := 0
	for _, l := range g.Loads {
		faults += l.Sluice.Faults + l.Naive.Faults
		if l.Sluice.fault != nil {
			d.note("a visit went wrong: %v", l.Sluice.fault)
		}
		switch l.Factor {
		case overloaded:
			got := l.Sluice.Percent
			d.check("vendor answers inside the customer's patience at 3 times the capacity",
				fmt.Sprintf("≥ %.0f%% of capacity", 100*leastGoodput), fmt.Sprintf("%.1f%% (naive: %.1f%%)", got, l.Naive.Percent), got >= 100*leastGoodput)
		case halfOverload:
			d.share("lane high served at 1.5 times, at 20% of the load", leastHigh, l.Sluice.HighUseful, l.Sluice.High)
		}
	}
	d.atMost("refusal to the lesser answer, p95", degradedFor, quantile(told, 0.95))
	if len(told) == 0 {
		d.note("nobody was refused")
	}
	d.check("tickets without an end", "0", fmt.Sprintf("%d of %d", lost, tickets), lost == 0 && tickets > 0)
	d.none("visits that went wrong", faults)
	d.limits(promise{byQuota: []string{"a"}})
	d.table("customers", g.grid())
	d.note("the same customers at the same times came to the naive design (one line, %s, no cancel, %s workers), in this process and on a vendor that behaves the same",
		short(naiveWait), strconv.Itoa(g.Permits))
	d.note("max_wait is %s, the least that rules allow", maxWait)
	d.series(nil)
}
