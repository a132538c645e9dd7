package drill

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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
	leastGoodput  = 0.95 // of the capacity at 3 times
	leastHigh     = 0.99 // of the customers in high at 1.5 times: all but a stray one
	overloaded    = 3.0
	halfOverload  = 1.5
	goodputWarm   = 1500 * time.Millisecond // until the line stands
	goodputRest   = 2 * time.Second         // between loads
	endedVisitors = 64                      // looked at a time
)

// single is the one account of the goodput drill.
func single() account { return account{name: "a", quota: 15, permits: 12, elastic: 0.25} }

// goodput sends impatient customers to an instance and to the naive design, each on a
// vendor of its own that behaves the same, at the same times.
func goodput(ctx context.Context, d *drill) error {
	one, err := d.startSolo(ctx, []account{single()}, setting{})
	if err != nil {
		return err
	}
	high, normal, err := one.lanes(ctx)
	if err != nil {
		return err
	}
	twins, err := startVendors(ctx, []account{single()}, d.cfg.Seed)
	if err != nil {
		return err
	}
	d.own(twins.stop)
	twin := twins.all[0]
	client, err := llm.New(llm.Config{Vendor: twin.name, BaseURL: twin.url, Model: "model-l", MaxConns: twin.quota})
	if err != nil {
		return err
	}
	d.own(client.Close)
	rival := startNaive(client, twin.permits)
	d.own(rival.stop)
	over := d.long(10 * time.Second)
	d.out.Goodput = &Goodput{Permits: single().permits, OverMS: over.Milliseconds(), Loads: []GoodputLoad{}}
	d.begin("customers come")
	var told []time.Duration
	var tickets []ticketOf
	for i, factor := range loads() {
		d.mark(fmt.Sprintf("%g times the capacity", factor), time.Now())
		rate := factor * float64(single().permits) / callMean.Seconds()
		all := customers(d.cfg.Seed+uint64(i), rate, over)
		begun := time.Now().Add(2 * connectEarly)
		ours, theirs := meet(ctx, all, begun, one, rival, high, normal)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w := measured{begun: begun, from: begun.Add(goodputWarm), to: begun.Add(over), over: time.Now()}
		g := GoodputLoad{Factor: factor, Offered: len(all)}
		g.Sluice = measure(ours, d.vendors.all[0], w, maxWait)
		g.Sluice.GonePercent = gonePercent(spansOf(d.vendors.all[0].log.all()), w)
		g.Naive = measure(theirs, twin, w, naiveWait)
		g.Naive.GonePercent = gonePercent(rival.spans(), w)
		d.out.Goodput.Loads = append(d.out.Goodput.Loads, g)
		for _, v := range ours {
			if v.degraded() {
				told = append(told, v.told(maxWait))
			}
			if v.ticket != "" {
				tickets = append(tickets, ticketOf{v.ticket, map[bool]tenant{true: high, false: normal}[v.high]})
			}
		}
		if err := sleep(ctx, goodputRest); err != nil {
			return err
		}
	}
	d.say("every ticket is looked at")
	lost, err := one.unended(ctx, tickets)
	if err != nil {
		return err
	}
	d.judgeGoodput(told, lost, len(tickets))
	return nil
}

// lanes adds a tenant whose customers are in high, and one of the others.
func (one *solo) lanes(ctx context.Context) (high, normal tenant, err error) {
	if high, err = one.addTenant(ctx, "drill-high", chat.High); err != nil {
		return high, normal, err
	}
	normal, err = one.addTenant(ctx, "drill-normal", chat.Normal)
	return high, normal, err
}

// meet lets the same customers visit both designs, and returns when all have gone.
func meet(ctx context.Context, all []customer, begun time.Time, one *solo, rival *naive, lanes ...tenant) (ours, theirs []visit) {
	ours, theirs = make([]visit, len(all)), make([]visit, len(all))
	var visits sync.WaitGroup
	for i, c := range all {
		t := lanes[1]
		if c.high {
			t = lanes[0]
		}
		visits.Go(func() {
			v := &visitor{base: one.base, tenant: t, visit: visit{customer: c}}
			v.come(ctx, begun)
			ours[i] = v.visit
		})
		visits.Go(func() { theirs[i] = rival.come(ctx, c, begun) })
	}
	visits.Wait()
	return ours, theirs
}

// measure counts what came of the visits of one load. The capacity is what the permits
// allow in the window with calls as long as the vendor's were. Answers are counted by the
// parts of their calls that lie in it: at its edges they would else count whole or not at
// all.
func measure(all []visit, v *vendor, w measured, limit time.Duration) GoodputResult {
	calls := v.between(w.begun, w.over)
	g := GoodputResult{MaxInFlight: mostInFlight(calls, w.from, w.to)}
	var firsts, told []time.Duration
	for _, x := range all {
		if x.high {
			g.High++
		}
		switch {
		case x.fault != nil:
			g.Faults++
			g.fault = x.fault
		case x.useful():
			g.Useful++
			firsts = append(firsts, x.first)
			if x.high {
				g.HighUseful++
			}
		case x.degraded():
			g.Degraded++
			told = append(told, x.told(limit))
		case x.left:
			g.Left++
		default:
			g.Refused++
		}
	}
	g.FirstP50MS, g.FirstP95MS = quantile(firsts, 0.5).Milliseconds(), quantile(firsts, 0.95).Milliseconds()
	g.ToldP95MS = quantile(told, 0.95).Milliseconds()
	g.time(calls, v.permits, w)
	return g
}

// time fills in what of the vendor's time in the window went into useful answers.
func (g *GoodputResult) time(calls []call, permits int, w measured) {
	var whole, inside time.Duration
	completed := 0
	for _, c := range calls {
		if c.status == http.StatusOK && !c.left && !c.end.IsZero() {
			completed++
			whole += c.took()
			inside += max(0, minTime(c.end, w.to).Sub(maxTime(c.at, w.from)))
		}
	}
	if completed == 0 {
		return
	}
	mean := whole.Seconds() / float64(completed)
	room := float64(permits) * w.to.Sub(w.from).Seconds()
	useful := inside.Seconds() * float64(min(g.Useful, completed)) / float64(completed)
	g.MeanMS, g.Capacity = 1000*mean, room/mean
	g.Answers, g.Percent = useful/mean, 100*useful/room
}

// measured is the time of a load that is looked at, within all of it.
type measured struct{ begun, from, to, over time.Time }

// spansOf makes spans of calls: one that was cut had nobody there for its answer.
func spansOf(calls []call) []span {
	all := make([]span, len(calls))
	for i, c := range calls {
		all[i] = span{c.at, c.end, c.left}
		if c.end.IsZero() {
			all[i].to = time.Now()
		}
	}
	return all
}

func (n *naive) spans() []span {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]span(nil), n.busy...)
}

// gonePercent is the part of the vendor's time in a window that went to customers who had
// left.
func gonePercent(all []span, w measured) float64 {
	var busy, gone time.Duration
	for _, s := range all {
		part := minTime(s.to, w.to).Sub(maxTime(s.from, w.from))
		if part <= 0 {
			continue
		}
		busy += part
		if s.gone {
			gone += part
		}
	}
	if busy == 0 {
		return 0
	}
	return 100 * gone.Seconds() / busy.Seconds()
}

// ticketOf is a ticket and whose it is.
type ticketOf struct {
	id string
	of tenant
}

// unended returns how many tickets have not come to an end although their customers have
// gone.
func (one *solo) unended(ctx context.Context, all []ticketOf) (n int, err error) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: endedVisitors}}
	defer client.CloseIdleConnections()
	free := make(chan struct{}, endedVisitors)
	var looks sync.WaitGroup
	var mu sync.Mutex
	for _, t := range all {
		free <- struct{}{}
		looks.Go(func() {
			defer func() { <-free }()
			ended, fault := one.hasEnded(ctx, client, t)
			mu.Lock()
			defer mu.Unlock()
			if !ended {
				n++
			}
			if fault != nil {
				err = fault
			}
		})
	}
	looks.Wait()
	return n, err
}

func (one *solo) hasEnded(ctx context.Context, client *http.Client, t ticketOf) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, one.base+"/v1/tickets/"+t.id, nil)
	if err != nil {
		return false, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+t.of.Secret)
	res, err := client.Do(req)
	if err != nil {
		return false, fmt.Errorf("read ticket %s: %w", t.id, err)
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil || res.StatusCode != http.StatusOK {
		return false, fmt.Errorf("read ticket %s: status %d, %w", t.id, res.StatusCode, err)
	}
	var body struct {
		Status chat.Status `json:"status"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return false, fmt.Errorf("decode ticket %s: %w", t.id, err)
	}
	return body.Status.Ended(), nil
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
