package pulse

// Bounds of the names in a Total. There are some for each lane, route and vendor; what has
// no place is not counted.
const (
	maxCounts  = 400
	maxSpreads = 100
)

// mostGrowth is the most that one count may grow between two messages: what claims more is
// mad, and counts as nothing, so that no sum runs over.
const mostGrowth = 1 << 40

// Total is sums by name. It is not safe for concurrent use.
type Total struct {
	Counts  map[string]uint64 `json:"counts,omitempty"`
	Spreads map[string]Spread `json:"spreads,omitempty"`
}

func newTotal() Total { return Total{Counts: map[string]uint64{}, Spreads: map[string]Spread{}} }

// growth returns by how much a count has grown. One that is less than it was belongs to
// another life, and one that jumps is mad: both have grown by nothing.
func growth(before, now uint64) uint64 {
	if now < before || now-before > mostGrowth {
		return 0
	}
	return now - before
}

// count adds n to a count, if it has a place or gets one.
func (t Total) count(name string, n uint64) {
	if _, known := t.Counts[name]; known || len(t.Counts) < maxCounts {
		t.Counts[name] += n
	}
}

// merge adds a spread to one, if it has a place or gets one.
func (t Total) merge(name string, s *Spread) {
	sum, known := t.Spreads[name]
	if known || len(t.Spreads) < maxSpreads {
		sum.add(s)
		t.Spreads[name] = sum
	}
}

// add adds all of other.
func (t Total) add(other Total) {
	for name, n := range other.Counts {
		t.count(name, n)
	}
	for name, s := range other.Spreads {
		t.merge(name, &s)
	}
}

// since returns what has come since before. Nothing in it is negative.
func (t Total) since(before Total) Total {
	d := Total{Counts: make(map[string]uint64, len(t.Counts)), Spreads: make(map[string]Spread, len(t.Spreads))}
	for name, n := range t.Counts {
		d.Counts[name] = growth(before.Counts[name], n)
	}
	for name, s := range t.Spreads {
		former := before.Spreads[name]
		d.Spreads[name] = s.since(&former)
	}
	return d
}

// clone returns a copy that shares nothing.
func (t Total) clone() Total {
	all := newTotal()
	all.add(t)
	return all
}
