package control

import (
	"time"

	"sluice/internal/chat"
)

// firstHold is what a permit's time in use is taken for before any was measured.
const firstHold = time.Second

// leastHold is the shortest time that a call takes: a permit that comes back sooner was
// not used, and tells nothing.
const leastHold = 5 * time.Millisecond

// holdWeight is the share of the newest measurement in the moving mean.
const holdWeight = 0.05

// standing returns a waiting ticket's place in the line and when it may expect its
// turn; position 0: it does not wait. Both are estimates.
func (s *server) standing(ticket string, now time.Time) place {
	position, ok := s.table.Place(ticket, now)
	if !ok {
		return place{}
	}
	return place{Position: position, ETA: s.eta(position)}
}

// behind returns the place that a new ticket of a lane would have.
func (s *server) behind(lane chat.Lane, now time.Time) place {
	position := s.table.Behind(lane, now)
	return place{Position: position, ETA: s.eta(position)}
}

// eta estimates how long the one at a place waits: permits come back at the rate of
// limit ÷ mean hold.
func (s *server) eta(position int) time.Duration {
	free := 0
	for vendor := range s.cfg.Limits {
		used, limit := s.table.InUse(vendor)
		free += max(0, limit-used)
	}
	mean := s.mean
	if mean == 0 {
		mean = firstHold
	}
	ahead := max(0, position-free)
	return time.Duration(float64(ahead) * float64(mean) / float64(s.table.Limit()))
}

// observe learns how long a permit was held.
func (s *server) observe(held time.Duration) {
	if held < leastHold {
		return
	}
	if s.mean == 0 {
		s.mean = held
		return
	}
	s.mean += time.Duration(holdWeight * float64(held-s.mean))
}
