package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The room of a chart, in the units of its SVG.
const (
	Wide      = 720.0
	High      = 220.0
	leftRoom  = 48.0
	rightRoom = 8.0
	lowRoom   = 26.0
	topRoom   = 8.0
)

// Chart is a picture as plain shapes; the page draws them. Classes s0 to s5 have colours
// of their own; limit and quota are upright strokes, mean a pale bar.
type Chart struct {
	Name          string
	Width, Height float64
	Bars          []Bar
	Lines         []Line
	Marks         []Mark
	Ticks         []Label // on the axes and beside the bars
	Legend        []Key
	BaseY, LeftX  float64
	RightX        float64
}

// Bar is a filled rectangle. Tip is shown while the pointer is over it.
type Bar struct {
	X, Y, W, H float64
	Class, Tip string
}

// Line is a line through points, as SVG writes them.
type Line struct{ Points, Class, Tip string }

// Mark is an upright stroke, such as a limit.
type Mark struct {
	X, Y, Y2   float64
	Class, Tip string
}

// Label is a text; Anchor says which end of it stands at X: start, middle or end.
type Label struct {
	X, Y         float64
	Anchor, Text string
}

// Key is an entry of the legend.
type Key struct{ Class, Text string }

// Curve is a series of values to be drawn as one line, in the colour of its place.
type Curve struct {
	Name   string
	Points []Point
}

// Point is one value of a curve.
type Point struct{ X, Y float64 }

// NewChart returns a chart without anything in it.
func NewChart(name string, height float64) *Chart {
	return &Chart{Name: name, Width: Wide, Height: height, LeftX: leftRoom, RightX: Wide - rightRoom, BaseY: height - lowRoom}
}

// Axes puts numbers on both axes: up to most upwards, and from 0 to last to the right, in unit.
func (c *Chart) Axes(most, last int64, unit string) {
	c.AxisY(most)
	across := max(RoundUp(float64(last)/6), 1)
	for n := int64(0); n <= last; n += across {
		c.Ticks = append(c.Ticks, Label{c.X(float64(n), float64(last)), c.Height - 8, "middle", strconv.FormatInt(n, 10)})
	}
	c.Ticks = append(c.Ticks, Label{c.LeftX - 6, c.Height - 8, "end", unit})
}

// AxisY puts numbers on the upright axis, up to most.
func (c *Chart) AxisY(most int64) {
	step := max(RoundUp(float64(most)/4), 1)
	for n := int64(0); n <= most; n += step {
		c.Ticks = append(c.Ticks, Label{c.LeftX - 6, c.Y(float64(n), most) + 4, "end", strconv.FormatInt(n, 10)})
	}
}

// Steps names places on the lower axis; the n-th of them is where curves have X = n.
func (c *Chart) Steps(names []string, unit string) {
	for n, name := range names {
		c.Ticks = append(c.Ticks, Label{c.X(float64(n), float64(len(names)-1)), c.Height - 8, "middle", name})
	}
	c.Ticks = append(c.Ticks, Label{c.LeftX - 24, c.Height - 8, "end", unit})
}

// X returns where n of 0 to last stands.
func (c *Chart) X(n, last float64) float64 {
	if last <= 0 {
		return c.LeftX
	}
	return c.LeftX + n/last*(c.RightX-c.LeftX)
}

// Y returns how high n of most stands.
func (c *Chart) Y(n float64, most int64) float64 {
	return c.BaseY - n/float64(max(most, 1))*(c.BaseY-topRoom)
}

// Curves draws one line for each curve and its entry of the legend, and returns the
// greatest values of both axes, rounded up.
func (c *Chart) Curves(curves ...Curve) (most, last int64) {
	high, far := 1.0, 0.0
	for _, curve := range curves {
		for _, p := range curve.Points {
			high, far = max(high, p.Y), max(far, p.X)
		}
	}
	most, last = int64(math.Ceil(high)), int64(math.Ceil(far))
	for i, curve := range curves {
		class := "s" + strconv.Itoa(i%6)
		points := make([]string, len(curve.Points))
		for j, p := range curve.Points {
			points[j] = fmt.Sprintf("%.1f,%.1f", c.X(p.X, far), c.Y(p.Y, most))
		}
		c.Lines = append(c.Lines, Line{strings.Join(points, " "), class, curve.Name})
		c.Legend = append(c.Legend, Key{class, curve.Name})
	}
	return most, last
}

// Stroke draws an upright mark over the whole height at n of 0 to last.
func (c *Chart) Stroke(n, last float64, class, tip string) {
	x := c.X(n, last)
	c.Marks = append(c.Marks, Mark{x, topRoom, c.BaseY, class, tip})
}

// RoundUp returns the next of 1, 2, 5, 10, 20, 50 …
func RoundUp(x float64) int64 {
	unit := math.Pow(10, math.Floor(math.Log10(max(x, 1))))
	for _, n := range []float64{1, 2, 5} {
		if n*unit >= x {
			return int64(n * unit)
		}
	}
	return int64(10 * unit)
}
