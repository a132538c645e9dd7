package alert

import (
	"slices"
	"time"
)

// Times and bounds of all alerts.
const (
	// Quiet is how long what was wrong must not be so before its alert ends.
	Quiet = time.Minute
	// Gap is the longest between two looks over which something counts as one stretch.
	Gap = 10 * time.Second
	// Group is how long the first news waits for others, to be told in one message.
	Group = 5 * time.Second
	// MissingFor is how long a process must be missing before it counts as lost.
	MissingFor = 10 * time.Second

	// MaxFiring bounds the alerts at once; what is wrong beyond it fires when there is room.
	MaxFiring = 200
	// MaxRecent bounds the alerts that have ended and are kept; the oldest go.
	MaxRecent = 100
	// MaxNodes bounds the processes that are known; further ones are not watched.
	MaxNodes = 1000

	refresh = time.Minute // of the value of an alert that fires
)

// Share is a part of a whole that must not be exceeded for so long.
type Share struct {
	Above float64
	For   time.Duration
}

// Rules says what fires.
type Rules struct {
	Busy     Share         // permits in use ÷ limit
	Spent    Share         // the same
	Refusals int           // more in five minutes
	Level    int           // at least
	Wait     float64       // more than so many times the lane's max_wait
	Lag      time.Duration // more
	Lasts    time.Duration // of an alert about something that happened at one moment
	Off      []Name        // what is not watched
}

func (r Rules) watches(n Name) bool { return !slices.Contains(r.Off, n) }
