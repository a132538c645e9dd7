package drill

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"sluice/internal/load"
)

// The drill of the connections. They are held by calls whose customers have left: the
// dial of a call goes on without it, up to connectFor, and the port hangs for less than
// that, so that nobody who waits for the vendor meets the hanging port itself.
const (
	connectFor = 5 * time.Second
	hangsFor   = 4500 * time.Millisecond
	acquireFor = 2 * time.Second // how long a call waits for a connection; not scaled
	impatient  = 120 * time.Millisecond
	waves      = 2
	waveOf     = 20
)

// poolExhausted has all our connections to vendor a be in use without a call of it.
func poolExhausted(ctx context.Context, d *drill) error {
	one, err := d.startSolo(ctx, accounts(), setting{connect: connectFor})
	if err != nil {
		return err
	}
	v := d.vendors.named("a")
	d.begin("all is well")
	before, err := d.play(ctx, target(one.base, one.tenants), d.chatFor(3*time.Second))
	if err != nil {
		return err
	}
	shutAt := time.Now()
	d.mark("the vendor's port hangs", shutAt)
	v.server.SetKeepAlivesEnabled(false) // connections that stand would be used
	if err := v.door.shut(ctx); err != nil {
		return err
	}
	d.own(func() { _ = v.door.reopen() }) // else who waits in Accept would hang too
	hungAt := time.Now()                  // no dial began before
	for range waves {
		d.leaveSoon(ctx, one)
	}
	d.mark("chat without connections to the vendor", time.Now())
	meanwhile, err := d.load(ctx, target(one.base, one.tenants), d.chatFor(10*time.Second))
	if err != nil {
		return err
	}
	if err := sleep(ctx, time.Until(hungAt.Add(hangsFor))); err != nil {
		return err
	}
	openAt := time.Now()
	d.mark("the port is open", openAt)
	v.server.SetKeepAlivesEnabled(true)
	if err := v.door.reopen(); err != nil {
		return err
	}
	p := wait(meanwhile)
	d.keeps(promise{byQuota: []string{"a", "b", "c"}, late: func(o load.Outcome) time.Duration {
		if o.AcceptedAt.Before(shutAt) {
			return 0
		}
		return acquireFor
	}}, before, p)
	said := strings.Count(one.errOut.String(), "pool_exhausted")
	d.check("calls that failed for want of a connection, by their own name in the log", "> 0", fmt.Sprint(said), said > 0)
	calls := v.between(shutAt.Add(halfSecond), time.Now())
	d.none("calls that came to the vendor while its port hung", calledBetween(calls, shutAt.Add(halfSecond), openAt))
	first, found := nth(calls, 1, openAt)
	if !found {
		d.check("calls again", "≤ 2s", "none came", false)
		return nil
	}
	d.atMost("calls again", 2*time.Second, first.at.Sub(openAt))
	soon := mostInFlight(calls, first.at, first.at.Add(window/2))
	d.check("no breaker: more than probes within a second of the first", fmt.Sprintf("> %d", probes), fmt.Sprint(soon), soon > probes)
	d.shows(before, p)
	return nil
}

// leaveSoon has a wave of customers come who leave before anything is heard.
func (d *drill) leaveSoon(ctx context.Context, one *solo) {
	var visits sync.WaitGroup
	begun := time.Now().Add(connectEarly)
	for n := range waveOf {
		visits.Go(func() {
			v := &visitor{base: one.base, tenant: one.tenants[n%len(one.tenants)], visit: visit{customer: customer{
				patience: impatient, text: fmt.Sprintf("Where is parcel %d of %d?", n, begun.UnixNano()),
			}}}
			v.come(ctx, begun) // whoever gets an answer of another vendor in time is no matter here
		})
	}
	visits.Wait()
}
