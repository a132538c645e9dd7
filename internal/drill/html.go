package drill

import (
	"fmt"
	"io"
	"time"

	"sluice/internal/report"
)

// HTML writes the reports as one page that needs nothing else: styles and charts are in it.
func (r *Reports) HTML(w io.Writer) error {
	p := report.Page{Title: "sluice drill"}
	if len(r.Drills) == 1 {
		p.Title += ": " + r.Drills[0].Scenario
	}
	for _, d := range r.Drills {
		p.Sections = append(p.Sections, d.section())
	}
	return p.Write(w)
}

func (r *Report) section() report.Section {
	s := report.Section{
		Name: r.Scenario, Word: r.word(), Good: r.OK, Head: r.headline(), When: r.StartedAt.Format(time.RFC3339),
		Notes: r.Notes, Lines: []string{r.Setup}, Grids: []report.Titled{{Grid: r.checkGrid()}},
	}
	if r.Fault != "" {
		s.Faults = []string{r.Fault}
	}
	for _, t := range r.Tables {
		s.Grids = append(s.Grids, report.Titled{Name: t.Name, Grid: t.Grid})
	}
	if r.Goodput != nil {
		s.Charts = append(s.Charts, r.Goodput.charts()...)
	}
	for _, c := range []*report.Chart{
		r.chart("The load level", r.Levels),
		r.chart("Messages by how they were answered, per half second of acceptance", r.Routes),
		r.chart("Calls that came to each vendor, per half second", r.Calls),
		r.chart("The longest wait until the route decision, ms, by the half second of acceptance", r.Waits),
	} {
		if c != nil {
			s.Charts = append(s.Charts, c)
		}
	}
	return s
}

// chart draws series over the seconds, with the phases as strokes.
func (r *Report) chart(name string, series []Series) *report.Chart {
	var curves []report.Curve
	for _, s := range series {
		c := report.Curve{Name: s.Name}
		for i, v := range s.Values {
			c.Points = append(c.Points, report.Point{X: float64(i) / 2, Y: v})
		}
		curves = append(curves, c)
	}
	if len(curves) == 0 {
		return nil
	}
	c := report.NewChart(name, report.High)
	most, last := c.Curves(curves...)
	c.Axes(most, last, "s")
	for _, p := range r.Phases {
		at := float64(p.AtMS) / 1000
		c.Stroke(min(at, float64(last)), float64(last), "quota", fmt.Sprintf("%.1f s: %s", at, p.Name))
	}
	if len(r.Phases) > 0 {
		c.Legend = append(c.Legend, report.Key{Class: "quota", Text: "a phase begins"})
	}
	return c
}
