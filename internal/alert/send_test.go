package alert

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// said writes the messages that wait: what fires and what has ended in each.
func said(l *looks) []string {
	var all []string
	for _, m := range l.state.Sends {
		var parts []string
		for _, a := range m.Firing {
			parts = append(parts, "+"+a.Key)
		}
		for _, a := range m.Ended {
			parts = append(parts, "-"+a.Key)
		}
		all = append(all, m.Hook+" "+m.At.Sub(noon).String()+" "+strings.Join(parts, " "))
	}
	return all
}

// TestNewsIsTold in groups, once, again after a while, and its end.
func TestNewsIsTold(t *testing.T) {
	t.Parallel()
	l := newLooks(t, "h", "i")
	l.plain = true
	l.hooks = []string{"h"}
	first := func(r *Reading) { r.Level = new(2) }
	both := func(r *Reading) { r.Level = new(2); r.Breakers["a"] = true }
	l.during(4*time.Second, first)
	l.during(time.Hour, both)
	l.hooks = []string{"h", "i"}
	l.during(3*time.Hour+10*time.Second, both)
	l.during(2*time.Minute, nil)
	want := []string{
		"h 6s +breaker_open:a +level_high",
		"i 1h0m4s +breaker_open:a +level_high",
		"h 4h0m6s +breaker_open:a +level_high",
		"h 4h1m20s -breaker_open:a -level_high",
		"i 4h1m20s -breaker_open:a -level_high",
	}
	if got := said(l); !slices.Equal(got, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	l.hooks = []string{"i"}
	l.look(nil)
	if got := said(l); len(got) != 2 {
		t.Errorf("what nobody wants any more waits: %v", got)
	}
}

// TestWhatHasNoRoomJoinsTheLast: nothing is lost, and each alert is as it was last.
func TestWhatHasNoRoomJoinsTheLast(t *testing.T) {
	t.Parallel()
	var s State
	for i := range MaxSends {
		s.add(Send{Hook: "h", At: noon.Add(time.Duration(i) * time.Minute), Firing: []Alert{{Key: "x"}, {Key: "y"}}, Test: i == 0})
	}
	first := s.Sends[0]
	s.add(Send{Hook: "h", At: noon.Add(time.Hour), Firing: []Alert{{Key: "z"}}, Ended: []Alert{{Key: "x"}}})
	last := s.Sends[len(s.Sends)-1]
	if len(s.Sends) != MaxSends || s.Sends[0].ID != first.ID || len(last.Firing) != 2 || len(last.Ended) != 1 || last.Ended[0].Key != "x" {
		t.Errorf("%d messages, the last %+v", len(s.Sends), last)
	}
}

// TestTriesOfAMessage follows one whose receiver takes nothing: in order, one at a time, at
// growing pauses, for a day.
func TestTriesOfAMessage(t *testing.T) {
	t.Parallel()
	s := State{}.Test([]string{"h", "i"}, noon)
	s = s.Test([]string{"h"}, noon.Add(23*time.Hour))
	now := noon.Add(time.Second)
	due := s.Due(now)
	if len(due) != 2 || due[0].Hook != "h" || due[1].Hook != "i" || !due[0].At.Equal(noon) {
		t.Fatalf("due: %+v", due)
	}
	id := due[0].ID
	s, m, mine := s.Begin(id, now)
	if _, _, again := s.Begin(id, now); !mine || m.Tries != 1 || again {
		t.Errorf("begun %t after %d tries, and again %t", mine, m.Tries, again)
	}
	if left := s.Due(now.Add(TryLease)); len(left) != 2 || left[0].ID != id {
		t.Errorf("a try that nobody told the end of: %+v", left)
	}
	var pauses []time.Duration
	for {
		s = s.Done(id, "answered 500", 0, now)
		i := s.index(id)
		if i < 0 {
			break
		}
		pauses = append(pauses, s.Sends[i].NextAt.Sub(now))
		now = s.Sends[i].NextAt
		s, _, _ = s.Begin(id, now)
	}
	want := []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute, 5 * time.Minute}
	if !slices.Equal(pauses[:len(want)], want) || now.Sub(noon) < 24*time.Hour || now.Sub(noon) > 24*time.Hour+5*time.Minute || !s.Hooks["h"].GaveUp {
		t.Errorf("pauses %v, gave up after %s: %+v", pauses[:len(want)], now.Sub(noon), s.Hooks["h"])
	}
	next := s.Due(now)
	if len(next) != 2 || next[1].Hook != "h" {
		t.Fatalf("the next one does not come: %+v", next)
	}
	s, m, _ = s.Begin(next[1].ID, now)
	s = s.Done(m.ID, "answered 429", time.Hour, now)
	if got := s.Sends[s.index(m.ID)].NextAt; !got.Equal(now.Add(time.Hour)) {
		t.Errorf("the next try at %s, want the hour that was asked for", got)
	}
}

// TestWhateverHappensIsToldOnce plays random histories, in which the duty changes hands with
// each look: for each webhook beginnings and ends alternate, the end of the last one is told
// in the end, and nothing fires that is not wrong.
func TestWhateverHappensIsToldOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := newLooks(t, "h")
		l.plain = true
		told := map[string]bool{}
		take := func() {
			for _, m := range l.state.Sends {
				for _, a := range m.Firing {
					if told[a.Key] {
						rt.Fatalf("%s is told twice at %s", a.Key, m.At)
					}
					told[a.Key] = true
				}
				for _, a := range m.Ended {
					if !told[a.Key] {
						rt.Fatalf("the end of %s is told, its beginning was not, at %s", a.Key, m.At)
					}
					told[a.Key] = false
				}
			}
			l.state.Sends = nil
		}
		for range rapid.IntRange(1, 12).Draw(rt, "stretches") {
			span := time.Duration(rapid.IntRange(1, 90).Draw(rt, "looks")) * 2 * time.Second
			level, open, busy, blind := rapid.IntRange(0, 3).Draw(rt, "level"), rapid.Bool().Draw(rt, "open"), rapid.IntRange(0, 100).Draw(rt, "busy"), rapid.Bool().Draw(rt, "blind")
			for until := l.now.Add(span); l.now.Before(until); {
				l.look(func(r *Reading) {
					r.Level, r.Breakers["a"] = &level, open
					r.Permits["a"] = Permits{InUse: busy, Limit: 100}
					if blind {
						*r = Reading{}
					}
				})
				take()
				for _, a := range l.state.Firing {
					if a.Name == PermitsSpent && a.Value <= 0.95 && a.SeenAt.Equal(a.Since) {
						rt.Fatalf("%+v fires", a)
					}
				}
			}
		}
		l.during(2*time.Minute, nil)
		take()
		for key, on := range told {
			if on || len(l.state.Firing) > 0 {
				rt.Fatalf("%s was told to fire, and its end was not; %v fires", key, l.keys())
			}
		}
	})
}

// TestEveryAlertIsSaidInBothLanguages, and nothing is left of a format.
func TestEveryAlertIsSaidInBothLanguages(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		for _, l := range []Lang{Chinese, English} {
			a := Alert{Name: name, Target: "TARGET", Value: 3661, Threshold: 60}
			for _, text := range []string{name.Title(l), name.Help(l), a.Summary(l), name.Severity().Title(l)} {
				if text == "" || strings.Contains(text, "%!") || (len([]rune(text)) == len(text)) != (l == English) {
					t.Errorf("%s in %s: %q", name, l, text)
				}
			}
		}
	}
	a := Alert{Name: WaitLong, Target: "normal", Value: 3725, Threshold: 10}
	if got := a.Summary(English); got != "lane normal: the longest wait is 1 h 2 min (at most 10 s)" {
		t.Error(got)
	}
	a = Alert{Name: PermitsBusy, Target: "a", Value: 0.8333, Threshold: 0.8}
	if got := a.Summary(Chinese); got != "供应商 a 的许可已用 83.3 %（阈值 80 %）" {
		t.Error(got)
	}
}
