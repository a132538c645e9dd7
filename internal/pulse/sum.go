package pulse

import "time"

// Times and bounds of what is known of processes.
const (
	// silentAfter is when a process counts as gone.
	silentAfter = 6 * time.Second
	// forgetAfter is when what it has counted so far is forgotten: one that comes back
	// later counts from then on.
	forgetAfter = time.Hour
	// maxNodes is how many processes are known at once; what a further one counts is left
	// out until another one is forgotten.
	maxNodes = 1000
)

// Sum adds up what all processes have counted since it began to listen. It is not safe for
// concurrent use; time comes in by now.
type Sum struct {
	began time.Time
	total Total
	nodes map[string]*process
}

// process is what is known of one.
type process struct {
	Beat    // the newest
	heardAt time.Time
}

// NewSum returns a sum of nothing that begins at now.
func NewSum(now time.Time) *Sum {
	return &Sum{began: now, total: newTotal(), nodes: map[string]*process{}}
}

// Take takes in a beat. What a process counted before the sum began is not counted, unless
// it is so young that it began with it. No beat makes any sum smaller.
func (s *Sum) Take(b Beat, now time.Time) {
	p := s.nodes[b.Node]
	switch {
	case p == nil && len(s.nodes) >= maxNodes:
		return
	case p == nil:
		p = &process{}
		s.nodes[b.Node] = p
		if b.Age > now.Sub(s.began)+beatEvery {
			p.Total = b.Total
		}
	case b.N <= p.N:
		return
	}
	s.total.add(b.Total.since(p.Total))
	p.Beat, p.heardAt = b, now
}

// Total returns the sums so far. The caller does not change them.
func (s *Sum) Total() Total { return s.total }

// Live returns how many processes there are at now, and their sockets.
func (s *Sum) Live(now time.Time) (processes, sockets int) {
	for name, p := range s.nodes {
		switch silence := now.Sub(p.heardAt); {
		case silence >= forgetAfter:
			delete(s.nodes, name)
		case silence < silentAfter:
			processes++
			sockets += p.Sockets
		}
	}
	return processes, sockets
}
