package drill

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"sluice/internal/report"
)

// Reports are what the drills of a run found. They are plain data: what is shown is all
// here.
type Reports struct {
	OK     bool      `json:"ok"`
	Drills []*Report `json:"drills"`
}

// Report is what one drill found.
type Report struct {
	Scenario  string    `json:"scenario"`
	About     string    `json:"about"`
	Setup     string    `json:"setup"`
	Quick     bool      `json:"quick"`
	StartedAt time.Time `json:"started_at"`
	TookMS    int64     `json:"took_ms"`
	OK        bool      `json:"ok"`

	// Fault says why the drill could not be played to its end; empty: it was.
	Fault string `json:"fault,omitempty"`

	Phases  []Phase  `json:"phases"`
	Checks  []Check  `json:"checks"`
	Tables  []Table  `json:"tables"`
	Calls   []Series `json:"calls,omitempty"`   // that came to each vendor, per half second
	Waits   []Series `json:"waits,omitempty"`   // the longest, in ms, by the half second of acceptance
	Levels  []Series `json:"levels,omitempty"`  // the highest that a message felt, of the drill degrade
	Routes  []Series `json:"routes,omitempty"`  // messages by how they were answered, per half second of acceptance, of the same
	Goodput *Goodput `json:"goodput,omitempty"` // of the drill of that name
	Notes   []string `json:"notes"`
}

// Phase is a part of a drill.
type Phase struct {
	Name string `json:"name"`
	AtMS int64  `json:"at_ms"` // after the load began
}

// Check is one promise: its bound, and what was measured.
type Check struct {
	Name     string `json:"name"`
	Bound    string `json:"bound"`
	Measured string `json:"measured"`
	OK       bool   `json:"ok"`
}

// Table is a grid with a name.
type Table struct {
	Name string      `json:"name"`
	Grid report.Grid `json:"grid"`
}

// Series is a value for each half second.
type Series struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// judge sets the verdict, once everything was measured.
func (r *Report) judge() {
	r.OK = r.Fault == "" && len(r.Checks) > 0
	for _, c := range r.Checks {
		r.OK = r.OK && c.OK
	}
}

// failures names what went wrong.
func (r *Report) failures() (all []string) {
	if r.Fault != "" {
		all = append(all, r.Fault)
	}
	for _, c := range r.Checks {
		if !c.OK {
			all = append(all, fmt.Sprintf("%s: %s, want %s", c.Name, c.Measured, c.Bound))
		}
	}
	return all
}

func (r *Report) word() string {
	if r.OK {
		return "PASS"
	}
	return "FAIL"
}

// JSON writes the reports as indented JSON.
func (r *Reports) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
