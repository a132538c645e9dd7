package gate

import (
	"slices"
	"time"
)

// mostAtOnce keeps a count from outside, however mad, from overflowing a sum.
const mostAtOnce = 1 << 30

// spending is what was spent of a limit in a sliding window. It counts without a limit
// as well, so that one that is set later knows what went before.
type spending struct {
	limit int // 0: none
	used  int // in the window
	parts sliding[spent]
}

// spent is what was spent in one part. open holds the reservations in it that are not
// settled yet; they leave with the part, and nothing else remembers them.
type spent struct {
	used int
	open map[uint64]int
}

func newSpending(length, width time.Duration) spending {
	return spending{parts: sliding[spent]{length: length, width: width}}
}

func (s *spending) trim(now time.Time) {
	for _, p := range s.parts.leave(now) {
		s.used -= p.sum.used
	}
}

// clamp makes n an amount that can be spent: not negative, and never more than the
// whole window.
func (s *spending) clamp(n int) int {
	n = min(max(n, 0), mostAtOnce)
	if s.limit > 0 {
		n = min(n, s.limit)
	}
	return n
}

func (s *spending) room(now time.Time, n int) bool {
	s.trim(now)
	return s.limit == 0 || s.used+s.clamp(n) <= s.limit
}

// add counts n at now and returns where.
func (s *spending) add(n int, now time.Time) *spent {
	s.trim(now)
	at := s.parts.at(now)
	at.used += n
	s.used += n
	return at
}

// settle puts used in the place of a reservation, where that was made, and returns what
// was used beyond it.
func (s *spending) settle(id uint64, used int) (beyond int) {
	for i := range slices.Backward(s.parts.parts) { // most calls are short
		at := &s.parts.parts[i].sum
		reserved, open := at.open[id]
		if !open {
			continue
		}
		delete(at.open, id)
		free := max(reserved-used, 0)
		at.used -= free
		s.used -= free
		return max(used-reserved, 0)
	}
	return 0
}

// nextAt returns the first moment from now on with room for n, if nothing more is
// spent until then.
func (s *spending) nextAt(now time.Time, n int) time.Time {
	if s.room(now, n) {
		return now
	}
	n, used := s.clamp(n), s.used
	for i, p := range s.parts.parts {
		if used -= p.sum.used; used+n <= s.limit {
			return s.parts.over(i)
		}
	}
	return now // not reached: an empty window has room for whatever clamp lets through
}
