package alert

import (
	"maps"
	"slices"
	"time"
)

// State is what is known between two looks. It is stored as a whole, by compare-and-set.
type State struct {
	Firing map[string]Alert `json:"firing"`
	Recent []Alert          `json:"recent"` // those that have ended, the latest first
	Nodes  map[string]Known `json:"nodes"`
	Upto   map[Name]uint64  `json:"upto"` // the places up to which was counted
	Sends  []Send           `json:"sends"`
	// Hooks is what came of the latest tries, by the webhook's id.
	Hooks map[string]Outcome `json:"hooks"`
}

// Known is a process that was there.
type Known struct {
	Node
	Missing time.Time `json:"missing,omitzero"` // since when it is not there; zero: it is
}

// target names a process to people: its host, and enough of its id to tell two apart.
func (k Known) target(id string) string { return k.Host + "/" + id[:min(len(id), 6)] }

// Watch is what may become an alert, or the end of one. It changes with each look, so it is
// stored apart; a stretch that was not looked at for longer than Gap begins anew.
type Watch struct {
	Pending map[string]Span `json:"pending,omitempty"` // wrong, and not for long enough
	Calm    map[string]Span `json:"calm,omitempty"`    // of what fires: not wrong, and not for long enough
}

// Span is a stretch of time in which each look found the same.
type Span struct {
	Since time.Time `json:"since"`
	Seen  time.Time `json:"seen"`
}

// Clone returns a copy that shares nothing that Judge or Plan change.
func (s State) Clone() State {
	s.Firing, s.Nodes, s.Upto, s.Hooks = clone(s.Firing), clone(s.Nodes), clone(s.Upto), clone(s.Hooks)
	s.Recent, s.Sends = slices.Clone(s.Recent), slices.Clone(s.Sends)
	for key, a := range s.Firing {
		a.Told = maps.Clone(a.Told)
		s.Firing[key] = a
	}
	for i := range s.Recent {
		s.Recent[i].Told = maps.Clone(s.Recent[i].Told)
	}
	return s
}

func clone[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return maps.Clone(m)
}

// Leave forgets a process that says goodbye.
func (s State) Leave(id string) State {
	s = s.Clone()
	delete(s.Nodes, id)
	return s
}

// Alerts returns what fires, as people read it.
func (s State) Alerts() []Alert { return sorted(slices.Collect(maps.Values(s.Firing))) }

// Count returns how many alerts of a name fire.
func (s State) Count(n Name) int {
	count := 0
	for _, a := range s.Firing {
		if a.Name == n {
			count++
		}
	}
	return count
}
