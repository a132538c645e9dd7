package load

import (
	"fmt"
	"maps"
	"slices"

	"sluice/internal/report"
)

// barRow is the height of a vendor's row in its chart.
const barRow = 34.0

// waitChart draws how the waits lie.
func (r *Report) waitChart() *report.Chart {
	if len(r.WaitCount) == 0 {
		return nil
	}
	c := report.NewChart("Waits until the route decision, tickets by milliseconds", report.High)
	most, from := int64(1), int64(0)
	for _, b := range r.WaitCount {
		most = max(most, int64(b.Count))
	}
	wide := (c.RightX - c.LeftX) / float64(len(r.WaitCount))
	for i, b := range r.WaitCount {
		y := c.Y(float64(b.Count), most)
		c.Bars = append(c.Bars, report.Bar{
			X: c.LeftX + float64(i)*wide + 1, Y: y, W: max(wide-2, 0.5), H: c.BaseY - y, Class: "s0",
			Tip: fmt.Sprintf("%d to %d ms: %d tickets", from, b.UpToMS, b.Count),
		})
		from = b.UpToMS
	}
	c.Axes(most, from, "ms")
	return c
}

// paceChart draws what came in and what ended, and the vendors' completed calls.
func (r *Report) paceChart() *report.Chart {
	if len(r.Series) == 0 {
		return nil
	}
	c := report.NewChart("Throughput, per second", report.High)
	curves := []report.Curve{
		r.curve("tickets accepted", func(s Second) int { return s.Accepted }),
		r.curve("tickets ended", func(s Second) int { return s.Ended }),
	}
	if r.Capacity.Measured {
		curves = append(curves, r.curve("calls completed by vendors", func(s Second) int { return sum(s.Completed) }))
	}
	draw(c, curves)
	return c
}

// flightChart draws the calls in flight at each vendor.
func (r *Report) flightChart() *report.Chart {
	names := map[string]bool{}
	for _, s := range r.Series {
		for name := range s.InFlight {
			names[name] = true
		}
	}
	if len(names) == 0 {
		return nil
	}
	c := report.NewChart("Calls in flight by vendor, the most in each second", report.High)
	var curves []report.Curve
	for _, name := range slices.Sorted(maps.Keys(names)) {
		curves = append(curves, r.curve(name, func(s Second) int { return s.InFlight[name] }))
	}
	draw(c, curves)
	return c
}

// curve is one value of each second.
func (r *Report) curve(name string, of func(Second) int) report.Curve {
	c := report.Curve{Name: name}
	for _, s := range r.Series {
		c.Points = append(c.Points, report.Point{X: float64(s.At), Y: float64(of(s))})
	}
	return c
}

func draw(c *report.Chart, curves []report.Curve) {
	most, last := c.Curves(curves...)
	c.Axes(most, last, "s")
}

// vendorChart draws the most calls in flight of each vendor beside its limit and quota.
func (r *Report) vendorChart() *report.Chart {
	most, measured := 1, []VendorLine{}
	for _, v := range r.Vendors {
		if v.Measured {
			measured = append(measured, v)
			most = max(most, v.Limit, v.Quota, v.MaxInFlight)
		}
	}
	if len(measured) == 0 {
		return nil
	}
	c := report.NewChart("Most calls in flight against limit and quota", barRow*float64(len(measured))+12)
	c.LeftX, c.RightX = 110, report.Wide-70
	c.Legend = []report.Key{
		{Class: "s0", Text: "most in flight"}, {Class: "mean", Text: "mean while tickets waited"},
		{Class: "limit", Text: "limit"}, {Class: "quota", Text: "quota"},
	}
	wide := func(n float64) float64 { return n / float64(most) * (c.RightX - c.LeftX) }
	for i, v := range measured {
		y := 8 + barRow*float64(i)
		c.Ticks = append(c.Ticks,
			report.Label{X: c.LeftX - 8, Y: y + 16, Anchor: "end", Text: v.Name},
			report.Label{X: report.Wide - 4, Y: y + 16, Anchor: "end", Text: fmt.Sprintf("%d / %s", v.MaxInFlight, known(v.Limit))})
		c.Bars = append(c.Bars,
			report.Bar{X: c.LeftX, Y: y, W: wide(float64(v.MaxInFlight)), H: 22, Class: "s0", Tip: fmt.Sprintf("%s: at most %d in flight", v.Name, v.MaxInFlight)},
			report.Bar{X: c.LeftX, Y: y + 8, W: wide(v.Use.Mean), H: 6, Class: "mean", Tip: fmt.Sprintf("%s: %.1f on average", v.Name, v.Use.Mean)})
		stroke := func(class string, n int) {
			if n > 0 {
				c.Marks = append(c.Marks, report.Mark{X: c.LeftX + wide(float64(n)), Y: y - 3, Y2: y + 25, Class: class, Tip: fmt.Sprintf("%s: %s %d", v.Name, class, n)})
			}
		}
		stroke("quota", v.Quota)
		stroke("limit", v.Limit)
	}
	c.BaseY = c.Height - 2
	return c
}

func sum(of map[string]int) (n int) {
	for _, count := range of {
		n += count
	}
	return n
}
