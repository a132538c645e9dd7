package drill

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/llm"
	"sluice/internal/sim"
)

// TestTheNaiveDesignIsNaive: one line, a limit, and calls for customers who have gone.
func TestTheNaiveDesignIsNaive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const takes = naiveWait * 4 / 5
		v, err := sim.NewVendor(sim.Config{Name: "a", Behaviour: sim.Behaviour{
			FirstToken: sim.Fixed(takes / 10), Call: sim.Fixed(takes),
		}})
		if err != nil {
			t.Fatal(err)
		}
		door := sim.NewPipeListener()
		serving, stop := context.WithCancel(t.Context())
		var server sync.WaitGroup
		server.Go(func() { _ = sim.Serve(serving, v, door, nil) }) // its end is ours
		client, err := llm.New(llm.Config{Vendor: "a", BaseURL: "http://vendor.test/v1", Model: "m", Dial: door.Dial})
		if err != nil {
			t.Fatal(err)
		}
		n := startNaive(client, 1)
		visits := make([]visit, 4)
		begun := time.Now()
		var coming sync.WaitGroup
		for i, patience := range []time.Duration{time.Minute, naiveWait / 10, time.Minute, time.Minute} {
			coming.Go(func() {
				c := customer{at: time.Duration(i) * time.Millisecond, patience: patience, text: "hello"}
				visits[i] = n.come(t.Context(), c, begun)
			})
		}
		coming.Wait()
		n.stop()
		if v := visits[0]; !v.useful() || v.first != takes/10 || v.ended != takes {
			t.Errorf("the first: %+v, want an answer from %s to %s", v, takes/10, takes)
		}
		if v := visits[1]; !v.left || v.useful() || v.degraded() {
			t.Errorf("the impatient: %+v, want that it left", v)
		}
		for _, v := range visits[2:] {
			if !v.degraded() || v.ended != naiveWait || v.told(naiveWait) != 0 {
				t.Errorf("whoever waited in vain: %+v, want the lesser answer at %s", v, naiveWait)
			}
		}
		spans := n.spans()
		if len(spans) != 2 || spans[0].gone || !spans[1].gone || !spans[1].from.Equal(begun.Add(takes)) {
			t.Errorf("calls %+v, want one for the first and then one for who had gone", spans)
		}
		client.Close()
		stop()
		server.Wait()
	})
}
