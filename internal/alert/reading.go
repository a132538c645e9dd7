package alert

import (
	"maps"
	"slices"
	"time"
)

// Reading is how everything stands at one moment. What is nil is not known now: it neither
// begins nor ends an alert.
type Reading struct {
	At       time.Time
	Permits  map[string]Permits // by vendor
	Breakers map[string]bool    // by vendor or tool: whether it is open
	Level    *int
	Waits    map[string]Wait // by lane
	Refused  *int            // messages, within five minutes
	Broken   *News           // promises
	Dead     *News           // letters
	Lag      *time.Duration  // of the recorder
	Nodes    map[string]Node // the processes that are there, by id
}

// Permits is how a vendor stands. Without a limit (its breaker is open, or it is paused)
// there is no part of it to judge.
type Permits struct{ InUse, Limit int }

// Wait is the longest wait of a lane beside what it should be at most.
type Wait struct{ Longest, Max time.Duration }

// News is what has happened since the look that ended at the place State.Upto tells.
type News struct {
	Count int
	Upto  uint64 // the place up to which it was counted
}

// Node is a process.
type Node struct {
	Host  string `json:"host"`
	Roles string `json:"roles"`
}

// measure is one value beside its threshold.
type measure struct {
	name      Name
	target    string
	value     float64
	threshold float64
	over      bool
	lasts     time.Duration // before it fires
	news      int           // of a happening
}

// measures returns what is known now, and which names that covers: of these, what is not
// among the measures is not wrong.
func (j *judge) measures() (all []measure, known map[Name]bool) {
	known = map[Name]bool{}
	add := func(m measure) {
		if j.rules.watches(m.name) {
			all = append(all, m)
		}
	}
	for _, n := range j.rules.Off {
		known[n] = true
	}
	if now := j.now.Permits; now != nil {
		known[PermitsBusy], known[PermitsSpent] = true, true
		for _, vendor := range slices.Sorted(maps.Keys(now)) {
			p := now[vendor]
			if p.Limit <= 0 {
				continue
			}
			part := float64(p.InUse) / float64(p.Limit)
			for name, s := range map[Name]Share{PermitsBusy: j.rules.Busy, PermitsSpent: j.rules.Spent} {
				add(measure{name: name, target: vendor, value: part, threshold: s.Above, over: part > s.Above, lasts: s.For})
			}
		}
	}
	if now := j.now.Breakers; now != nil {
		known[BreakerOpen] = true
		for name, open := range now {
			add(measure{name: BreakerOpen, target: name, value: 1, over: open})
		}
	}
	if now := j.now.Level; now != nil {
		known[LevelHigh] = true
		add(measure{name: LevelHigh, value: float64(*now), threshold: float64(j.rules.Level), over: *now >= j.rules.Level})
	}
	if now := j.now.Refused; now != nil {
		known[Refusals] = true
		add(measure{name: Refusals, value: float64(*now), threshold: float64(j.rules.Refusals), over: *now > j.rules.Refusals})
	}
	if now := j.now.Lag; now != nil {
		known[RecorderLag] = true
		add(measure{name: RecorderLag, value: now.Seconds(), threshold: j.rules.Lag.Seconds(), over: *now > j.rules.Lag})
	}
	j.waits(known, add)
	j.happenings(known, add)
	j.missing(known, add)
	return all, known
}

// waits judges the lanes: the value is the wait in seconds.
func (j *judge) waits(known map[Name]bool, add func(measure)) {
	if j.now.Waits == nil {
		return
	}
	known[WaitLong] = true
	for lane, w := range j.now.Waits {
		most := j.rules.Wait * w.Max.Seconds()
		add(measure{name: WaitLong, target: lane, value: w.Longest.Seconds(), threshold: most, over: w.Longest.Seconds() > most})
	}
}

// happenings are over from the moment on until a while has passed since the last one.
func (j *judge) happenings(known map[Name]bool, add func(measure)) {
	for name, now := range map[Name]*News{PromiseBroken: j.now.Broken, DeadLetter: j.now.Dead} {
		if now == nil {
			continue
		}
		known[name] = true
		j.state.Upto[name] = now.Upto
		a, firing := j.state.Firing[keyOf(name, "")]
		over := now.Count > 0 || firing && j.now.At.Sub(a.LastAt) < j.rules.Lasts
		add(measure{name: name, value: float64(now.Count), over: over, news: now.Count})
	}
}

// missing finds the processes that were there and are not.
func (j *judge) missing(known map[Name]bool, add func(measure)) {
	if j.now.Nodes == nil {
		return
	}
	known[NodeLost] = true
	for id, n := range j.now.Nodes {
		if _, there := j.state.Nodes[id]; there || len(j.state.Nodes) < MaxNodes {
			j.state.Nodes[id] = Known{Node: n}
		}
	}
	for id, k := range j.state.Nodes {
		if _, there := j.now.Nodes[id]; there {
			continue
		}
		switch {
		case k.Missing.IsZero():
			k.Missing = j.now.At
			j.state.Nodes[id] = k
		case j.now.At.Sub(k.Missing) >= j.rules.Lasts:
			delete(j.state.Nodes, id) // whoever wanted to know has had the time
			continue
		}
		add(measure{name: NodeLost, target: k.target(id), value: 1, over: true, lasts: MissingFor})
	}
}
