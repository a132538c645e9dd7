package drill

import (
	"fmt"
	"io"
	"strings"
	"time"

	"sluice/internal/report"
)

// Table writes the report as aligned text: what was measured, the checks and the verdict.
func (r *Report) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", r.headline(), r.Setup)
	for _, t := range r.Tables {
		fmt.Fprintf(&b, "\n%s\n", t.Name)
		t.Grid.Write(&b)
	}
	if len(r.Checks) > 0 {
		b.WriteByte('\n')
		r.checkGrid().Write(&b)
	}
	b.WriteByte('\n')
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	if r.Fault != "" {
		fmt.Fprintf(&b, "fault: %s\n", r.Fault)
	}
	fmt.Fprintf(&b, "verdict: %s %s\n", r.word(), r.Scenario)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func (r *Report) headline() string {
	length := "full"
	if r.Quick {
		length = "quick"
	}
	took := time.Duration(r.TookMS) * time.Millisecond
	return fmt.Sprintf("drill %s (%s, %s): %s", r.Scenario, length, took.Round(100*time.Millisecond), r.About)
}

func (r *Report) checkGrid() report.Grid {
	g := report.Grid{{"check", "bound", "measured", ""}}
	for _, c := range r.Checks {
		word := "PASS"
		if !c.OK {
			word = "FAIL"
		}
		g = append(g, []string{c.Name, c.Bound, c.Measured, word})
	}
	return g
}

// Table writes one line for each drill.
func (r *Reports) Table(w io.Writer) error {
	g := report.Grid{{"drill", "took", "checks", ""}}
	for _, d := range r.Drills {
		kept := 0
		for _, c := range d.Checks {
			if c.OK {
				kept++
			}
		}
		took := time.Duration(d.TookMS) * time.Millisecond
		g = append(g, []string{d.Scenario, took.Round(time.Second).String(), fmt.Sprintf("%d of %d", kept, len(d.Checks)), d.word()})
	}
	var b strings.Builder
	b.WriteByte('\n')
	g.Write(&b)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}
