package control

import (
	"time"

	"sluice/internal/chat"
)

// standing returns a waiting ticket's place in the line and when it may expect its
// turn; position 0: it does not wait. Both are estimates.
func (s *server) standing(ticket string, now time.Time) place {
	position, ok := s.table.Place(ticket, now)
	if !ok {
		return place{}
	}
	return place{Position: position, ETA: s.table.Expect(position, now)}
}

// behind returns the place that a new ticket of a lane would have.
func (s *server) behind(lane chat.Lane, now time.Time) place {
	position := s.table.Behind(lane, now)
	return place{Position: position, ETA: s.table.Expect(position, now)}
}
