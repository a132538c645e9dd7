package drill

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/load"
	"sluice/internal/sim"
)

// bench is a drill without an instance, whose vendors have only their logs.
func bench(t *testing.T) *drill {
	t.Helper()
	d := &drill{out: &Report{}, begunAt: noon, vendors: &vendors{}}
	for _, a := range accounts() {
		v, err := sim.NewVendor(sim.Config{Name: a.name, Quota: a.quota})
		if err != nil {
			t.Fatal(err)
		}
		d.vendors.all = append(d.vendors.all, &vendor{account: a, sim: v, log: &callLog{}})
	}
	return d
}

// failing returns the names of the checks that do not hold.
func (d *drill) failing() (names []string) {
	for _, c := range d.out.Checks {
		if !c.OK {
			names = append(names, c.Name)
		}
	}
	return names
}

// wantFailing asserts which checks do not hold, each by a part of its name.
func wantFailing(t *testing.T, d *drill, parts ...string) {
	t.Helper()
	got := d.failing()
	ok := len(got) == len(parts)
	for i := range min(len(got), len(parts)) {
		ok = ok && strings.Contains(got[i], parts[i])
	}
	if !ok {
		t.Errorf("failing checks %q, want %q", got, parts)
	}
}

func outcome(at, total int, vendor string) load.Outcome {
	o := load.Outcome{
		Ticket: "t", Lane: chat.Normal, Status: chat.Answered, Route: chat.RouteTemplate, AcceptedAt: after(at),
		EndedAt: after(at + total), Total: time.Duration(total) * time.Millisecond, Vendor: vendor,
	}
	if vendor != "" {
		o.Route = chat.RouteAgent
	}
	return o
}

func TestPromisesAreJudged(t *testing.T) {
	t.Parallel()
	good := func() played {
		return played{report: &load.Report{Accepted: 3}, all: []load.Outcome{outcome(0, 1500, ""), outcome(0, 2500, "a"), {}}}
	}
	for name, c := range map[string]struct {
		change  func(*played)
		promise promise
		failing []string
	}{
		"all kept":       {change: func(*played) {}},
		"nothing came":   {change: func(p *played) { p.report.Accepted = 0 }, failing: []string{"accepted"}},
		"lost":           {change: func(p *played) { p.report.Lost = 1 }, failing: []string{"lost"}},
		"ended twice":    {change: func(p *played) { p.report.Duplicates = 1 }, failing: []string{"second end"}},
		"end not told":   {change: func(p *played) { p.report.Untold = 1 }, failing: []string{"not told"}},
		"nobody there":   {change: func(p *played) { p.report.Refused = map[string]int{"no_answer": 1} }, failing: []string{"nobody answered"}},
		"template late":  {change: func(p *played) { p.all[0] = outcome(0, 1501, "") }, failing: []string{"without a vendor"}},
		"answer late":    {change: func(p *played) { p.all[1] = outcome(0, 2501, "a") }, failing: []string{"by a vendor"}},
		"batch may wait": {change: func(p *played) { p.all[1] = outcome(0, 9000, "a"); p.all[1].Lane = chat.Batch }},
		"exempt":         {change: func(p *played) { p.all[0] = outcome(0, 9000, "") }, promise: promise{exempt: func(o load.Outcome) bool { return o.Total > 8*time.Second }}},
		"more time": {change: func(p *played) { p.all[0] = outcome(0, 3500, "") }, promise: promise{
			late: func(load.Outcome) time.Duration { return 2 * time.Second },
		}},
	} {
		d, p := bench(t), good()
		c.change(&p)
		d.keeps(c.promise, p)
		wantFailing(t, d, c.failing...)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// outageOf is an outage from 3 s to 7.5 s of a load of 17.5 s.
func outageOf(d *drill, calls ...call) *outage {
	o := &outage{vendor: d.vendors.all[0], from: after(3000), to: after(7500), end: after(17_500), calls: calls}
	slices.SortFunc(o.calls, func(a, b call) int { return a.at.Compare(b.at) })
	return o
}

// every makes calls from one time to another, each taking so long.
func every(from, to, pause, took, status int) (all []call) {
	for at := from; at < to; at += pause {
		all = append(all, call{at: after(at), end: after(at + took), status: status})
	}
	return all
}

func TestABreakerIsSeenByItsSilence(t *testing.T) {
	t.Parallel()
	before := every(0, 3000, 70, 400, 200)
	failed := every(3000, 3900, 70, 20, 0)
	probe := every(5500, 5501, 10, 20, 0)
	probesGood := every(8500, 8530, 10, 400, 200)
	ramp := every(8950, 9900, 450, 400, 200)
	full := every(9900, 17_500, 70, 400, 200)
	others := played{all: []load.Outcome{outcome(5000, 400, "b"), outcome(6000, 400, "c"), outcome(3500, 20, "")}}
	for name, c := range map[string]struct {
		calls   [][]call
		played  played
		failing []string
	}{
		"as it should be":     {calls: [][]call{before, failed, probe, probesGood, ramp, full}, played: others},
		"never open":          {calls: [][]call{before, every(3000, 7500, 70, 20, 0), full}, played: others, failing: []string{"until its breaker opens"}},
		"too many at first":   {calls: [][]call{before, every(3000, 3900, 10, 20, 0), probe, probesGood, ramp, full}, played: others, failing: []string{"until its breaker opens"}},
		"not only probes":     {calls: [][]call{before, failed, every(5500, 6400, 70, 20, 0), probesGood, ramp, full}, played: others, failing: []string{"probes only"}},
		"nobody else answers": {calls: [][]call{before, failed, probe, probesGood, ramp, full}, played: played{all: []load.Outcome{outcome(5000, 400, "")}}, failing: []string{"by the other vendors"}},
		"never well again":    {calls: [][]call{before, failed, probe}, played: others, failing: []string{"well again"}},
		"all at once again": {
			calls: [][]call{before, failed, probe, probesGood, every(8950, 9900, 50, 400, 200), full}, played: others, failing: []string{"ramp's first step"},
		},
		"little used at the end": {
			calls: [][]call{before, failed, probe, probesGood, ramp, every(9900, 17_500, 400, 400, 200)}, played: others, failing: []string{"in the last 2 s"},
		},
	} {
		d := bench(t)
		o := outageOf(d, slices.Concat(c.calls...)...)
		o.played = c.played
		d.opens(o)
		wantFailing(t, d, c.failing...)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestAPauseLastsUntilTheLatestRetryAfter(t *testing.T) {
	t.Parallel()
	const refusal = http.StatusTooManyRequests
	before := every(0, 3000, 70, 400, 200)
	first := every(3000, 3030, 10, 20, refusal) // the latest ends at 3.04 s: nobody until 6.04 s
	again := every(6050, 6060, 10, 20, refusal) // and then until 9.07 s
	lowered := every(9080, 17_500, 105, 400, 200)
	for name, c := range map[string]struct {
		calls   [][]call
		failing []string
	}{
		"as it should be":      {calls: [][]call{before, first, again, lowered}},
		"nothing was refused":  {calls: [][]call{before}, failing: []string{"refused with 429"}},
		"on its way":           {calls: [][]call{before, first, every(3200, 3201, 10, 400, 200), again, lowered}},
		"one too early":        {calls: [][]call{before, first, every(6000, 6001, 10, 400, 200), again, lowered}, failing: []string{"before the latest"}},
		"by the first refusal": {calls: [][]call{before, first, every(6025, 6026, 10, 400, 200), again, lowered}, failing: []string{"before the latest"}},
		"limit not lowered":    {calls: [][]call{before, first, again, every(9080, 17_500, 70, 400, 200)}, failing: []string{"lowered limit"}},
		"a breaker's ramp": {
			calls: [][]call{before, first, again, every(9080, 10_200, 200, 400, 200), every(10_200, 17_500, 105, 400, 200)}, failing: []string{"more than probes"},
		},
	} {
		d := bench(t)
		d.pauses(outageOf(d, slices.Concat(c.calls...)...))
		wantFailing(t, d, c.failing...)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestUseOfThePermitsIsCountedFromWhenAllAreTaken(t *testing.T) {
	t.Parallel()
	d := bench(t)
	for i, v := range d.vendors.all {
		for n := range v.permits {
			c := ran(100+i*100, 1300)
			if n == 0 {
				c.end = after(800) // one permit of each stands idle for half the time
			}
			v.log.calls = append(v.log.calls, &c)
		}
	}
	used, over := d.used(noon, after(1300))
	// All but two are taken at 300 ms: nine tenths.
	if over != time.Second || used < 0.915 || used > 0.918 {
		t.Errorf("%v used over %s, want 1 - 3×0.5/18 over 1s", used, over)
	}
	if used, over := bench(t).used(noon, after(100)); used != 0 || over != 0 {
		t.Errorf("%v used over %s of nothing", used, over)
	}
}

func TestTheLongestTimeWithoutAMessageIsFound(t *testing.T) {
	t.Parallel()
	all := []load.Outcome{outcome(0, 1, ""), outcome(300, 1, ""), {}, outcome(200, 1, ""), outcome(1200, 1, "")}
	if got := longestGap(all); got != 900*time.Millisecond {
		t.Errorf("longest gap %s, want 900ms", got)
	}
	if longestGap(nil) != 0 {
		t.Error("a gap in nothing")
	}
}

func TestACooldownDoublesWithEachFailedProbe(t *testing.T) {
	t.Parallel()
	for failing, want := range map[time.Duration]time.Duration{
		time.Second: 1800 * time.Millisecond, 2 * time.Second: 3600 * time.Millisecond,
		4500 * time.Millisecond: 3600 * time.Millisecond, 5 * time.Second: 7200 * time.Millisecond, 12 * time.Second: 14_400 * time.Millisecond,
	} {
		if got := longestCooldown(failing); got != want {
			t.Errorf("after %s: %s, want %s", failing, got, want)
		}
	}
}

func TestOnlyMessagesThatMetADeadNodeGetMoreTime(t *testing.T) {
	t.Parallel()
	late := redelivered([]time.Time{after(4000)})
	for name, c := range map[string]struct {
		o    load.Outcome
		want time.Duration
	}{
		"ended before":     {outcome(3000, 500, "a"), 0},
		"on its way":       {outcome(3800, 500, "a"), jobsBack},
		"without a leader": {outcome(9000, 500, "a"), jobsBack},
		"long afterwards":  {outcome(14_001, 500, "a"), 0},
	} {
		if got := late(c.o); got != c.want {
			t.Errorf("%s: %s more, want %s", name, got, c.want)
		}
	}
}
