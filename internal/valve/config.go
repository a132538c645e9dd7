package valve

import "time"

// Top is the highest level.
const Top = 3

// Config is what the rules say of the levels.
type Config struct {
	// Levels are the conditions of the levels 1, 2 and 3; the zero value of one is never met.
	Levels [Top]Threshold
	// Window is the past from which errors and times to the first token are taken, and
	// MinCalls how many calls it must hold to mean anything.
	Window   time.Duration
	MinCalls int
	// Hold is how long no condition of a level must be met before it falls by one.
	Hold time.Duration
	// Force is an operator's level; nil: none.
	Force *Force
}

// Threshold is what raises to a level: any one of its parts. One that is 0 raises nothing.
type Threshold struct {
	Depth  float64       // of a lane ÷ its bound
	Errors float64       // part of the calls of the window
	P99    time.Duration // time to the first token, over the window
	Wait   time.Duration // of the ticket that has waited longest
}

// Force is a level until an instant, whatever is measured.
type Force struct {
	Level int
	Until time.Time
}

// on reports whether the force holds at now.
func (f *Force) on(now time.Time) bool { return f != nil && now.Before(f.Until) }
