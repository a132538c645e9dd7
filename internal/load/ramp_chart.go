package load

import (
	"cmp"
	"slices"
	"strconv"

	"sluice/internal/report"
)

// inOrder returns the steps by their number of calls.
func (r *RampReport) inOrder() []Step {
	return slices.SortedFunc(slices.Values(r.Steps), func(a, b Step) int { return cmp.Compare(a.AtOnce, b.AtOnce) })
}

func (r *RampReport) curve(name string, of func(Step) float64) report.Curve {
	c := report.Curve{Name: name}
	for n, s := range r.inOrder() {
		c.Points = append(c.Points, report.Point{X: float64(n), Y: of(s)})
	}
	return c
}

// chart draws curves over the steps, with the knee and the proposed permits.
func (r *RampReport) chart(name string, curves ...report.Curve) *report.Chart {
	c := report.NewChart(name, report.High)
	most, _ := c.Curves(curves...)
	c.AxisY(most)
	steps := r.inOrder()
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = strconv.Itoa(s.AtOnce)
	}
	c.Steps(names, "calls")
	if p := r.Proposal; p != nil {
		last := float64(len(steps) - 1)
		c.Stroke(place(steps, p.Permits), last, "limit", "proposed permits: "+strconv.Itoa(p.Permits))
		c.Stroke(place(steps, p.Knee), last, "quota", "knee: "+strconv.Itoa(p.Knee))
		c.Legend = append(c.Legend, report.Key{Class: "limit", Text: "proposed permits"}, report.Key{Class: "quota", Text: "knee"})
	}
	return c
}

// place returns where a number of calls stands among the steps.
func place(steps []Step, calls int) float64 {
	for i, s := range steps {
		switch {
		case calls == s.AtOnce || i == 0 && calls < s.AtOnce:
			return float64(i)
		case calls < s.AtOnce:
			below := steps[i-1].AtOnce
			return float64(i-1) + float64(calls-below)/float64(s.AtOnce-below)
		}
	}
	return float64(len(steps) - 1)
}
