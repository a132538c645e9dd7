package rules

import "time"

// Valve says when messages are answered with less.
type Valve struct {
	// Levels are the conditions of levels 1, 2 and 3: exactly three, each number above
	// the one of the level before.
	Levels []Level `yaml:"levels"`
	// Window is the past that errors and p99 are taken from, at least 1s. Defaults to 5m.
	Window time.Duration `yaml:"window"`
	// MinCalls is how many calls the window must hold to mean anything, at least 1.
	// Defaults to 20.
	MinCalls int `yaml:"min_calls"`
	// Hold is how long a level lasts before it falls by one, at least 1s. Defaults to 2m.
	Hold time.Duration `yaml:"hold"`
	// Force is an operator's level; nil: none, the default.
	Force *Force `yaml:"force"`
	// UrgentWait is how long an urgent ticket that no vendor can take stays after its
	// handoff message, at least 1s. Defaults to 30s.
	UrgentWait time.Duration `yaml:"urgent_wait"`
	// UrgentShare is the part of a tenant's traffic beyond which urgent keeps its own
	// lane, above 0 and at most 1. Defaults to 0.5.
	UrgentShare float64 `yaml:"urgent_share"`
	// Shadow is the part of the agent's answers at level 0 on which the lower rungs are
	// tried unseen, 0 to 1. Defaults to 0.01.
	Shadow float64 `yaml:"shadow"`
}

// Level is the set of conditions of one level; any one of them raises to it.
type Level struct {
	Depth  float64       `yaml:"depth"`  // depth ÷ bound, above 0 and at most 1
	Errors float64       `yaml:"errors"` // part of the calls, above 0 and at most 1
	P99    time.Duration `yaml:"p99"`    // time to first token, above 0
	Wait   time.Duration `yaml:"wait"`   // of the oldest that waits, above 0
}

// Force holds the level until an instant.
type Force struct {
	Level int       `yaml:"level"` // 0 to 3. Required.
	Until time.Time `yaml:"until"` // RFC 3339. Required.
}
