package valve

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"sluice/internal/chat"
)

// MaxChanges is how many changes of levels are remembered; the oldest go.
const MaxChanges = 100

// Change is a level that has changed for the tickets of a lane.
type Change struct {
	At    time.Time `json:"at"`
	Lane  chat.Lane `json:"lane"`
	From  int       `json:"from"`
	To    int       `json:"to"`
	Cause string    `json:"cause"` // what was measured beside its threshold, or whose word it was
}

// Valve finds the levels from what is told to it. It does no I/O, starts nothing, and is
// not safe for concurrent use; time comes in by now.
type Valve struct {
	cfg     Config
	calls   calls
	depth   map[chat.Lane]float64
	wait    map[chat.Lane]time.Duration
	meters  map[chat.Lane]*meter
	felt    map[chat.Lane]int // the levels in force: measured, or forced
	changes []Change
	fresh   []Change // not asked for yet; no more than changes are
}

// New returns a valve at level 0. With no condition in cfg it stays there.
func New(cfg Config) *Valve {
	v := &Valve{
		depth: map[chat.Lane]float64{}, wait: map[chat.Lane]time.Duration{},
		meters: map[chat.Lane]*meter{}, felt: map[chat.Lane]int{},
	}
	for _, lane := range interactive {
		v.meters[lane], v.felt[lane] = &meter{}, 0
	}
	v.SetConfig(cfg)
	return v
}

// interactive are the lanes that raise and feel levels, the best first.
var interactive = []chat.Lane{chat.High, chat.Normal, chat.Low}

// SetConfig puts new rules in force. What was measured stays, and levels are looked at
// with the next Look.
func (v *Valve) SetConfig(cfg Config) { v.cfg, v.calls.window = cfg, cfg.Window }

// Call takes in how a customer's call ended.
func (v *Valve) Call(c Call, now time.Time) { v.calls.add(c, now) }

// SetDepth takes in how full a lane is: depth ÷ bound.
func (v *Valve) SetDepth(lane chat.Lane, full float64) { v.depth[lane] = full }

// SetWaits takes in how long the one that waits longest has waited in each lane; missing:
// nobody waits.
func (v *Valve) SetWaits(waits map[chat.Lane]time.Duration) { v.wait = waits }

// Levels returns the level in force for each interactive lane. It must not be changed.
func (v *Valve) Levels() map[chat.Lane]int { return v.felt }

// Changes returns the changes of levels that are remembered, oldest first.
func (v *Valve) Changes() []Change { return slices.Clone(v.changes) }

// Look finds the levels at now and reports whether one in force has changed.
func (v *Valve) Look(now time.Time) bool {
	v.calls.forget(now)
	felt := map[chat.Lane]int{}
	for i, lane := range interactive {
		wanted, cause := v.wanted(interactive[:i+1])
		m := v.meters[lane]
		switch before := m.look(wanted, v.cfg.Hold, now); {
		case m.level < before:
			cause = fmt.Sprintf("nothing has asked for level %d for %s", before, v.cfg.Hold)
		case wanted < m.level: // it is held: only a word that has ended can have changed what is felt
			cause = "an operator's word has ended"
		}
		felt[lane] = m.level
		if f := v.cfg.Force; f.on(now) {
			felt[lane], cause = f.Level, "an operator's word until "+f.Until.UTC().Format(time.RFC3339)
		}
		if from := v.felt[lane]; from != felt[lane] {
			v.note(Change{At: now, Lane: lane, From: from, To: felt[lane], Cause: cause})
		}
	}
	changed := !maps.Equal(felt, v.felt)
	v.felt = felt
	return changed
}

func (v *Valve) note(c Change) {
	v.changes, v.fresh = kept(append(v.changes, c)), kept(append(v.fresh, c))
}

// kept drops the oldest where there are too many.
func kept(all []Change) []Change { return all[max(0, len(all)-MaxChanges):] }

// Fresh returns the changes since it was called last, oldest first.
func (v *Valve) Fresh() []Change {
	all := v.fresh
	v.fresh = nil
	return all
}

// wanted returns the highest level that is asked for by these lanes and by the calls, and
// by what.
func (v *Valve) wanted(lanes []chat.Lane) (level int, cause string) {
	errors, p99 := 0.0, time.Duration(0)
	if v.calls.count >= v.cfg.MinCalls {
		errors, p99 = v.calls.errors(), v.calls.p99()
	}
	for k := Top; k > 0; k-- {
		t := v.cfg.Levels[k-1]
		switch {
		case t.Errors > 0 && errors >= t.Errors:
			return k, fmt.Sprintf("errors %.3f ≥ %g of %d calls", errors, t.Errors, v.calls.count)
		case t.P99 > 0 && p99 >= t.P99:
			return k, fmt.Sprintf("p99 to the first token %s ≥ %s", p99.Round(time.Millisecond), t.P99)
		}
		for _, lane := range lanes {
			switch {
			case t.Depth > 0 && v.depth[lane] >= t.Depth:
				return k, fmt.Sprintf("depth of %s %.3f ≥ %g", lane, v.depth[lane], t.Depth)
			case t.Wait > 0 && v.wait[lane] >= t.Wait:
				return k, fmt.Sprintf("wait in %s %s ≥ %s", lane, v.wait[lane].Round(time.Millisecond), t.Wait)
			}
		}
	}
	return 0, ""
}

// Next returns when a level may change by time alone, with nothing new told; the zero
// time: never.
func (v *Valve) Next(now time.Time) time.Time {
	var next time.Time
	sooner := func(at time.Time) {
		if at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for _, m := range v.meters {
		if m.level > 0 {
			sooner(m.fallsAt(v.cfg.Hold))
		}
	}
	if f := v.cfg.Force; f.on(now) {
		sooner(f.Until)
	}
	if at := v.calls.next(); !at.IsZero() {
		sooner(at)
	}
	return next
}

// State is what outlives a controller.
type State struct {
	Levels  map[chat.Lane]int `json:"levels"` // measured, whatever is forced
	Changes []Change          `json:"changes"`
}

// State returns what the next controller begins with.
func (v *Valve) State() State {
	s := State{Levels: map[chat.Lane]int{}, Changes: v.Changes()}
	for lane, m := range v.meters {
		s.Levels[lane] = m.level
	}
	return s
}

// Recall begins at now with what a former controller found: its levels hold for as long
// as if they had just been asked for, because nobody knows of the time between.
func (v *Valve) Recall(s State, now time.Time) {
	for lane, m := range v.meters {
		m.level, m.since = min(max(s.Levels[lane], 0), Top), now
		v.felt[lane] = m.level
	}
	v.changes = slices.Clone(kept(s.Changes))
}
