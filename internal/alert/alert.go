package alert

import (
	"slices"
	"time"
)

// Name says what is wrong. The rules for Prometheus have the same names and meanings.
type Name string

// What is watched.
const (
	PermitsBusy   Name = "permits_busy"   // a vendor's permits in use ÷ its limit
	PermitsSpent  Name = "permits_spent"  // the same, nearer to the limit
	Refusals      Name = "refusals"       // messages refused in the last five minutes
	BreakerOpen   Name = "breaker_open"   // the breaker of a vendor or tool
	LevelHigh     Name = "level_high"     // the load level
	WaitLong      Name = "wait_long"      // the longest wait of a lane ÷ its max_wait
	PromiseBroken Name = "promise_broken" // since the alert began
	DeadLetter    Name = "dead_letter"    // since the alert began
	NodeLost      Name = "node_lost"      // a process that is gone without a goodbye
	RecorderLag   Name = "recorder_lag"   // age of what is not in the ledger yet, in seconds
)

// Names returns every name, in the order in which alerts are told.
func Names() []Name {
	return []Name{PermitsSpent, BreakerOpen, PromiseBroken, DeadLetter, NodeLost, WaitLong, LevelHigh, Refusals, PermitsBusy, RecorderLag}
}

// Severity says how soon somebody should look.
type Severity string

// The severities.
const (
	Warning  Severity = "warning"  // within the working day
	Critical Severity = "critical" // now
)

// Severity returns that of every alert of the name.
func (n Name) Severity() Severity {
	switch n {
	case PermitsSpent, BreakerOpen, PromiseBroken, NodeLost, WaitLong:
		return Critical
	}
	return Warning
}

// happening reports whether the name tells of something that happens at one moment: it has
// no state that lasts, so the alert lasts for a while.
func (n Name) happening() bool { return n == PromiseBroken || n == DeadLetter }

// quiet is how long nothing must be wrong before the alert ends, so that what comes and goes
// is told once.
func (n Name) quiet() time.Duration {
	if n.happening() || n == NodeLost {
		return 0
	}
	return Quiet
}

// Alert is one thing that is wrong, or was.
type Alert struct {
	Key       string    `json:"key"` // name and target
	Name      Name      `json:"name"`
	Severity  Severity  `json:"severity"`
	Target    string    `json:"target"` // vendor, tool, lane or process; empty: the whole
	Since     time.Time `json:"since"`
	Value     float64   `json:"value"` // at SeenAt
	Threshold float64   `json:"threshold"`
	SeenAt    time.Time `json:"seen_at"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	// LastAt is when it happened last, where it is something that happens at one moment.
	LastAt time.Time `json:"last_at,omitzero"`
	// Told is when each webhook was told of it last, by its id. Of an alert that has ended
	// those are left that are to be told of the end.
	Told map[string]time.Time `json:"told,omitempty"`
}

func keyOf(n Name, target string) string {
	if target == "" {
		return string(n)
	}
	return string(n) + ":" + target
}

// sorted orders alerts as people read them: by name in the order of Names, then by target.
func sorted(all []Alert) []Alert {
	order := Names()
	slices.SortFunc(all, func(a, b Alert) int {
		if d := slices.Index(order, a.Name) - slices.Index(order, b.Name); d != 0 {
			return d
		}
		switch {
		case a.Target < b.Target:
			return -1
		case a.Target > b.Target:
			return 1
		}
		return a.Since.Compare(b.Since)
	})
	return all
}
