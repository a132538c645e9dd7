package load

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"sluice/internal/sim"
)

// withVendor gives a desk a simulated vendor of a quota of 6 whose calls take 200 ms, and
// lets at most permits of them be in flight.
func withVendor(t *testing.T, permits int) (*desk, Target) {
	t.Helper()
	s, err := sim.Listen(t.Context(), "127.0.0.1:0", []sim.Config{{
		Name: "a", Quota: 6,
		Behaviour: sim.Behaviour{FirstToken: sim.Fixed(0), Call: sim.Fixed(200 * time.Millisecond)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	d := newDesk(t, faults{})
	d.takes = 700 * time.Millisecond
	free := make(chan struct{}, permits)
	d.work = func(int) {
		free <- struct{}{}
		defer func() { <-free }()
		body := strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`)
		res, err := (&http.Client{Transport: transport}).Post(s.URL("a")+"/chat/completions", "application/json", body)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	to := d.target()
	to.Control, to.Limits = s.ControlURL(), map[string]int{"a": 4}
	return d, to
}

func TestBurstMeasuresTheVendors(t *testing.T) {
	t.Parallel()
	_, to := withVendor(t, 4)
	r := burst(t, to, BurstConfig{Tickets: 24, Over: 900 * time.Millisecond})
	if !r.OK() {
		t.Fatalf("verdict %+v", r.Verdict)
	}
	v := r.Vendors[0]
	if !v.Measured || v.Limit != 4 || v.Quota != 6 || v.MaxInFlight > 4 || v.MaxInFlight < 2 || v.Calls == 0 || v.Refused != 0 {
		t.Errorf("vendor %+v", v)
	}
	if c := r.Capacity; !c.Measured || c.Limit != 4 || c.Use.Share <= 0.2 || c.Use.Share > 1 || c.Use.Capacity < c.Use.Completed {
		t.Errorf("capacity %+v", c)
	}
	if len(r.Series) == 0 || r.Series[0].InFlight["a"] == 0 {
		t.Errorf("series %+v", r.Series)
	}
}

func TestBurstFindsAVendorBeyondItsLimit(t *testing.T) {
	t.Parallel()
	_, to := withVendor(t, 30)
	r := burst(t, to, BurstConfig{Tickets: 24})
	wantFault(t, r, "above its 4 permits")
	wantFault(t, r, "refused with 429")
}

func TestCancelledCallsAreJudgedByTheQuota(t *testing.T) {
	t.Parallel()
	line := func(most, cancelled int) *Report {
		return &Report{Accepted: 1, Vendors: []VendorLine{{
			Name: "a", Measured: true, Limit: 4, Quota: 6, MaxInFlight: most, Cancelled: cancelled,
		}}}
	}
	for _, c := range []struct {
		most, cancelled int
		ok              bool
	}{{4, 0, true}, {5, 0, false}, {5, 1, true}, {6, 1, true}, {7, 1, false}} {
		if got := line(c.most, c.cancelled).OK(); got != c.ok {
			t.Errorf("%d in flight, %d cancelled: OK %t", c.most, c.cancelled, got)
		}
	}
}

func TestUseOfASteadyVendorIsExact(t *testing.T) {
	t.Parallel()
	begin := time.Unix(0, 0)
	w := &watch{}
	for i := range 9 { // 8 s with 3 calls in flight, 6 a second completed
		w.samples = append(w.samples, sample{begin.Add(time.Duration(i) * time.Second), map[string]sim.Stats{"a": {InFlight: 3, Completed: 6 * i}}})
	}
	mean, completed := w.use("a", begin.Add(1500*time.Millisecond), begin.Add(4*time.Second))
	if mean != 3 || completed != 15 {
		t.Errorf("mean %g, completed %g, want 3 and 15", mean, completed)
	}
	if u := useOf(mean, completed, 4, 2500*time.Millisecond); u.Share != 0.75 || u.Capacity != 20 {
		t.Errorf("use %+v, want a share of 0.75 and a capacity of 20", u)
	}
}
