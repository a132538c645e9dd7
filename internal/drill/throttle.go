package drill

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"sluice/internal/sim"
)

// retryAfter is what the throttling vendor asks for, in whole seconds as HTTP has it.
const retryAfter = 3 * time.Second

// vendorThrottles refuses every call with 429 for a moment.
func vendorThrottles(ctx context.Context, d *drill) error {
	o, err := d.outage(ctx, func(b *sim.Behaviour) {
		b.ErrorShare, b.ErrorStatus, b.RetryAfter = 1, http.StatusTooManyRequests, retryAfter
	})
	if err != nil {
		return err
	}
	d.keeps(promise{}, o.played)
	d.pauses(o)
	d.attempts(o)
	d.inUseAgain(o)
	d.shows(o.played)
	return nil
}

// heardWithin is how long a pause may take to reach every node and every call on its way.
const heardWithin = 250 * time.Millisecond

// cleanFor is after how long without a 429 the limit rises again, by one.
const cleanFor = 10 * time.Second

// pauses checks that nobody calls before the latest Retry-After, and that the account comes
// back with a lower limit and without the breaker's ramp.
func (d *drill) pauses(o *outage) {
	rounds, early := 0, 0
	var until time.Time // the end of the newest pause
	var heard time.Time // from when on nobody may call in it
	for _, c := range o.calls {
		if !c.at.After(o.from) || c.end.IsZero() {
			continue
		}
		if c.at.After(heard) && c.at.Before(until) {
			early++
		}
		if c.status != http.StatusTooManyRequests {
			continue
		}
		if c.end.After(until) {
			rounds++
			heard = c.end.Add(heardWithin)
		}
		until = maxTime(until, c.end.Add(retryAfter))
	}
	d.check("refused with 429", "> 0", fmt.Sprintf("%d times", rounds), rounds > 0)
	d.none("calls before the latest Retry-After", early)
	if rounds == 0 {
		return
	}
	lowered := o.vendor.permits
	for range rounds {
		lowered = max(lowered*7/10, (o.vendor.permits+1)/2)
	}
	most := mostInFlight(o.calls, until, minTime(o.end, until.Add(cleanFor)))
	d.check("in flight after the pause: the lowered limit", fmt.Sprintf("≤ %d", lowered), fmt.Sprint(most), most <= lowered)
	soon := mostInFlight(o.calls, until, until.Add(time.Second))
	d.check("no breaker: more than probes within a second", fmt.Sprintf("> %d", probes), fmt.Sprint(soon), soon > probes)
}
