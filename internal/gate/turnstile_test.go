package gate

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
)

// turnstile is one for which tenant t, and every other, has an allowance.
func turnstile(a Allowance) *Turnstile { return NewTurnstile(Intake{Tenant: a}) }

func of(tenant string) chat.Arrival { return chat.Arrival{Tenant: tenant, Lane: chat.Normal} }

// enter lets in as many as go at a moment, up to most.
func enter(t *Turnstile, a chat.Arrival, now time.Time, most int) (in int, turned *TurnedAway) {
	for in < most {
		if _, turned = t.Enter(a, now); turned != nil {
			return in, turned
		}
		in++
	}
	return in, nil
}

// enters requires that so many of a hundred go at a moment.
func enters(t *testing.T, turns *Turnstile, a chat.Arrival, now time.Time, want int) {
	t.Helper()
	if got, _ := enter(turns, a, now, 100); got != want {
		t.Errorf("after %s %d messages of %s go, want %d", now.Sub(begin), got, a.Tenant, want)
	}
}

// turnedFor requires that a message is turned away by a limit, for so long.
func turnedFor(t *testing.T, turns *Turnstile, a chat.Arrival, now time.Time, limit Limit, wait time.Duration) {
	t.Helper()
	if _, turned := turns.Enter(a, now); turned == nil || *turned != (TurnedAway{limit, wait}) {
		t.Errorf("after %s got %+v, want %s for %s", now.Sub(begin), turned, limit, wait)
	}
}

func TestABurstGoesAndThenTheRate(t *testing.T) {
	t.Parallel()
	w := turnstile(Allowance{QPS: 50, Burst: 20})
	enters(t, w, of("t"), begin, 20)
	turnedFor(t, w, of("t"), begin, LimitRate, 20*time.Millisecond)
	turnedFor(t, w, of("t"), at(20*time.Millisecond-1), LimitRate, 1)
	enters(t, w, of("t"), at(20*time.Millisecond), 1)
	enters(t, w, of("u"), at(20*time.Millisecond), 20) // another tenant's is its own
	enters(t, w, of("t"), at(110*time.Millisecond), 4)
	enters(t, w, of("t"), at(time.Hour), 20)
	enters(t, NewTurnstile(Intake{}), of("t"), begin, 100)
}

func TestARateIsNeverRoundedUp(t *testing.T) {
	t.Parallel()
	for _, perSecond := range []int{1, 3, 7, 50, 999, 1_000_000, 700_000_000, 1_000_000_000} {
		if r := newRate(perSecond, 1); r.every*time.Duration(perSecond) < time.Second {
			t.Errorf("%d a second go each %s", perSecond, r.every)
		}
		if r := newRate(perSecond, 1_000_000_000).slowed(1e-9); r.every <= 0 || r.whole() <= 0 {
			t.Errorf("a billionth of %d a second is one each %s", perSecond, r.every)
		}
	}
}

// facts/overload.md row 7: litellm#18730: five calls looked at once, and each saw 0 used.
func TestTwoHundredAtABarrierShareTheBurst(t *testing.T) {
	t.Parallel()
	w := NewTurnstile(Intake{Tenant: Allowance{QPS: 1, Burst: 50, Tokens: 10_000}, UserTokens: 400})
	var (
		mu   sync.Mutex
		in   int
		wait sync.WaitGroup
	)
	barrier := make(chan struct{})
	for n := range 200 {
		wait.Go(func() {
			<-barrier
			mu.Lock()
			defer mu.Unlock()
			a := chat.Arrival{Tenant: "t", Customer: fmt.Sprint(n % 10), Lane: chat.Low, Bytes: 300}
			if _, turned := w.Enter(a, begin); turned == nil {
				in++
			}
		})
	}
	close(barrier)
	wait.Wait()
	if in != 40 { // four of a hundred tokens from each of ten customers
		t.Errorf("%d went in, want 40", in)
	}
}

// facts/overload.md row 8: litellm#29193: an estimate larger than the limit refused the
// first call for ever.
func TestAMessageLargerThanTheMinuteIsTheMinute(t *testing.T) {
	t.Parallel()
	w := NewTurnstile(Intake{Tenant: Allowance{Tokens: 1000}, UserTokens: 500})
	long := chat.Arrival{Tenant: "t", Customer: "c", Lane: chat.Normal, Bytes: 40_000}
	enters(t, w, long, begin, 1)
	short := chat.Arrival{Tenant: "t", Customer: "c", Lane: chat.Normal, Bytes: 1}
	turnedFor(t, w, short, begin, LimitTokens, time.Minute)
	short.Tenant = "u"
	turnedFor(t, w, short, begin, LimitUser, time.Minute)
	enters(t, w, long, at(time.Minute), 1)
	negative := chat.Arrival{Tenant: "t", Customer: "e", Lane: chat.Normal, Bytes: -1 << 62}
	enters(t, w, negative, at(time.Minute), 100)
}

func TestTheLimitThatOpensLastIsTold(t *testing.T) {
	t.Parallel()
	w := NewTurnstile(Intake{Tenant: Allowance{QPS: 1, Burst: 1, Daily: 2}, UserTokens: 10})
	a := chat.Arrival{Tenant: "t", Customer: "c", Lane: chat.Normal, Bytes: 30}
	enters(t, w, a, begin, 1)
	turnedFor(t, w, a, begin, LimitUser, time.Minute)
	a.Customer = "d"
	turnedFor(t, w, a, begin, LimitRate, time.Second)
	enters(t, w, a, at(time.Second), 1)
	turnedFor(t, w, a, at(time.Second), LimitDay, 12*time.Hour-time.Second)
	for limit, code := range map[Limit]string{
		LimitRate: "rate_limited", LimitLane: "rate_limited", LimitCrowd: "rate_limited",
		LimitTokens: "quota_exceeded", LimitUser: "quota_exceeded", LimitDay: "quota_exceeded",
	} {
		if got := limit.Code(); got != code {
			t.Errorf("the code of %s is %s, want %s", limit, got, code)
		}
	}
}

func TestTheDayEndsAtMidnightUTC(t *testing.T) {
	t.Parallel()
	cfg := Intake{Tenants: map[string]Allowance{"t": {Daily: 3}}}
	w := NewTurnstile(cfg)
	enters(t, w, of("t"), begin, 3)
	enters(t, w, of("u"), begin, 100)
	turnedFor(t, w, of("t"), at(12*time.Hour-1), LimitDay, 1)
	midnight := at(12 * time.Hour)
	enters(t, w, of("t"), midnight, 3)

	kept := w.Today(midnight)
	if !maps.Equal(kept.Counts, map[string]int{"t": 3}) {
		t.Errorf("%v is kept of the day, want the three of t", kept.Counts)
	}
	next := NewTurnstile(cfg)
	next.Recall(kept, midnight)
	enters(t, next, of("t"), midnight, 0)
	next = NewTurnstile(cfg)
	next.Recall(Day{Number: kept.Number, Counts: map[string]int{"t": 2, "u": -5}}, midnight)
	enters(t, next, of("t"), midnight, 1)
	next.Recall(kept, midnight.Add(24*time.Hour)) // yesterday's
	enters(t, next, of("t"), midnight.Add(24*time.Hour), 3)
}

func TestALineOfABatchCountsForTheDayAlone(t *testing.T) {
	t.Parallel()
	w := NewTurnstile(Intake{Tenant: Allowance{QPS: 1, Burst: 1, Tokens: 1, Daily: 5}, UserTokens: 1})
	fed := of("t")
	fed.Fed, fed.Bytes = true, 4000
	enters(t, w, of("t"), begin, 1)
	enters(t, w, fed, begin, 4)
	turnedFor(t, w, fed, begin, LimitDay, 12*time.Hour)
	pass, _ := w.Enter(fed, at(12*time.Hour))
	w.Back(pass, at(12*time.Hour))
	enters(t, w, fed, at(12*time.Hour), 5)
}

func TestAFillingLaneTakesNonUrgentWorkSlower(t *testing.T) {
	t.Parallel()
	w := NewTurnstile(Intake{Tenant: Allowance{QPS: 50, Burst: 20}, Tighten: Tighten{At: 0.8, Until: 0.5, Factor: 0.4}})
	low, urgent := chat.Arrival{Tenant: "t", Lane: chat.Low}, chat.Arrival{Tenant: "t", Lane: chat.Low, Urgent: true}
	second := func(from time.Duration, a chat.Arrival) (in int) {
		for d := range 1000 {
			n, _ := enter(w, a, at(from+time.Duration(d)*time.Millisecond), 100)
			in += n
		}
		return in
	}
	w.SetDepth(chat.Low, 79, 100, begin)
	if got := second(0, low); got != 20+49 {
		t.Errorf("%d go in the first second, want the burst and 49", got)
	}
	w.SetDepth(chat.Low, 80, 100, at(time.Second))
	if got := second(time.Second, low); got != 20 {
		t.Errorf("%d go in a second while the lane fills, want 20 of 50", got)
	}
	turnedFor(t, w, low, at(1999*time.Millisecond), LimitLane, time.Millisecond)
	if got := second(2*time.Second, urgent); got != 20+49 {
		t.Errorf("%d urgent ones go in a second, want the burst and 49", got)
	}
	w.SetDepth(chat.Low, 51, 100, at(9*time.Second))
	if got := second(10*time.Second, low); got != 8+19 {
		t.Errorf("%d go in a second at half depth, want 0.4 of burst and rate", got)
	}
	enters(t, w, of("t"), at(11*time.Second), 20) // another lane
	w.SetDepth(chat.Low, 50, 100, at(20*time.Second))
	if got := second(20*time.Second, low); got != 20+49 {
		t.Errorf("%d go in a second once the lane has emptied, want the burst and 49", got)
	}
	w.SetDepth(chat.Low, 79, 100, at(30*time.Second))
	if got := second(30*time.Second, low); got != 20+49 {
		t.Errorf("%d go below the mark, want the burst and 49", got)
	}
}

func TestWhenALaneIsTight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tighten Tighten
		bound   int
		depths  []int
		want    string // t: tight, -: not
	}{
		{Tighten{0.8, 0.5, 0.4}, 500, []int{0, 399, 400, 300, 251, 250, 399, 400, 501, 0}, "--ttt--tt-"},
		{Tighten{0.29, 0.07, 0.4}, 100, []int{28, 29, 8, 7}, "-tt-"}, // no exact numbers in binary
		{Tighten{1, 1, 1}, 10, []int{9, 10, 11, 10, 9}, "-ttt-"},
		{Tighten{0.8, 0.5, 0.4}, 1, []int{0, 1, 0}, "-t-"},
		{Tighten{}, 10, []int{0, 10, 11}, "---"},
		{Tighten{0.8, 0.5, 0.4}, 0, []int{0, 10}, "--"},
	} {
		w, got := NewTurnstile(Intake{Tighten: c.tighten}), ""
		for _, depth := range c.depths {
			w.SetDepth(chat.Low, depth, c.bound, begin)
			got += map[bool]string{true: "t", false: "-"}[w.lanes[chat.Low].tight]
		}
		if got != c.want {
			t.Errorf("%+v of %d at %v: %s, want %s", c.tighten, c.bound, c.depths, got, c.want)
		}
	}
}

func TestAPassIsGivenBack(t *testing.T) {
	t.Parallel()
	w := NewTurnstile(Intake{Tenant: Allowance{QPS: 1, Burst: 2, Tokens: 100, Daily: 3}, UserTokens: 100})
	a := chat.Arrival{Tenant: "t", Customer: "c", Lane: chat.Normal, Bytes: 150}
	one, _ := w.Enter(a, begin)
	w.Enter(a, begin)
	turnedFor(t, w, a, begin, LimitTokens, time.Minute)
	w.Back(one, begin)
	enters(t, w, a, begin, 1)
	if got := w.Today(begin).Counts["t"]; got != 2 {
		t.Errorf("%d count for the day, want 2", got)
	}
	// Later it is worth what the time since has not brought by itself.
	w = turnstile(Allowance{QPS: 1, Burst: 2})
	late, _ := w.Enter(of("t"), begin)
	w.Enter(of("t"), begin)
	w.Back(late, at(400*time.Millisecond))
	turnedFor(t, w, of("t"), at(400*time.Millisecond-1), LimitRate, 1)
	enters(t, w, of("t"), at(400*time.Millisecond), 1)
	w.Back(late, at(5*time.Second)) // worth nothing by now
	enters(t, w, of("t"), at(5*time.Second), 2)
	w.Back(Pass{Arrival: of("nobody"), At: at(5 * time.Second)}, at(5*time.Second))
}

func TestWhatSomebodyElseLetInIsTakenFromTheBurst(t *testing.T) {
	t.Parallel()
	w := turnstile(Allowance{QPS: 10, Burst: 5})
	p, _ := w.Enter(of("t"), begin)
	w.Empty(at(time.Second), at(time.Second))
	enters(t, w, of("t"), at(time.Second), 0)
	w.Back(p, at(time.Second)) // of a time that is not counted any more
	enters(t, w, of("t"), at(time.Second), 0)
	enters(t, w, of("u"), at(time.Second+199*time.Millisecond), 1)
	enters(t, w, of("t"), at(2*time.Second), 5)
	w.Empty(at(time.Second), at(2*time.Second)) // further back than what is known
	enters(t, w, of("t"), at(2*time.Second), 0)
	enters(t, w, of("v"), at(2*time.Second), 5)
}

func TestNewLimitsKeepWhatWasTaken(t *testing.T) {
	t.Parallel()
	w := NewTurnstile(Intake{Tenant: Allowance{QPS: 50, Burst: 200, Tokens: 1000}, UserTokens: 1000})
	a := chat.Arrival{Tenant: "t", Customer: "c", Lane: chat.Normal, Bytes: 9}
	enter(w, a, begin, 50)
	w.SetConfig(Intake{Tenant: Allowance{QPS: 1, Burst: 60, Tokens: 1000}, UserTokens: 1000}, begin)
	enters(t, w, a, begin, 10) // fifty of sixty are gone
	w.SetConfig(Intake{Tenant: Allowance{QPS: 2, Burst: 3, Tokens: 1000}, UserTokens: 1000}, begin)
	turnedFor(t, w, a, begin, LimitRate, 500*time.Millisecond)
	enters(t, w, a, at(time.Minute), 3)
	w.SetConfig(Intake{UserTokens: 12}, at(time.Minute)) // nine of its tokens count
	enters(t, w, a, at(time.Minute), 1)
	w.SetConfig(Intake{}, at(time.Minute))
	enters(t, w, a, at(time.Minute), 100)
	w.SetConfig(Intake{Tenants: map[string]Allowance{"t": {QPS: 1, Burst: 2}}}, at(time.Minute))
	enters(t, w, a, at(time.Minute), 2)
}

func TestWhoeverCouldStartAnewIsForgotten(t *testing.T) {
	t.Parallel()
	w := NewTurnstile(Intake{
		Tenant: Allowance{QPS: 1, Burst: 120}, UserTokens: 100, Tighten: Tighten{At: 0.5, Until: 0.5, Factor: 0.1},
	})
	w.SetDepth(chat.Low, 10, 10, begin)
	for n := range 1000 {
		a := chat.Arrival{Tenant: fmt.Sprint("t", n%100), Customer: fmt.Sprint(n), Lane: chat.Normal, Bytes: 3}
		if _, turned := w.Enter(a, begin); turned != nil {
			t.Fatal(turned)
		}
	}
	w.Enter(chat.Arrival{Tenant: "tight", Lane: chat.Low}, begin)
	if len(w.tenants) != 101 || len(w.users) != 1000 {
		t.Errorf("%d tenants and %d customers are known, want 101 and 1000", len(w.tenants), len(w.users))
	}
	for d := time.Second; d <= 3*time.Minute; d += time.Second {
		w.Enter(of("other"), at(d))
	}
	if len(w.tenants) != 1 || len(w.users) != 0 {
		t.Errorf("%d tenants and %d customers are known three minutes later, want the one that goes on", len(w.tenants), len(w.users))
	}
	enters(t, w, of("t1"), at(3*time.Minute), 100)
}

// facts/overload.md row 33: litellm#38193: what was kept for each request was never freed.
func TestWhatIsKeptIsBounded(t *testing.T) {
	t.Parallel()
	w := NewTurnstile(Intake{Tenant: Allowance{QPS: 1, Burst: 1}, UserTokens: 1})
	for n := range maxUsers + 10_000 {
		a := chat.Arrival{Tenant: fmt.Sprint(n % 25_000), Customer: fmt.Sprint(n), Lane: chat.Normal}
		w.Enter(a, begin)
	}
	for n := range 5 * maxTenants {
		w.Enter(chat.Arrival{Tenant: fmt.Sprint(n % maxTenants), Customer: fmt.Sprint(n), Lane: chat.Normal, Bytes: 3}, at(time.Duration(n)*time.Microsecond))
	}
	if len(w.tenants) != maxTenants || len(w.users) > maxUsers {
		t.Fatalf("%d tenants and %d customers are known, want %d and at most %d", len(w.tenants), len(w.users), maxTenants, maxUsers)
	}
	turnedFor(t, w, of("one more"), at(500*time.Millisecond), LimitCrowd, crowdWait)
	enters(t, w, of("one more"), at(2*time.Second), 1) // the others' buckets are full again
}

func TestACustomerWithoutAPlaceIsNotLimited(t *testing.T) {
	t.Parallel()
	w := NewTurnstile(Intake{UserTokens: 1})
	for n := range maxUsers {
		w.Enter(chat.Arrival{Tenant: "t", Customer: fmt.Sprint(n), Lane: chat.Normal, Bytes: 3}, begin)
	}
	a := chat.Arrival{Tenant: "t", Customer: "one more", Lane: chat.Normal, Bytes: 3}
	enters(t, w, a, begin, 100)
	enters(t, w, a, at(time.Minute+2*userPart), 1)
	if len(w.users) != 1 {
		t.Errorf("%d customers are known a minute later, want 1", len(w.users))
	}
}

func TestSharesOfAllNodesAreTheWhole(t *testing.T) {
	t.Parallel()
	cfg := Intake{
		Tenant: Allowance{QPS: 50, Burst: 200}, UserTokens: 100_000,
		Tenants: map[string]Allowance{"t": {QPS: 2, Burst: 1, Tokens: 7, Daily: 1000}}, Tighten: Tighten{0.8, 0.5, 0.4},
	}
	got := cfg.Share(3)
	want := Intake{Tenant: Allowance{QPS: 16, Burst: 66}, UserTokens: 33_333, Tenants: map[string]Allowance{"t": {1, 1, 2, 333}}}
	if got.Tenant != want.Tenant || got.UserTokens != want.UserTokens || got.Tighten != want.Tighten || !maps.Equal(got.Tenants, want.Tenants) {
		t.Errorf("a third is %+v, want %+v", got, want)
	}
	if one := cfg.Share(0); one.Tenant != cfg.Tenant {
		t.Errorf("alone it is %+v, want all", one)
	}
}

func TestIntakeNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]Intake{
		"Tenant ":    {Tenant: Allowance{QPS: -1}},
		"Tenants[x]": {Tenants: map[string]Allowance{"x": {Daily: -1}}},
		"UserTokens": {UserTokens: -1},
		"Tighten":    {Tighten: Tighten{At: 0.5, Until: 0.6, Factor: 1}},
		"Factor":     {Tighten: Tighten{At: 0.5, Until: 0.5}},
	} {
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", cfg, err, want)
		}
	}
	if err := (Intake{}).Validate(); err != nil {
		t.Error(err)
	}
}

// BenchmarkEnter lets messages of 10,000 customers of 100 tenants in.
func BenchmarkEnter(b *testing.B) {
	w, arrivals := NewTurnstile(Intake{Tenant: Allowance{QPS: 1_000_000, Burst: 1_000_000}, UserTokens: 1_000_000}), make([]chat.Arrival, 10_000)
	for n := range arrivals {
		arrivals[n] = chat.Arrival{Tenant: fmt.Sprint("t", n%100), Customer: fmt.Sprint(n), Lane: chat.Normal, Bytes: 90}
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		w.Enter(arrivals[n%len(arrivals)], begin.Add(time.Duration(n)*time.Millisecond))
	}
}
