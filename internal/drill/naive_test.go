package drill

import (
	"sync"
	"testing"
	"time"

	"sluice/internal/sim"
)

// TestTheNaiveDesignIsNaive: one line, a limit, and calls for customers who have gone.
func TestTheNaiveDesignIsNaive(t *testing.T) {
	t.Parallel()
	v := started(t, account{name: "a", quota: 1, permits: 1}).named("a")
	if err := v.behave(sim.Behaviour{FirstToken: sim.Fixed(0), Call: sim.Fixed(naiveWait * 4 / 5)}); err != nil {
		t.Fatal(err)
	}
	n, err := startNaive(v)
	if err != nil {
		t.Fatal(err)
	}
	const long = time.Minute
	visits := make([]visit, 4)
	begun := time.Now()
	var coming sync.WaitGroup
	for i, patience := range []time.Duration{long, naiveWait / 10, long, long} {
		coming.Go(func() {
			// Far enough apart to come in this order.
			visits[i] = n.come(t.Context(), customer{at: time.Duration(i) * 20 * time.Millisecond, patience: patience, text: "hello"}, begun)
		})
	}
	coming.Wait()
	n.stop()
	if !visits[0].useful() {
		t.Errorf("the first: %+v, want an answer", visits[0])
	}
	if !visits[1].left || visits[1].useful() {
		t.Errorf("the impatient: %+v, want that it left", visits[1])
	}
	for _, late := range visits[2:] {
		if !late.degraded() || late.told(naiveWait) < 0 {
			t.Errorf("whoever waited in vain: %+v, want the lesser answer at the limit", late)
		}
	}
	spans := n.spans()
	if len(spans) != 2 || spans[0].gone || !spans[1].gone {
		t.Errorf("calls %+v, want one for the first and one for who had gone", spans)
	}
}
