package control

import (
	"maps"

	"sluice/internal/chat"
)

// levels is the load level that a ticket of each lane feels, as this process knows it.
// Member.mu guards it.
type levels struct {
	by      map[chat.Lane]int // missing: 0
	changed chan struct{}     // closed when they change
}

func newLevels() levels { return levels{changed: make(chan struct{})} }

// set takes over what the controller says.
func (l *levels) set(by map[chat.Lane]int) {
	if maps.Equal(l.by, by) {
		return
	}
	l.by = maps.Clone(by)
	close(l.changed)
	l.changed = make(chan struct{})
}

// Level returns the load level that a ticket of a lane feels, 0 to 3, and what is closed
// when a level changes. While no controller is heard the last word holds.
func (m *Member) Level(lane chat.Lane) (level int, changed <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.levels.by[lane], m.levels.changed
}
