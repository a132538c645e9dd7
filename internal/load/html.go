package load

import (
	"io"
	"time"

	"sluice/internal/report"
)

// HTML writes the report as one page that needs nothing else: styles and charts are in it.
func (r *Report) HTML(w io.Writer) error {
	s := report.Section{
		Name: r.Scenario, Word: r.word(), Good: r.OK(), Head: r.headline(), When: r.StartedAt.Format(time.RFC3339),
		Faults: r.faults(), Notes: r.Notes,
	}
	if use := r.useLine(); use != "" {
		s.Lines = []string{use}
	}
	for _, c := range []*report.Chart{r.waitChart(), r.paceChart(), r.vendorChart(), r.flightChart()} {
		if c != nil {
			s.Charts = append(s.Charts, c)
		}
	}
	s.Grids = []report.Titled{{Grid: r.ticketGrid()}, {Grid: r.timeGrid()}, {Grid: r.vendorGrid()}}
	if len(r.LostSample) > 0 {
		lost := report.Grid{{"ticket", "session", "lane", "last seen", "why"}}
		for _, l := range r.LostSample {
			lost = append(lost, []string{l.Ticket, l.Session, string(l.Lane), string(l.Status), l.Why})
		}
		s.Grids = append(s.Grids, report.Titled{Name: "Lost", Grid: lost})
	}
	return report.Page{Title: "sluice load: " + r.Scenario + " " + r.Run, Sections: []report.Section{s}}.Write(w)
}
