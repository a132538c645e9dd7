package gate

import (
	"maps"
	"time"
)

// WindowSnapshot is what another controller must know of a window, oldest part first.
// Times are durations from the moment of the snapshot; what passes until it is
// restored does not count, so what was spent counts longer by that, never shorter.
type WindowSnapshot []WindowPart

// WindowPart is what was spent within a short time.
type WindowPart struct {
	Ago  time.Duration  `json:"ago"`            // the last of it
	Span time.Duration  `json:"span,omitempty"` // from the first of it to the last
	Used int            `json:"used"`
	Open map[uint64]int `json:"open,omitempty"` // reservations that are not settled yet
}

func (s *spending) snapshot(now time.Time) WindowSnapshot {
	s.trim(now)
	all := make(WindowSnapshot, 0, len(s.parts.parts))
	for _, p := range s.parts.parts {
		if p.sum.used > 0 || len(p.sum.open) > 0 {
			all = append(all, WindowPart{
				Ago: now.Sub(p.last), Span: p.last.Sub(p.first), Used: p.sum.used, Open: maps.Clone(p.sum.open),
			})
		}
	}
	return all
}

// restore replaces what the window knows, part by part: parts that grew together with
// each change of controller would count ever longer. One in the wrong place counts as
// if it were as young as the order allows.
func (s *spending) restore(all WindowSnapshot, now time.Time) {
	s.used, s.parts.parts = 0, make([]part[spent], 0, len(all))
	youngest := s.parts.length
	for _, p := range all {
		youngest = min(youngest, max(p.Ago, 0))
		last := now.Add(-youngest)
		used := min(max(p.Used, 0), mostAtOnce)
		s.parts.parts = append(s.parts.parts, part[spent]{
			first: last.Add(-max(p.Span, 0)), last: last,
			sum: spent{used: used, open: within(used, p.Open)},
		})
		s.used += used
	}
	s.trim(now)
}

// within returns a copy of open whose reservations together are not more than used.
func within(used int, open map[uint64]int) map[uint64]int {
	open = maps.Clone(open)
	for id, reserved := range open {
		open[id] = min(max(reserved, 0), used)
		used -= open[id]
	}
	return open
}
