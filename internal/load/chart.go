package load

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The room of a chart, in the units of its SVG.
const (
	chartWide = 720.0
	chartHigh = 220.0
	leftRoom  = 48.0
	lowRoom   = 26.0
	topRoom   = 8.0
	barRow    = 34.0
)

// chart is a picture as plain shapes; the page draws them.
type chart struct {
	Name          string
	Width, Height float64
	Bars          []bar
	Lines         []line
	Marks         []mark
	Ticks         []label // on the axes and beside the bars
	Legend        []key
	BaseY, LeftX  float64
	RightX        float64
}

type bar struct {
	X, Y, W, H float64
	Class, Tip string
}

type line struct{ Points, Class, Tip string }

// mark is an upright stroke, such as a limit.
type mark struct {
	X, Y, Y2   float64
	Class, Tip string
}

type label struct {
	X, Y         float64
	Anchor, Text string
}

type key struct{ Class, Text string }

func newChart(name string, height float64) *chart {
	return &chart{Name: name, Width: chartWide, Height: height, LeftX: leftRoom, RightX: chartWide - 8, BaseY: height - lowRoom}
}

// axes puts numbers on both axes: up to most upwards, and from 0 to last to the right, in unit.
func (c *chart) axes(most, last int64, unit string) {
	step := max(roundUp(float64(most)/4), 1)
	for n := int64(0); n <= most; n += step {
		c.Ticks = append(c.Ticks, label{c.LeftX - 6, c.y(float64(n), most) + 4, "end", strconv.FormatInt(n, 10)})
	}
	across := max(roundUp(float64(last)/6), 1)
	for n := int64(0); n <= last; n += across {
		x := c.LeftX + float64(n)/float64(max(last, 1))*(c.RightX-c.LeftX)
		c.Ticks = append(c.Ticks, label{x, c.Height - 8, "middle", strconv.FormatInt(n, 10)})
	}
	c.Ticks = append(c.Ticks, label{c.LeftX - 6, c.Height - 8, "end", unit})
}

func (c *chart) y(n float64, most int64) float64 {
	return c.BaseY - n/float64(max(most, 1))*(c.BaseY-topRoom)
}

// waitChart draws how the waits lie.
func (r *Report) waitChart() *chart {
	if len(r.WaitCount) == 0 {
		return nil
	}
	c := newChart("Waits until the route decision, tickets by milliseconds", chartHigh)
	most, from := int64(1), int64(0)
	for _, b := range r.WaitCount {
		most = max(most, int64(b.Count))
	}
	wide := (c.RightX - c.LeftX) / float64(len(r.WaitCount))
	for i, b := range r.WaitCount {
		y := c.y(float64(b.Count), most)
		c.Bars = append(c.Bars, bar{
			c.LeftX + float64(i)*wide + 1, y, max(wide-2, 0.5), c.BaseY - y, "s0",
			fmt.Sprintf("%d to %d ms: %d tickets", from, b.UpToMS, b.Count),
		})
		from = b.UpToMS
	}
	c.axes(most, from, "ms")
	return c
}

// paceChart draws what came in and what ended, and the vendors' completed calls.
func (r *Report) paceChart() *chart {
	if len(r.Series) == 0 {
		return nil
	}
	c := newChart("Throughput, per second", chartHigh)
	of := []func(Second) int{
		func(s Second) int { return s.Accepted }, func(s Second) int { return s.Ended },
	}
	c.Legend = []key{{"s0", "tickets accepted"}, {"s1", "tickets ended"}}
	if r.Capacity.Measured {
		c.Legend = append(c.Legend, key{"s2", "calls completed by vendors"})
		of = append(of, func(s Second) int { return sum(s.Completed) })
	}
	c.lines(r.Series, of)
	return c
}

// flightChart draws the calls in flight at each vendor.
func (r *Report) flightChart() *chart {
	names := map[string]bool{}
	for _, s := range r.Series {
		for name := range s.InFlight {
			names[name] = true
		}
	}
	if len(names) == 0 {
		return nil
	}
	c := newChart("Calls in flight by vendor, the most in each second", chartHigh)
	var of []func(Second) int
	for i, name := range slices.Sorted(maps.Keys(names)) {
		c.Legend = append(c.Legend, key{"s" + strconv.Itoa(i%6), name})
		of = append(of, func(s Second) int { return s.InFlight[name] })
	}
	c.lines(r.Series, of)
	return c
}

// lines draws one line for each entry of the legend.
func (c *chart) lines(series []Second, of []func(Second) int) {
	most, last := int64(1), series[len(series)-1].At
	for _, s := range series {
		for _, value := range of {
			most = max(most, int64(value(s)))
		}
	}
	for i, value := range of {
		var points []string
		for _, s := range series {
			x := c.LeftX + float64(s.At)/float64(max(last, 1))*(c.RightX-c.LeftX)
			points = append(points, fmt.Sprintf("%.1f,%.1f", x, c.y(float64(value(s)), most)))
		}
		c.Lines = append(c.Lines, line{strings.Join(points, " "), c.Legend[i].Class, c.Legend[i].Text})
	}
	c.axes(most, int64(last), "s")
}

// vendorChart draws the most calls in flight of each vendor beside its limit and quota.
func (r *Report) vendorChart() *chart {
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
	c := newChart("Most calls in flight against limit and quota", barRow*float64(len(measured))+12)
	c.LeftX, c.RightX = 110, chartWide-70
	c.Legend = []key{{"s0", "most in flight"}, {"mean", "mean while tickets waited"}, {"limit", "limit"}, {"quota", "quota"}}
	wide := func(n float64) float64 { return n / float64(most) * (c.RightX - c.LeftX) }
	for i, v := range measured {
		y := 8 + barRow*float64(i)
		c.Ticks = append(c.Ticks,
			label{c.LeftX - 8, y + 16, "end", v.Name},
			label{chartWide - 4, y + 16, "end", fmt.Sprintf("%d / %s", v.MaxInFlight, known(v.Limit))})
		c.Bars = append(c.Bars,
			bar{c.LeftX, y, wide(float64(v.MaxInFlight)), 22, "s0", fmt.Sprintf("%s: at most %d in flight", v.Name, v.MaxInFlight)},
			bar{c.LeftX, y + 8, wide(v.Use.Mean), 6, "mean", fmt.Sprintf("%s: %.1f on average", v.Name, v.Use.Mean)})
		stroke := func(class string, n int) {
			if n > 0 {
				c.Marks = append(c.Marks, mark{c.LeftX + wide(float64(n)), y - 3, y + 25, class, fmt.Sprintf("%s: %s %d", v.Name, class, n)})
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
