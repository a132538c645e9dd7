package valve

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const hold = 2 * time.Minute

// usual are the conditions of the shipped rules.
func usual() Config {
	return Config{
		Levels: [Top]Threshold{
			{Depth: 0.5, Errors: 0.05, P99: 8 * time.Second, Wait: 3 * time.Second},
			{Depth: 0.8, Errors: 0.10, P99: 10 * time.Second, Wait: 6 * time.Second},
			{Depth: 0.9, Errors: 0.20, P99: 15 * time.Second, Wait: 9 * time.Second},
		},
		Window: 5 * time.Minute, MinCalls: 20, Hold: hold,
	}
}

// want looks at the levels of high, normal and low.
func want(t *testing.T, v *Valve, now time.Time, what string, high, normal, low int) {
	t.Helper()
	v.Look(now)
	if got := v.Levels(); got[chat.High] != high || got[chat.Normal] != normal || got[chat.Low] != low {
		t.Errorf("%s: levels %v, want %d %d %d (%v)", what, got, high, normal, low, v.Changes())
	}
}

func TestATicketFeelsItsLaneAndThoseAbove(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lane              chat.Lane
		full              float64
		high, normal, low int
	}{
		{chat.Low, 1, 0, 0, 3}, {chat.Normal, 0.8, 0, 2, 2}, {chat.High, 0.5, 1, 1, 1},
		{chat.Batch, 1, 0, 0, 0}, {chat.Deferred, 1, 0, 0, 0}, {chat.High, 0.499, 0, 0, 0},
	} {
		v := New(usual())
		v.SetDepth(c.lane, c.full)
		want(t, v, noon, string(c.lane)+" is full", c.high, c.normal, c.low)
		v = New(usual())
		v.SetWaits(map[chat.Lane]time.Duration{c.lane: time.Duration(c.full*10) * time.Second})
		if c.full < 0.5 {
			continue
		}
		wait := map[float64]int{1: 3, 0.8: 2, 0.5: 1}[c.full]
		high, normal, low := min(wait, c.high*3), min(wait, c.normal*3), min(wait, c.low*3)
		want(t, v, noon, string(c.lane)+" waits", high, normal, low)
	}
}

func TestErrorsAndTheFirstTokenNeedEnoughCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		good, failed int
		first        time.Duration
		level        int
	}{
		"too few":        {0, 19, 0, 0},
		"all failed":     {0, 20, 0, 3},
		"a twentieth":    {95, 5, time.Second, 1},
		"less than that": {96, 4, time.Second, 0},
		"a tenth":        {90, 10, time.Second, 2},
		"slow":           {100, 0, 9 * time.Second, 1},
		"very slow":      {100, 0, 16 * time.Second, 3},
		"quick":          {100, 0, 7 * time.Second, 0},
	} {
		v := New(usual())
		for range c.good {
			v.Call(Call{FirstToken: c.first}, noon)
		}
		for range c.failed {
			v.Call(Call{Failed: true}, noon)
		}
		want(t, v, noon, name, c.level, c.level, c.level)
	}
}

// TestALevelRisesAtOnceAndFallsStepByStep follows one to the nanosecond.
func TestALevelRisesAtOnceAndFallsStepByStep(t *testing.T) {
	t.Parallel()
	v := New(usual())
	want(t, v, noon, "at first", 0, 0, 0)
	v.SetDepth(chat.Normal, 0.95)
	want(t, v, noon, "at once", 0, 3, 3)
	v.SetDepth(chat.Normal, 0)
	at := noon
	for level := 3; level > 0; level-- {
		if next := v.Next(at); !next.Equal(at.Add(hold)) {
			t.Errorf("level %d falls at %s, want %s", level, next, at.Add(hold))
		}
		at = at.Add(hold)
		want(t, v, at.Add(-time.Nanosecond), "just before", 0, level, level)
		want(t, v, at, "then", 0, level-1, level-1)
	}
	if next := v.Next(at); !next.IsZero() {
		t.Errorf("at level 0 something is due at %s", next)
	}
}

func TestAHoldBeginsWhenNothingAsksForTheLevelAnyMore(t *testing.T) {
	t.Parallel()
	v := New(usual())
	v.SetDepth(chat.High, 0.85)
	want(t, v, noon, "raised", 2, 2, 2)
	at := noon.Add(time.Hour)
	want(t, v, at, "still full", 2, 2, 2)
	v.SetDepth(chat.High, 0.6) // asks for 1 only
	want(t, v, at.Add(hold-1), "held", 2, 2, 2)
	want(t, v, at.Add(hold), "one step", 1, 1, 1)
	want(t, v, at.Add(10*hold), "and no further", 1, 1, 1)
}

func TestCallsLeaveTheWindow(t *testing.T) {
	t.Parallel()
	v := New(usual())
	for i := range 30 {
		v.Call(Call{Failed: true}, noon.Add(time.Duration(i)*time.Second))
	}
	at := noon.Add(29 * time.Second)
	want(t, v, at, "a vendor fails", 3, 3, 3)
	// After eleven have left, nineteen mean nothing.
	last := noon.Add(10*time.Second + 5*time.Minute)
	want(t, v, last.Add(-1), "twenty are left", 3, 3, 3)
	want(t, v, last.Add(hold-2), "held", 3, 3, 3)
	want(t, v, last.Add(hold-1), "fallen", 2, 2, 2)
}

func TestAnOperatorsWordIsAboveWhatIsMeasured(t *testing.T) {
	t.Parallel()
	v := New(usual())
	v.SetDepth(chat.Normal, 0.95)
	want(t, v, noon, "measured", 0, 3, 3)
	cfg := usual()
	cfg.Force = &Force{Level: 1, Until: noon.Add(time.Minute)}
	v.SetConfig(cfg)
	want(t, v, noon, "forced", 1, 1, 1)
	want(t, v, noon.Add(time.Minute-1), "until its end", 1, 1, 1)
	want(t, v, noon.Add(time.Minute), "over", 0, 3, 3)
	changes := v.Changes()
	if last := changes[len(changes)-1].Cause; !strings.HasPrefix(last, "depth of normal 0.950 ≥ 0.9") {
		t.Errorf("the last change is for: %s", last)
	}
	// What is measured now asks for less than the level that is held.
	v.SetDepth(chat.Normal, 0.55)
	cfg.Force = &Force{Level: 2, Until: noon.Add(2 * time.Minute)}
	v.SetConfig(cfg)
	want(t, v, noon.Add(time.Minute+time.Second), "forced again", 2, 2, 2)
	want(t, v, noon.Add(2*time.Minute), "over again", 0, 3, 3)
	changes = v.Changes()
	if last := changes[len(changes)-1].Cause; last != "an operator's word has ended" {
		t.Errorf("the last change is for: %s", last)
	}
}

// TestNoFlapping swings around one threshold for an hour: no lane changes its level more
// often than twice in any minute, every fall is one step and a hold after the last.
func TestNoFlapping(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 1))
		cfg := usual()
		cfg.Hold = time.Minute + time.Duration(random.Int64N(int64(2*time.Minute)))
		v, around := New(cfg), cfg.Levels[seed%Top]
		at := noon
		for range 3_600 {
			at = at.Add(time.Duration(random.Int64N(int64(2 * time.Second))))
			v.SetDepth(interactive[random.IntN(3)], around.Depth+random.Float64()*0.1-0.08)
			v.SetWaits(map[chat.Lane]time.Duration{chat.High: around.Wait - time.Duration(random.Int64N(int64(time.Second)))})
			v.Look(at)
		}
		changes := map[chat.Lane][]Change{}
		for _, c := range v.Changes() {
			all := append(changes[c.Lane], c)
			changes[c.Lane] = all
			if n := len(all); n >= 3 && c.At.Sub(all[n-3].At) <= time.Minute {
				t.Errorf("seed %d: three changes of %s within a minute: %v", seed, c.Lane, all[n-3:])
			}
			if c.To < c.From && (c.From-c.To != 1 || c.At.Sub(all[max(0, len(all)-2)].At) < cfg.Hold) {
				t.Errorf("seed %d: fell too soon or too far: %v", seed, all)
			}
		}
		if len(changes[chat.Low]) == 0 {
			t.Errorf("seed %d: nothing was raised", seed)
		}
	}
}

func TestTheLevelOutlivesAController(t *testing.T) {
	t.Parallel()
	v := New(usual())
	v.SetDepth(chat.Normal, 0.95)
	v.Look(noon)
	next := New(usual())
	at := noon.Add(time.Second)
	next.Recall(v.State(), at)
	want(t, next, at, "recalled", 0, 3, 3)
	want(t, next, at.Add(hold), "one hold later", 0, 2, 2)
	if changes := next.Changes(); len(changes) != 4 || changes[0].To != 3 {
		t.Errorf("remembered: %v", changes)
	}
}

// TestTheWindowCountsWhatAListWould compares with the plain way.
func TestTheWindowCountsWhatAListWould(t *testing.T) {
	t.Parallel()
	type seen struct {
		at time.Time
		Call
	}
	random := rand.New(rand.NewPCG(1, 2))
	c := calls{window: time.Minute}
	var list []seen
	at := noon
	for range 5_000 {
		at = at.Add(time.Duration(random.Int64N(int64(time.Second))))
		call := Call{Failed: random.IntN(5) == 0, FirstToken: time.Duration(1 + random.Int64N(int64(20*time.Second)))}
		c.add(call, at)
		list = append(list, seen{at, call})
		for len(list) > 0 && at.Sub(list[0].at) >= time.Minute {
			list = list[1:]
		}
		failed, longer, timed := 0, 0, 0
		p99 := c.p99()
		for _, s := range list {
			switch {
			case s.Failed:
				failed++
			case s.FirstToken > p99:
				longer++
				timed++
			default:
				timed++
			}
		}
		if c.count != len(list) || c.failed != failed || c.timed != timed || longer*100 > timed {
			t.Fatalf("%d of %d calls failed, %d of %d are longer than %s; want %d of %d", c.failed, c.count, longer, timed, p99, failed, len(list))
		}
	}
}

func TestTheWindowIsBounded(t *testing.T) {
	t.Parallel()
	c := calls{window: time.Hour}
	for i := range maxCalls + 10 {
		c.add(Call{Failed: i < 10}, noon)
	}
	if c.count != maxCalls || c.failed != 0 || len(c.all) > maxCalls {
		t.Errorf("%d calls in a ring of %d, %d failed", c.count, len(c.all), c.failed)
	}
}
