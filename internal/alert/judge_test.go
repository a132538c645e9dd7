package alert

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func defaults() Rules {
	return Rules{
		Busy: Share{0.8, time.Minute}, Spent: Share{0.95, 30 * time.Second}, Refusals: 100, Level: 2, Wait: 1, Lag: time.Minute, Lasts: 10 * time.Minute,
	}
}

//go:fix inline
func ptr[T any](v T) *T { return new(v) }

// well is a reading in which nothing is wrong.
func well() Reading {
	return Reading{
		Permits: map[string]Permits{"a": {InUse: 1, Limit: 48}}, Breakers: map[string]bool{"a": false}, Level: new(0),
		Waits: map[string]Wait{"normal": {Max: 10 * time.Second}}, Refused: new(0), Broken: &News{}, Dead: &News{}, Lag: ptr(time.Duration(0)),
		Nodes: map[string]Node{"n1": {Host: "one"}, "n2": {Host: "two"}},
	}
}

// looks is a run of looks, one each 2 s, whose state passes through JSON as it does between
// two processes.
type looks struct {
	t      *testing.T
	rules  Rules
	state  State
	watch  Watch
	now    time.Time
	hooks  []string
	repeat time.Duration
	plain  bool // the state stays as it is between two looks
}

func (l *looks) look(change func(*Reading)) {
	l.t.Helper()
	r := well()
	if change != nil {
		change(&r)
	}
	r.At = l.now
	if l.plain {
		s, w := Judge(l.rules, l.state, l.watch, r)
		l.state, l.watch, l.now = s.Plan(l.hooks, l.repeat, l.now), w, l.now.Add(2*time.Second)
		return
	}
	before, err := json.Marshal(l.state)
	if err != nil {
		l.t.Fatal(err)
	}
	s, w := Judge(l.rules, l.state, l.watch, r)
	s = s.Plan(l.hooks, l.repeat, l.now)
	if after, _ := json.Marshal(l.state); string(after) != string(before) {
		l.t.Fatal("what a look began with was changed")
	}
	l.state, l.watch = State{}, Watch{}
	for _, pass := range []struct{ from, to any }{{s, &l.state}, {w, &l.watch}} {
		body, err := json.Marshal(pass.from)
		if err == nil {
			err = json.Unmarshal(body, pass.to)
		}
		if err != nil {
			l.t.Fatal(err)
		}
	}
	l.now = l.now.Add(2 * time.Second)
}

func newLooks(t *testing.T, hooks ...string) *looks {
	t.Helper()
	return &looks{t: t, rules: defaults(), now: noon, hooks: hooks, repeat: 4 * time.Hour}
}

// during looks for a while.
func (l *looks) during(d time.Duration, change func(*Reading)) {
	l.t.Helper()
	for until := l.now.Add(d); l.now.Before(until); {
		l.look(change)
	}
}

func (l *looks) keys() []string {
	var all []string
	for _, a := range l.state.Alerts() {
		all = append(all, a.Key)
	}
	return all
}

func use(n int) func(*Reading) {
	return func(r *Reading) { r.Permits["a"] = Permits{InUse: n, Limit: 100} }
}

// TestEachThresholdHasItsTime goes through every alert: what begins it, after how long, and
// how long after what was wrong it ends.
func TestEachThresholdHasItsTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key   string
		wrong func(*Reading)
		fine  func(*Reading) // just within what is allowed
		after time.Duration  // the first look at which it fires
		quiet time.Duration  // the first look at which it has ended
	}{
		{"permits_busy:a", use(81), use(80), time.Minute, time.Minute},
		{"refusals", func(r *Reading) { r.Refused = new(101) }, func(r *Reading) { r.Refused = new(100) }, 0, time.Minute},
		{"breaker_open:a", func(r *Reading) { r.Breakers["a"] = true }, nil, 0, time.Minute},
		{"breaker_open:tool:x", func(r *Reading) { r.Breakers["tool:x"] = true }, nil, 0, time.Minute},
		{"level_high", func(r *Reading) { r.Level = new(2) }, func(r *Reading) { r.Level = new(1) }, 0, time.Minute},
		{"wait_long:normal", func(r *Reading) { r.Waits["normal"] = Wait{10001 * time.Millisecond, 10 * time.Second} },
			func(r *Reading) { r.Waits["normal"] = Wait{10 * time.Second, 10 * time.Second} }, 0, time.Minute},
		{"recorder_lag", func(r *Reading) { r.Lag = ptr(61 * time.Second) }, func(r *Reading) { r.Lag = ptr(time.Minute) }, 0, time.Minute},
		{"node_lost:two/n2", func(r *Reading) { delete(r.Nodes, "n2") }, nil, 10 * time.Second, 0},
	} {
		l := newLooks(t)
		l.during(2*time.Minute, c.fine)
		if got := l.keys(); len(got) != 0 {
			t.Errorf("%s: %v fires while nothing is wrong", c.key, got)
		}
		began := l.now
		l.during(c.after, c.wrong)
		if got := l.keys(); len(got) != 0 {
			t.Errorf("%s: %v fires before its time", c.key, got)
		}
		l.look(c.wrong)
		if a := l.state.Firing[c.key]; !a.Since.Equal(began.Add(c.after)) || len(l.state.Firing) != 1 {
			t.Errorf("%s: fires %v since %s, want %s", c.key, l.keys(), a.Since.Sub(began), c.after)
			continue
		}
		l.during(time.Minute, c.wrong)
		ended := l.now
		l.during(c.quiet, c.fine)
		if c.quiet > 0 && len(l.state.Firing) != 1 {
			t.Errorf("%s: ended before its time", c.key)
		}
		l.look(c.fine)
		if len(l.state.Firing) != 0 || len(l.state.Recent) != 1 || !l.state.Recent[0].EndedAt.Equal(ended.Add(c.quiet)) {
			t.Errorf("%s: fires %v, ended %v", c.key, l.keys(), l.state.Recent)
		}
	}
}

func TestPermitsThatAreSpentAreCritical(t *testing.T) {
	t.Parallel()
	l := newLooks(t)
	l.during(30*time.Second, use(96))
	if got := l.keys(); len(got) != 0 {
		t.Errorf("%v fires before its time", got)
	}
	l.look(use(96))
	if a := l.state.Firing["permits_spent:a"]; a.Severity != Critical || a.Value != 0.96 || a.Threshold != 0.95 {
		t.Errorf("%+v", a)
	}
	l.during(30*time.Second, use(96))
	if got := l.keys(); !slices.Equal(got, []string{"permits_spent:a", "permits_busy:a"}) {
		t.Errorf("%v fires", got)
	}
	// No limit now: its breaker is open. There is no part of nothing.
	l.during(time.Minute, func(r *Reading) { r.Permits["a"] = Permits{InUse: 5} })
	l.look(func(r *Reading) { delete(r.Permits, "a") })
	if got := l.keys(); len(got) != 0 {
		t.Errorf("%v fires", got)
	}
}

// TestWhatIsNotKnownNeitherBeginsNorEnds, and what was broken off begins anew.
func TestWhatIsNotKnownNeitherBeginsNorEnds(t *testing.T) {
	t.Parallel()
	unknown := func(r *Reading) { *r = Reading{} }
	l := newLooks(t)
	l.during(50*time.Second, use(90))
	l.during(8*time.Second, unknown)
	l.during(4*time.Second, use(90))
	if got := l.keys(); !slices.Equal(got, []string{"permits_busy:a"}) {
		t.Errorf("after a gap of 8 s %v fires", got)
	}
	l.during(time.Hour, unknown)
	if got := l.keys(); !slices.Equal(got, []string{"permits_busy:a"}) {
		t.Errorf("after an hour in which nobody knew %v fires", got)
	}
	l.during(2*time.Minute, nil)
	l.during(50*time.Second, use(90))
	l.during(12*time.Second, unknown)
	l.during(58*time.Second, use(90))
	if got := l.keys(); len(got) != 0 {
		t.Errorf("after a gap of 12 s %v fires before its time", got)
	}
	l.during(4*time.Second, use(90))
	if got := l.keys(); len(got) != 1 {
		t.Errorf("%v fires", got)
	}
}

// TestWhatComesAndGoesIsOneAlert: it ends once nothing was wrong for a minute on end.
func TestWhatComesAndGoesIsOneAlert(t *testing.T) {
	t.Parallel()
	l := newLooks(t, "h")
	open := func(r *Reading) { r.Breakers["a"] = true }
	for range 20 {
		l.during(20*time.Second, open)
		l.during(40*time.Second, nil)
	}
	if len(l.state.Recent) != 0 || !l.state.Firing["breaker_open:a"].Since.Equal(noon) || len(l.state.Sends) != 1 {
		t.Errorf("recent %v, firing %v, %d messages", l.state.Recent, l.state.Firing, len(l.state.Sends))
	}
}

// TestHappeningsLastAWhile and are counted, by however many processes they were seen.
func TestHappeningsLastAWhile(t *testing.T) {
	t.Parallel()
	l := newLooks(t)
	dead := func(n int, upto uint64) func(*Reading) {
		return func(r *Reading) { r.Dead = &News{Count: n, Upto: upto} }
	}
	l.look(dead(0, 7))
	l.look(dead(2, 9))
	l.during(9*time.Minute, dead(0, 9))
	l.look(dead(1, 10))
	last := l.now.Add(-2 * time.Second)
	if a := l.state.Firing["dead_letter"]; a.Value != 3 || !a.LastAt.Equal(last) || l.state.Upto[DeadLetter] != 10 {
		t.Errorf("%+v, upto %d", a, l.state.Upto[DeadLetter])
	}
	l.during(10*time.Minute-2*time.Second, dead(0, 10))
	if len(l.state.Firing) != 1 {
		t.Error("ended before its time")
	}
	l.look(dead(0, 10))
	if len(l.state.Firing) != 0 || !l.state.Recent[0].EndedAt.Equal(last.Add(10*time.Minute)) {
		t.Errorf("fires %v, recent %v", l.keys(), l.state.Recent)
	}
}

// TestALostProcessIsForgottenInTheEnd, one that came back at once, and one that said goodbye
// was never lost.
func TestALostProcessIsForgottenInTheEnd(t *testing.T) {
	t.Parallel()
	gone := func(r *Reading) { delete(r.Nodes, "n2") }
	l := newLooks(t)
	l.look(nil)
	l.during(8*time.Second, gone)
	l.look(nil)
	l.during(8*time.Second, gone)
	l.state = l.state.Leave("n2")
	l.during(time.Minute, gone)
	if len(l.state.Firing)+len(l.state.Recent) != 0 {
		t.Errorf("fires %v, recent %v", l.keys(), l.state.Recent)
	}
	l.look(nil)
	l.during(time.Minute, gone)
	if got := l.keys(); !slices.Equal(got, []string{"node_lost:two/n2"}) {
		t.Errorf("%v fires", got)
	}
	l.during(10*time.Minute, gone)
	if _, known := l.state.Nodes["n2"]; known || len(l.state.Firing) != 0 || len(l.state.Recent) != 1 {
		t.Errorf("fires %v, recent %v, nodes %v", l.keys(), l.state.Recent, l.state.Nodes)
	}
}

func TestWhatIsOffEnds(t *testing.T) {
	t.Parallel()
	l := newLooks(t)
	high := func(r *Reading) { r.Level = new(3) }
	l.look(high)
	l.rules.Off = []Name{LevelHigh}
	l.during(time.Minute, high)
	l.look(high)
	if len(l.state.Firing) != 0 || len(l.state.Recent) != 1 {
		t.Errorf("fires %v, recent %v", l.keys(), l.state.Recent)
	}
}

// TestStateIsBounded lets more be wrong than is kept.
func TestStateIsBounded(t *testing.T) {
	t.Parallel()
	l := newLooks(t)
	for i := range 10 {
		l.hooks = append(l.hooks, fmt.Sprintf("generic-%08d", i))
	}
	l.plain = true
	many := func(r *Reading) {
		for i := range MaxFiring + 50 {
			r.Breakers[fmt.Sprintf("tool:%03d", i)] = true
		}
	}
	for range 6 {
		l.during(10*time.Second, many)
		l.during(70*time.Second, nil)
	}
	l.look(func(r *Reading) {
		for i := range MaxNodes + 50 {
			r.Nodes[fmt.Sprintf("n%04d", i)] = Node{Host: "h"}
		}
	})
	l.look(many)
	body, err := json.Marshal(l.state)
	if len(l.state.Firing) != MaxFiring || len(l.state.Recent) != MaxRecent || len(l.state.Nodes) != MaxNodes || len(l.state.Sends) != 10*MaxSends {
		t.Errorf("%d fire, %d recent, %d nodes, %d messages", len(l.state.Firing), len(l.state.Recent), len(l.state.Nodes), len(l.state.Sends))
	}
	if err != nil || len(body) > 900_000 { // the store takes 1 MiB
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

func TestRefusalsAreCountedOverFiveMinutes(t *testing.T) {
	t.Parallel()
	var tally Tally
	for i := range 60 {
		tally.Add(noon.Add(time.Duration(i) * time.Second))
	}
	for after, want := range map[time.Duration]int{59 * time.Second: 60, 5 * time.Minute: 60, 5*time.Minute + 10*time.Second: 50, 6*time.Minute + 10*time.Second: 0} {
		if got := tally.Sum(noon.Add(after)); got != want {
			t.Errorf("after %s: %d, want %d", after, got, want)
		}
	}
}
