package drill

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sluice/internal/load"
	"sluice/internal/sim"
)

// The tool of the drill, in the drill's time: an order is looked up at once, or after ten
// times what the tool may take.
const (
	toolName    = "order_query"
	toolPermits = 8
	toolTimeout = 3 * time.Second / Scale
	toolRate    = 10 // messages a second, each of two calls of a model: as the others' load
	shopper     = "c010"
)

// startShop serves a demo shop of the drill's own. Its calls are logged as a vendor's are.
func (d *drill) startShop(ctx context.Context) (*sim.Shop, *vendor, error) {
	shop, err := sim.NewShop(time.Now())
	if err != nil {
		return nil, nil, err
	}
	v := &vendor{account: account{name: toolName, permits: toolPermits}, log: &callLog{path: "/orders"}}
	if v.door, err = openDoor(ctx); err != nil {
		return nil, nil, err
	}
	v.url = "http://" + v.door.Addr().String()
	v.server = &http.Server{Handler: v.log.noted(shop.Handler()), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- v.server.Serve(v.door) }()
	d.own(func() {
		_ = v.server.Close() // errors of closing what is given up
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			d.note("the shop's server ended: %v", err)
		}
	})
	return shop, v, nil
}

func toolRules(url string) string {
	return fmt.Sprintf(`tools:
  - name: %s
    description: {zh: 查询订单, en: Looks up an order.}
    url: %s/orders
    method: GET
    timeout: %s
    permits: %d
    breaker: {window: %s, min_calls: %d, failures: 0.5, slow: 0.3, slow_after: %s, cooldown: %s, probes: %d}
    arguments: {type: object, properties: {order: {type: string}}, required: [order]}
`, toolName, url, toolTimeout, toolPermits, window, minCalls, toolTimeout*2/3, cooldown, probes)
}

// toolSlow has every call of a tool take ten times what it may, under a steady chat that
// needs it for each answer.
func toolSlow(ctx context.Context, d *drill) error {
	shop, v, err := d.startShop(ctx)
	if err != nil {
		return err
	}
	one, err := d.startSolo(ctx, accounts(), setting{tools: toolRules(v.url)})
	if err != nil {
		return err
	}
	o := &outage{vendor: v, tool: true}
	d.begin("all is well")
	bad := d.long(faultFor)
	over := faultFrom + bad + d.long(healthyFor)
	cfg := d.chatFor(over)
	cfg.Tickets, cfg.Customer, cfg.Orders = int(over.Seconds()*toolRate), shopper, []string{shop.Own(shopper)}
	steady, err := d.load(ctx, target(one.base, one.tenants), cfg)
	if err != nil {
		return err
	}
	if o.from, err = d.at(ctx, faultFrom, "the tool becomes slow"); err != nil {
		return err
	}
	shop.Behave(sim.ShopBehaviour{Delay: 10 * toolTimeout})
	if o.to, err = d.at(ctx, faultFrom+bad, "the tool is well again"); err != nil {
		return err
	}
	shop.Behave(sim.ShopBehaviour{})
	if o.end, err = d.at(ctx, over, "the last answers"); err != nil {
		return err
	}
	o.played = wait(steady)
	o.calls = v.between(d.begunAt, o.end)
	// An answer is two calls of a model and one of the tool, each of which may wait a little.
	d.keeps(promise{longest: 2*callMax + firstToken + 2*toolTimeout}, o.played)
	d.opens(o)
	d.goOn(o)
	d.shows(o.played)
	return nil
}

// goOn checks that answers came as before without the tool, and said so.
func (d *drill) goOn(o *outage) {
	var before, during []time.Duration
	told, whole, models := 0, 0, 0
	_, since, open := silence(o.calls, o.from, o.to, leastSilence)
	for _, m := range o.all {
		switch {
		case m.EndedAt.IsZero():
		case m.EndedAt.Before(o.from):
			before = append(before, m.Wait)
		case m.AcceptedAt.After(o.from) && m.EndedAt.Before(o.to):
			during = append(during, m.Wait)
			if open && m.AcceptedAt.After(since) {
				whole++
				if m.Answered() && saysBusy(m) {
					told++
				}
			}
		}
	}
	for _, v := range d.vendors.all {
		models += len(v.between(o.from, o.to))
	}
	d.share("answers that say so while the breaker is open", 0.95, told, whole)
	d.atMost("wait p95 meanwhile, against before", quantile(before, 0.95)*11/10+50*time.Millisecond, quantile(during, 0.95))
	want := int(o.to.Sub(o.from).Seconds() * toolRate * 3 / 2)
	d.check("calls of models meanwhile: nobody waits for the tool with a permit", fmt.Sprintf("≥ %d", want), fmt.Sprint(models), models >= want)
}

// saysBusy reports whether an answer names the tool as one that cannot be used now, which
// is all that a model knows of it then. A few probes may meet a tool that is slow.
func saysBusy(m load.Outcome) bool { return strings.Contains(m.Reply, toolName) }
