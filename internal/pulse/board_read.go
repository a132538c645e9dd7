package pulse

import "time"

// Recent is what was counted of late by all processes together.
type Recent struct {
	Minute  Total // the last minute
	Nodes   int   // processes that are heard
	Sockets int   // of these
}

// Recent returns what was counted in the last minute, up to 4 s ago. In the first minute
// after its start a board knows what came since.
func (b *Board) Recent() Recent {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := Recent{Minute: b.minute()}
	r.Nodes, r.Sockets = b.sum.Live(time.Now())
	return r
}

// Hour returns what was counted of a name in the last hour.
func (b *Board) Hour(name string) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return uint64(b.hour.Sum(name)) + growth(b.closed.Counts[name], b.sum.Total().Counts[name])
}

// History returns the charts of the last hour. Where nothing was drawn yet they are empty.
func (b *Board) History() History {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.hour.History()
	if b.hour.newest == 0 {
		h.Until = endOf(b.running - 1)
	}
	return h
}

// Point is the values of one step.
type Point struct {
	At     time.Time          `json:"at" doc:"the end of the step"`
	Values map[string]float64 `json:"values" doc:"by the names of the series; left out where nobody knows"`
}

// After returns the steps of the last hour that ended after at, oldest first, and what is
// closed when there is a further one.
func (b *Board) After(at time.Time) ([]Point, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Point
	for step := max(stepOf(at), b.hour.newest-int64(Steps)+1, 1); step <= b.hour.newest; step++ {
		all = append(all, Point{At: endOf(step), Values: b.hour.values(step)})
	}
	return all, b.changed
}
