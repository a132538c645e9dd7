package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/rules"
)

// Published values of Erlang's C: of two permits half used a third waits; 10 permits with
// 8 offered: 0.4092; 100 with 90: 0.2169 (rounded in the usual tables).
func TestErlangsC(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		permits int
		offered float64
		want    float64
	}{{1, 0.5, 0.5}, {2, 1, 1.0 / 3}, {10, 8, 0.4092}, {100, 90, 0.2169}} {
		got := line{permits: c.permits, rate: c.offered, call: time.Second}.waits()
		if math.Abs(got-c.want) > 0.0005 {
			t.Errorf("%d permits, %g offered: %.4f, want %.4f", c.permits, c.offered, got, c.want)
		}
	}
}

// A line played call by call waits as long as is computed.
func TestWaitsAreThoseOfALineThatIsPlayed(t *testing.T) {
	t.Parallel()
	l := line{permits: 6, rate: 5, call: time.Second}
	rng := rand.New(rand.NewPCG(1, 2))
	free := make([]float64, l.permits) // when each permit is free again
	var waits []float64
	now := 0.0
	for range 300_000 {
		now += rng.ExpFloat64() / l.rate
		slices.Sort(free)
		begin := max(now, free[0])
		free[0] = begin + rng.ExpFloat64()*l.call.Seconds()
		waits = append(waits, begin-now)
	}
	slices.Sort(waits)
	for _, share := range []float64{0.5, 0.95, 0.99} {
		played, computed := waits[int(share*float64(len(waits)))], l.quantile(share).Seconds()
		if math.Abs(played-computed) > 0.05+0.08*computed {
			t.Errorf("quantile %g: played %.3f s, computed %.3f s", share, played, computed)
		}
	}
}

func shipped(t *testing.T, change ...string) *rules.Rules {
	t.Helper()
	doc := string(rules.Default())
	for i := 0; i+1 < len(change); i += 2 {
		if !strings.Contains(doc, change[i]) {
			t.Fatalf("the shipped rules have no %q", change[i])
		}
		doc = strings.Replace(doc, change[i], change[i+1], 1)
	}
	r, err := rules.Parse("rules.yaml", []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheContractsOwnVendorsAreCounted(t *testing.T) {
	t.Parallel()
	p, err := New(shipped(t), Load{Rate: 5, Call: 4 * time.Second, P99: 9 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	permits := 0
	for _, v := range p.Vendors {
		permits += v.Permits
	}
	if want := float64(permits) / 4; math.Abs(p.Capacity-want) > 0.001 {
		t.Errorf("capacity %.3f, want %.3f", p.Capacity, want)
	}
	if p.Busy <= 0 || p.Busy >= 1 || p.P95MS < 0 || p.Best <= 5 {
		t.Errorf("busy %.2f, p95 %d ms, best %.1f", p.Busy, p.P95MS, p.Best)
	}
	again, err := New(shipped(t), Load{Rate: p.Best * 0.999, Call: 4 * time.Second, P99: 9 * time.Second})
	if err != nil || again.P95MS < 4000 || again.P95MS > 5000 {
		t.Errorf("at the advised rate p95 is %d ms, want just under half of 10 s", again.P95MS)
	}
}

func TestWhatDoesNotFitIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		load   Load
		change []string
		want   string
	}{
		"overload":      {load: Load{Rate: 100, Call: 4 * time.Second}, want: "above the capacity"},
		"no room":       {load: Load{Rate: 21.7, Call: 4 * time.Second}, want: "no room for a burst"},
		"first token":   {load: Load{Rate: 1, Call: 4 * time.Second, P99: 40 * time.Second, FirstToken: 30 * time.Second}, want: "timeouts.first_token"},
		"small bound":   {load: Load{Rate: 1, Call: 100 * time.Millisecond}, want: "full before vendors are at their end"},
		"many sockets":  {load: Load{Rate: 1, Call: time.Second, Sockets: 50_000}, want: "50000 need 3 api processes"},
		"greedy tenant": {load: Load{Rate: 1, Call: 20 * time.Second}, want: "intake.tenant.qps"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := New(shipped(t, c.change...), c.load)
			if err != nil {
				t.Fatal(err)
			}
			var table strings.Builder
			if err := p.Table(&table); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(table.String(), c.want) {
				t.Errorf("no word of %q in:\n%s", c.want, table.String())
			}
		})
	}
}

func TestTokensAndCallsASecondLimitAVendor(t *testing.T) {
	t.Parallel()
	l := Load{Rate: 1, Call: 2 * time.Second, Tokens: 1000}.filled()
	v := rules.Vendor{Name: "v", Quota: 100, Headroom: 1}
	for _, c := range []struct {
		qps, tokens int
		calls       float64
		by          string
		used        int
	}{{0, 0, 50, "permits", 100}, {20, 0, 20, "qps", 40}, {20, 600_000, 10, "tokens", 20}, {60, 6_000_000, 50, "permits", 100}} {
		v.QPS, v.TokensPerMinute = c.qps, c.tokens
		got := account(v, l)
		if got.Calls != c.calls || got.By != c.by || got.Used != c.used {
			t.Errorf("qps %d, tokens %d: %+v, want %g by %s, %d used", c.qps, c.tokens, got, c.calls, c.by, c.used)
		}
	}
}

func TestWrongLoadsAreNamed(t *testing.T) {
	t.Parallel()
	for want, l := range map[string]Load{
		"rate NaN":        {Rate: math.NaN(), Call: time.Second},
		"calls NaN":       {Rate: 1, Call: time.Second, Calls: math.NaN()},
		"call 1ns":        {Rate: 1, Call: 1},
		"first token 20s": {Rate: 1, Call: 4 * time.Second, FirstToken: 20 * time.Second},
		"rate 0":          {Call: time.Second},
		"call 0s":         {Rate: 1},
		"p99 1s":          {Rate: 1, Call: 2 * time.Second, P99: time.Second},
		"calls 0.5":       {Rate: 1, Call: time.Second, Calls: 0.5},
		"negative":        {Rate: 1, Call: time.Second, Sockets: -1},
	} {
		if _, err := New(shipped(t), l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want a word of %q", err, want)
		}
	}
}
