package main

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
)

// Row 24 (higress-group/higress#3255): the node that failed fastest had the fewest calls in
// flight and so drew all of them. Of two endpoints of one account, one answers 500 in 2 ms;
// its share of the calls falls far below a half, and comes back when it is well.
func TestAnEndpointThatFailsInTwoMillisecondsGetsLessThanItsShare(t *testing.T) {
	doc := `
vendors:
  - {name: a, endpoints: [{url: "http://x/v1"}, {url: "http://y/v1"}], models: {strong: m}, quota: 20, headroom: 1, retry: {attempts: 1}, ` + neverOpen + `}
chains: {agent: {vendors: [a], model: strong}, rag: {vendors: [a], model: strong}}
`
	atGate(t, doc, brisk, func(t *testing.T, o *outage) {
		l := o.alone()
		var mu sync.Mutex
		calls, failing := map[string]int{}, true
		o.fronts["a"].replace(func(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			mu.Lock()
			calls[r.Host]++
			fails := failing && r.Host == "x"
			mu.Unlock()
			if fails {
				time.Sleep(2 * time.Millisecond)
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			serve(w, r)
		})
		round := func(n int) (share float64) {
			mu.Lock()
			clear(calls)
			mu.Unlock()
			var callers sync.WaitGroup
			for range 40 {
				callers.Go(func() {
					for range n / 40 {
						_, _ = l.call(t.Context(), o.wish(chat.Normal, 0), "hello", streamed())
					}
				})
			}
			callers.Wait()
			mu.Lock()
			defer mu.Unlock()
			return float64(calls["x"]) / float64(calls["x"]+calls["y"])
		}
		if share := round(800); share == 0 || share > 0.25 {
			t.Errorf("the failing endpoint got %.0f %% of the calls, want some and at most a quarter", 100*share)
		}
		mu.Lock()
		failing = false
		mu.Unlock()
		time.Sleep(30 * time.Second)
		if share := round(400); share < 0.4 || share > 0.6 {
			t.Errorf("the endpoint got %.0f %% of the calls after it was well again, want half of them", 100*share)
		}
		time.Sleep(250 * time.Millisecond)
		o.atRest("at the end")
	})
}
