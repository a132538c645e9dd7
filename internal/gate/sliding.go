package gate

import "time"

// sliding keeps what happened in the last length of time, in parts. What comes within
// width of the first thing in a part joins that part, and a part leaves length after
// its last thing: so a thing counts up to width longer than length and never shorter,
// and there are never more than length/width + 2 parts.
type sliding[T any] struct {
	length, width time.Duration
	parts         []part[T] // oldest first
}

type part[T any] struct {
	first, last time.Time
	sum         T
}

// at returns the part that now belongs to. What is to leave must have left before.
func (s *sliding[T]) at(now time.Time) *T {
	if n := len(s.parts); n > 0 && now.Sub(s.parts[n-1].first) < s.width {
		p := &s.parts[n-1]
		if now.After(p.last) {
			p.last = now
		}
		return &p.sum
	}
	s.parts = append(s.parts, part[T]{first: now, last: now})
	return &s.parts[len(s.parts)-1].sum
}

// leave takes out the parts that are over at now and returns them. The window is open
// at its far end: what happened exactly length ago is over.
func (s *sliding[T]) leave(now time.Time) []part[T] {
	n := 0
	for n < len(s.parts) && !now.Before(s.over(n)) {
		n++
	}
	gone := s.parts[:n]
	s.parts = s.parts[n:]
	return gone
}

// over returns when part i leaves.
func (s *sliding[T]) over(i int) time.Time { return s.parts[i].last.Add(s.length) }
