package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/sim"
)

// asks returns what the vendor was asked, in the order of arrival.
func (o *outage) asks(vendor string) (all []string) {
	for _, p := range o.vendors[vendor].Prompts() {
		all = append(all, p.Messages[len(p.Messages)-1].Content)
	}
	return all
}

// Row 10 (BerriAI/litellm#19301, #18098, #14817): a queue in Redis took its stale head
// again and again, and heeded no priority while any deployment was well. Three nodes, 48
// permits, a hundred of low, then ten of high.
func TestHighGoesBeforeAllFurtherLowOnThreeNodesAndEachOnce(t *testing.T) {
	behaviour := sim.Behaviour{FirstToken: sim.Fixed(200 * time.Millisecond), Call: sim.Uniform(4*time.Second, 6*time.Second)}
	inOutage(t, onVendor(`quota: 48, `+neverOpen), behaviour, func(t *testing.T, o *outage) {
		nodes := []*life{o.join(), o.join(), o.join()}
		var ids []string
		accept := func(lane chat.Lane, n int) {
			for i := range n {
				text := fmt.Sprintf("%s question %d about order %d", lane, i, 1000+i)
				asked := o.ask(fmt.Sprint(lane, i), text, lane, time.Minute)
				ids = append(ids, nodes[i%3].accept(asked).ID)
			}
		}
		accept(chat.Low, 100)
		time.Sleep(time.Second)
		if s := o.vendors["a"].Stats(); s.InFlight != 48 || s.Calls != 48 {
			t.Fatalf("the vendor counted %+v, want 48 of low", s)
		}
		accept(chat.High, 10)
		for _, ticket := range nodes[0].until(2*time.Minute, ids...) {
			if ticket.Route != chat.RouteAgent || ticket.Attempts != 1 {
				t.Errorf("ticket %+v, want an answer at the first attempt", ticket)
			}
		}
		order := o.asks("a")
		for i, text := range order {
			if high := strings.HasPrefix(text, "high"); high != (i >= 48 && i < 58) {
				t.Errorf("call %d was %q", i+1, text)
			}
		}
		slices.Sort(order)
		if s := o.vendors["a"].Stats(); s.Calls != 110 || len(slices.Compact(order)) != 110 {
			t.Errorf("%d calls for %d questions, want 110 for 110", s.Calls, len(slices.Compact(order)))
		}
		o.atRest("at the end")
	})
}

// Row 27 (kubernetes-sigs/gateway-api-inference-extension#1861): strict priority starved
// the low band. While a crowd of high never leaves a permit free, batch has its floor, a
// twentieth of the permits, at all times; and high has all the rest.
func TestBatchHasItsFloorUnderAConstantCrowdOfHigh(t *testing.T) {
	const permits, floor, lasts = 40, 2, 40 * time.Second
	atGate(t, onVendor(fmt.Sprintf("quota: %d, %s", permits, neverOpen)), steady, func(t *testing.T, o *outage) {
		nodes := []*life{o.join(), o.join()}
		ctx, stop := context.WithCancel(t.Context())
		var crowd, all sync.WaitGroup
		for i := range 3 * permits {
			crowd.Go(func() {
				for ctx.Err() == nil {
					_, _ = nodes[i%2].call(ctx, o.wish(chat.High, 0), "high", streamed())
				}
			})
		}
		time.Sleep(5 * time.Second)
		begun := time.Now()
		for i := range 10 * int(lasts/time.Second) {
			all.Go(func() { _, _ = nodes[i%2].call(ctx, o.wish(chat.Batch, 0), "batch", streamed()) })
		}
		time.Sleep(lasts)
		batch, high := 0, 0
		for _, p := range o.vendors["a"].Prompts() {
			if !p.ReceivedAt.Before(begun) {
				if p.Messages[0].Content == "batch" {
					batch++
				} else {
					high++
				}
			}
		}
		// Each call takes a second. A node hears of a permit that came free at once.
		if want := floor * int(lasts/time.Second); batch < want-floor || batch > want+floor {
			t.Errorf("batch began %d calls in %s, want %d", batch, lasts, want)
		}
		if want := (permits - floor) * int(lasts/time.Second); high < want-permits {
			t.Errorf("high began %d calls in %s, want %d", high, lasts, want)
		}
		stop()
		crowd.Wait()
		all.Wait()
		time.Sleep(250 * time.Millisecond)
		o.atRest("at the end")
	})
}
