package drill

import (
	"math"
	"reflect"
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestTheSameSeedBringsTheSameCustomers(t *testing.T) {
	t.Parallel()
	const rate, over = 50.0, 100 * time.Second
	all := customers(7, rate, over)
	if !reflect.DeepEqual(all, customers(7, rate, over)) || reflect.DeepEqual(all[:10], customers(8, rate, over)[:10]) {
		t.Error("the seed does not decide")
	}
	high, texts := 0, map[string]bool{}
	var patience time.Duration
	for i, c := range all {
		if c.at >= over || i > 0 && c.at < all[i-1].at || c.patience < leastPatience {
			t.Fatalf("customer %d: %+v", i, c)
		}
		if c.high {
			high++
		}
		patience += c.patience
		texts[c.text] = true
	}
	n := float64(len(all))
	if math.Abs(n-5000) > 350 || math.Abs(float64(high)/n-highShare) > 0.03 || len(texts) != len(all) {
		t.Errorf("%v customers, %d in high, %d texts", n, high, len(texts))
	}
	if mean := patience / time.Duration(len(all)); mean < 550*time.Millisecond || mean > 650*time.Millisecond {
		t.Errorf("patience is %s on average, want 600ms", mean)
	}
}

func TestVisitsAreCountedByWhatTheCustomerSaw(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		visit            visit
		useful, degraded bool
		told             time.Duration
	}{
		"a vendor's answer":     {visit: visit{first: 50, ended: 400, vendor: true}, useful: true},
		"gone before":           {visit: visit{left: true}},
		"gone, then answered":   {visit: visit{left: true, ended: 400, vendor: true}},
		"refused at once":       {visit{ended: 9 * time.Millisecond, reason: chat.ReasonPredictedWait}, false, true, 9 * time.Millisecond},
		"waited in vain":        {visit{acked: 5 * time.Millisecond, ended: 1015 * time.Millisecond, reason: chat.ReasonOverdue}, false, true, 10 * time.Millisecond},
		"an answer that failed": {visit{ended: 600 * time.Millisecond, reason: chat.ReasonVendorUnavailable}, false, true, 600 * time.Millisecond},
		"refused as a message":  {visit: visit{code: "queue_full"}},
	} {
		v := c.visit
		if v.useful() != c.useful || v.degraded() != c.degraded {
			t.Errorf("%s: useful %t, degraded %t", name, v.useful(), v.degraded())
		}
		if got := v.told(time.Second); v.degraded() && got != c.told {
			t.Errorf("%s: told after %s, want %s", name, got, c.told)
		}
	}
}

func TestGoodputIsTheVendorsTimeInUsefulAnswers(t *testing.T) {
	t.Parallel()
	v := &vendor{account: account{permits: 2}, log: &callLog{}}
	// One permit is always busy, with calls of 500 ms; the window cuts two of them in half.
	for at := -500; at < 10_500; at += 500 {
		c := ran(at, at+500)
		v.log.calls = append(v.log.calls, &c)
	}
	v.log.calls = append(v.log.calls, &call{at: after(3000), end: after(3030), status: 200, left: true})
	w := measured{begun: noon, from: after(2250), to: after(9750), over: after(10_000)}
	useful := func() visit {
		return visit{first: 20 * time.Millisecond, ended: 500 * time.Millisecond, vendor: true}
	}
	all := []visit{
		{left: true}, {code: "queue_full"}, {fault: errCut},
		{customer: customer{high: true}, ended: 7 * time.Millisecond, reason: chat.ReasonPredictedWait},
	}
	for range 15 { // of 20 calls that came in the load
		all = append(all, useful())
	}
	all[4].high = true
	g := measure(all, v, w, time.Second)
	want := GoodputResult{
		Useful: 15, High: 2, HighUseful: 1, Degraded: 1, Left: 1, Refused: 1, Faults: 1, MeanMS: 500, Capacity: 30,
		Answers: 0.75 * 15, Percent: 100 * 0.75 / 2, FirstP50MS: 20, FirstP95MS: 20, ToldP95MS: 7, MaxInFlight: 2, fault: errCut,
	}
	if !reflect.DeepEqual(g, want) {
		t.Errorf("measured %+v\nwant %+v", g, want)
	}
	if got, want := gonePercent(spansOf(v.log.all()), w), 100*0.03/7.53; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v%% of the vendor's time for who had left, want %v%%", got, want)
	}
	if gonePercent(nil, w) != 0 || measure(nil, &vendor{log: &callLog{}}, w, time.Second).Percent != 0 {
		t.Error("something is measured of nothing")
	}
}
