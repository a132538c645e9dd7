package valve

import "time"

// meter is the level that the tickets of one lane feel. It rises at once; it falls by one
// when for the hold nothing has asked for it, counted from its last change too.
type meter struct {
	level int
	since time.Time      // of the last change
	asked [Top]time.Time // when a condition of each level was met last, those above counted in
}

// look takes in what the conditions ask for at now and returns the level before.
func (m *meter) look(wanted int, hold time.Duration, now time.Time) (before int) {
	before = m.level
	for k := range wanted {
		m.asked[k] = now
	}
	switch {
	case wanted > m.level:
		m.level, m.since = wanted, now
	case m.level > 0 && !now.Before(m.fallsAt(hold)):
		m.level, m.since = m.level-1, now
	}
	return before
}

// fallsAt returns when the level falls by one if nothing asks for it until then.
func (m *meter) fallsAt(hold time.Duration) time.Time {
	at := m.since
	if asked := m.asked[m.level-1]; asked.After(at) {
		at = asked
	}
	return at.Add(hold)
}
