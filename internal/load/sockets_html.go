package load

import (
	"fmt"
	"io"
	"time"

	"sluice/internal/report"
)

// HTML writes the report as one page that needs nothing else: styles and charts are in it.
func (r *SocketsReport) HTML(w io.Writer) error {
	s := report.Section{
		Name: r.Scenario, Word: r.word(), Good: r.OK(), Head: r.headline(), When: r.StartedAt.Format(time.RFC3339),
		Faults: r.faults(), Notes: r.Notes,
	}
	if len(r.Series) > 0 {
		s.Charts = []*report.Chart{
			r.chart("Sockets that are open", r.curve("sockets", func(l SocketSecond) float64 { return float64(l.Open) })),
			r.chart("Messages, per second", r.curve("acknowledged", func(l SocketSecond) float64 { return l.Acks }),
				r.curve("ended", func(l SocketSecond) float64 { return l.Answers })),
		}
	}
	s.Charts = append(s.Charts, spreadChart("From a message to its ack", r.AckMS, r.AckCount)...)
	s.Charts = append(s.Charts, spreadChart("From a message to its final event", r.AnswerMS, r.AnswerCount)...)
	if r.Server.Measured {
		s.Charts = append(s.Charts,
			r.chart("Resident memory of the instance, MiB", r.curve("MiB", func(l SocketSecond) float64 { return float64(l.Bytes) / (1 << 20) })),
			r.chart("Processor time of the instance, % of one processor", r.curve("%", func(l SocketSecond) float64 { return 100 * l.CPU })))
	}
	s.Grids = []report.Titled{{Grid: r.countGrid()}, {Grid: r.timeGrid()}}
	if g := r.serverGrid(); g != nil {
		s.Grids = append(s.Grids, report.Titled{Grid: g})
	}
	return report.Page{Title: "sluice load: sockets on " + r.Target, Sections: []report.Section{s}}.Write(w)
}

func (r *SocketsReport) chart(name string, curves ...report.Curve) *report.Chart {
	c := report.NewChart(name, report.High)
	draw(c, curves)
	return c
}

// curve is one value of each look.
func (r *SocketsReport) curve(name string, of func(SocketSecond) float64) report.Curve {
	c := report.Curve{Name: name}
	for _, l := range r.Series {
		c.Points = append(c.Points, report.Point{X: l.At, Y: of(l)})
	}
	return c
}

// spreadChart draws how times lie, with strokes at their percentiles; of none, nothing.
func spreadChart(name string, of Spread, counts []Bucket) []*report.Chart {
	if len(counts) == 0 {
		return nil
	}
	c := report.NewChart(name+", messages by milliseconds", report.High)
	most, from := int64(1), int64(0)
	for _, b := range counts {
		most = max(most, int64(b.Count))
	}
	last := counts[len(counts)-1].UpToMS
	wide := (c.RightX - c.LeftX) / float64(len(counts))
	for i, b := range counts {
		y := c.Y(float64(b.Count), most)
		c.Bars = append(c.Bars, report.Bar{
			X: c.LeftX + float64(i)*wide + 1, Y: y, W: max(wide-2, 0.5), H: c.BaseY - y, Class: "s0",
			Tip: fmt.Sprintf("%d to %d ms: %d messages", from, b.UpToMS, b.Count),
		})
		from = b.UpToMS
	}
	c.Axes(most, last, "ms")
	for _, p := range []struct {
		name string
		at   int64
	}{{"p50", of.P50}, {"p95", of.P95}, {"p99", of.P99}} {
		c.Stroke(float64(p.at), float64(last), "limit", fmt.Sprintf("%s: %d ms", p.name, p.at))
	}
	c.Legend = append(c.Legend, report.Key{Class: "limit", Text: fmt.Sprintf("p50 %d, p95 %d, p99 %d ms", of.P50, of.P95, of.P99)})
	return []*report.Chart{c}
}
