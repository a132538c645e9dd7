package load

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"time"
)

//go:embed report.html
var reportPage string

// view is what the page shows.
type view struct {
	*Report
	Word   string
	Head   string
	When   string
	Use    string
	Faults []string
	Grids  []grid
	Charts []*chart
}

// HTML writes the report as one page that needs nothing else: styles and charts are in it.
func (r *Report) HTML(w io.Writer) error {
	page, err := template.New("report").Parse(reportPage)
	if err != nil {
		return fmt.Errorf("parse report page: %w", err)
	}
	v := view{
		Report: r, Word: r.word(), Head: r.headline(), When: r.StartedAt.Format(time.RFC3339),
		Use: r.useLine(), Faults: r.faults(), Grids: []grid{r.ticketGrid(), r.timeGrid(), r.vendorGrid()},
	}
	for _, c := range []*chart{r.waitChart(), r.paceChart(), r.vendorChart(), r.flightChart()} {
		if c != nil {
			v.Charts = append(v.Charts, c)
		}
	}
	if err := page.Execute(w, v); err != nil {
		return fmt.Errorf("write report page: %w", err)
	}
	return nil
}
