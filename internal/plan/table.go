package plan

import (
	"fmt"
	"io"
	"strings"
	"time"

	"sluice/internal/report"
)

// Table writes the plan for people.
func (p *Plan) Table(out io.Writer) error {
	var b strings.Builder
	g := report.Grid{{"vendor", "permits", "elastic", "calls/s", "limited by", "usable"}}
	for _, v := range p.Vendors {
		g = append(g, []string{v.Name, fmt.Sprint(v.Permits), fmt.Sprint(v.Elastic), fmt.Sprintf("%.1f", v.Calls), v.By, fmt.Sprint(v.Used)})
	}
	g.Write(&b)
	b.WriteString("\n")
	report.Grid{
		{"all together", ""},
		{"answers of vendors a second", fmt.Sprintf("%.1f", p.Capacity)},
		{"of that in use", fmt.Sprintf("%.0f%%", 100*p.Busy)},
		{"messages that wait at all", fmt.Sprintf("%.1f%%", 100*p.Waiting)},
		{"wait p50, p95, p99", wait(p.P50MS) + ", " + wait(p.P95MS) + ", " + wait(p.P99MS)},
		{"advised rate", fmt.Sprintf("up to %.1f messages a second", p.Best)},
	}.Write(&b)
	b.WriteString("\n")
	g = report.Grid{{"lane", "bound", "max_wait", "begun within it", "overdue"}}
	for _, l := range p.Lanes {
		g = append(g, []string{string(l.Lane), fmt.Sprint(l.Bound), wait(l.MaxWait), fmt.Sprint(l.Answered), fmt.Sprintf("%.2f%%", 100*l.Overdue)})
	}
	g.Write(&b)
	for _, line := range p.Advice {
		b.WriteString("\n" + line)
	}
	if len(p.Advice) > 0 {
		b.WriteString("\n")
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return nil
}

func wait(ms int64) string {
	if ms < 0 {
		return "without end"
	}
	return (time.Duration(ms) * time.Millisecond).String()
}
