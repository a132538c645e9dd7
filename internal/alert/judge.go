package alert

import (
	"slices"
	"strings"
)

// judge is one look.
type judge struct {
	rules Rules
	state State
	watch Watch
	now   Reading
}

// Judge returns how things stand after a reading, by the rules. It changes nothing that it is
// given. A reading that is older than the one before it is judged as if it were new: whoever
// calls it keeps them in order.
func Judge(r Rules, s State, w Watch, now Reading) (State, Watch) {
	j := &judge{rules: r, state: s.Clone(), watch: Watch{Pending: clone(w.Pending), Calm: clone(w.Calm)}, now: now}
	all, known := j.measures()
	seen := map[string]bool{}
	for _, m := range all {
		seen[keyOf(m.name, m.target)] = true
		j.judge(m)
	}
	for key, a := range j.state.Firing {
		if known[a.Name] && !seen[key] { // its vendor, lane or process is there no more, or it is not watched
			j.judge(measure{name: a.Name, target: a.Target, value: a.Value, threshold: a.Threshold})
		}
	}
	for key := range j.watch.Pending {
		if name, _, _ := strings.Cut(key, ":"); known[Name(name)] && !seen[key] {
			delete(j.watch.Pending, key)
		}
	}
	j.forget(j.watch.Pending)
	j.forget(j.watch.Calm)
	return j.state, j.watch
}

func (j *judge) judge(m measure) {
	key := keyOf(m.name, m.target)
	a, firing := j.state.Firing[key]
	switch {
	case m.over && firing:
		delete(j.watch.Calm, key)
		j.state.Firing[key] = j.refreshed(a, m)
	case m.over:
		if s := j.hold(j.watch.Pending, key); j.now.At.Sub(s.Since) >= m.lasts && len(j.state.Firing) < MaxFiring {
			delete(j.watch.Pending, key)
			j.fire(m)
		}
	case firing:
		if s := j.hold(j.watch.Calm, key); j.now.At.Sub(s.Since) >= m.name.quiet() {
			delete(j.watch.Calm, key)
			j.end(a)
		}
	default:
		delete(j.watch.Pending, key)
	}
}

func (j *judge) fire(m measure) {
	a := Alert{
		Key: keyOf(m.name, m.target), Name: m.name, Severity: m.name.Severity(), Target: m.target,
		Since: j.now.At, SeenAt: j.now.At, Value: m.value, Threshold: m.threshold,
	}
	if m.name.happening() {
		a.LastAt = j.now.At
	}
	j.state.Firing[a.Key] = a
}

// refreshed brings the value of an alert up to date: a count with each new one, anything else
// once a minute, so that the state is not written with each look.
func (j *judge) refreshed(a Alert, m measure) Alert {
	switch {
	case m.news > 0:
		a.Value, a.LastAt, a.SeenAt = a.Value+float64(m.news), j.now.At, j.now.At
	case !a.Name.happening() && j.now.At.Sub(a.SeenAt) >= refresh:
		a.Value, a.Threshold, a.SeenAt = m.value, m.threshold, j.now.At
	}
	return a
}

func (j *judge) end(a Alert) {
	delete(j.state.Firing, a.Key)
	a.EndedAt = j.now.At
	j.state.Recent = slices.Insert(j.state.Recent, 0, a)
	j.state.Recent = j.state.Recent[:min(len(j.state.Recent), MaxRecent)]
}

// hold returns the stretch that this look belongs to.
func (j *judge) hold(spans map[string]Span, key string) Span {
	s, there := spans[key]
	if !there || j.now.At.Sub(s.Seen) > Gap {
		s.Since = j.now.At
	}
	s.Seen = j.now.At
	spans[key] = s
	return s
}

// forget drops the stretches that would begin anew.
func (j *judge) forget(spans map[string]Span) {
	for key, s := range spans {
		if j.now.At.Sub(s.Seen) > Gap {
			delete(spans, key)
		}
	}
}
