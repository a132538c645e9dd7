package drill

import (
	"fmt"
	"strconv"

	"sluice/internal/report"
)

// Goodput is what the drill of that name measured.
type Goodput struct {
	Permits int           `json:"permits"`
	OverMS  int64         `json:"over_ms"` // of each load
	Loads   []GoodputLoad `json:"loads"`
}

// GoodputLoad is one load and what both designs made of it.
type GoodputLoad struct {
	Factor  float64       `json:"factor"` // of the capacity
	Offered int           `json:"offered"`
	Sluice  GoodputResult `json:"sluice"`
	Naive   GoodputResult `json:"naive"`
}

// GoodputResult is what one design made of a load.
type GoodputResult struct {
	Useful     int `json:"useful"` // a vendor's answer began inside the customer's patience
	High       int `json:"high"`
	HighUseful int `json:"high_useful"`
	Degraded   int `json:"degraded"` // still there for an answer without a vendor
	Left       int `json:"left"`
	Refused    int `json:"refused"`
	Faults     int `json:"faults"`

	MeanMS      float64 `json:"mean_ms"`  // of a vendor's call
	Capacity    float64 `json:"capacity"` // answers that the permits allow in the window
	Answers     float64 `json:"answers"`  // useful ones in it
	Percent     float64 `json:"percent"`  // of the capacity
	GonePercent float64 `json:"gone_percent"`
	FirstP50MS  int64   `json:"first_p50_ms"` // message to the first word, of useful ones
	FirstP95MS  int64   `json:"first_p95_ms"`
	ToldP95MS   int64   `json:"told_p95_ms"` // refusal to the lesser answer
	MaxInFlight int     `json:"max_in_flight"`

	fault error
}

func (g *Goodput) grid() report.Grid {
	out := report.Grid{{
		"load, design", "customers", "useful", "of capacity", "high served", "lesser answer", "left", "refused",
		"vendor's time for who had left", "first word p50", "p95", "refusal to answer p95",
	}}
	for _, l := range g.Loads {
		for _, side := range []struct {
			name string
			r    GoodputResult
		}{{"sluice", l.Sluice}, {"naive", l.Naive}} {
			r := side.r
			out = append(out, []string{
				fmt.Sprintf("%g×, %s", l.Factor, side.name), strconv.Itoa(l.Offered), strconv.Itoa(r.Useful),
				fmt.Sprintf("%.1f%%", r.Percent), fmt.Sprintf("%d of %d", r.HighUseful, r.High),
				strconv.Itoa(r.Degraded), strconv.Itoa(r.Left), strconv.Itoa(r.Refused), fmt.Sprintf("%.1f%%", r.GonePercent),
				fmt.Sprintf("%dms", r.FirstP50MS), fmt.Sprintf("%dms", r.FirstP95MS), fmt.Sprintf("%dms", r.ToldP95MS),
			})
		}
	}
	return out
}

// charts draw both designs beside one another, by load.
func (g *Goodput) charts() []*report.Chart {
	return []*report.Chart{
		g.chart("Vendor answers inside the customer's patience, in % of the capacity, by load", func(r GoodputResult) float64 { return r.Percent }),
		g.chart("Customers of lane high who were served, in %, by load", func(r GoodputResult) float64 {
			return 100 * float64(r.HighUseful) / float64(max(r.High, 1))
		}),
		g.chart("The vendor's time that went to customers who had left, in %, by load", func(r GoodputResult) float64 { return r.GonePercent }),
		g.chart("Message to the first word of a useful answer, p95 in ms, by load", func(r GoodputResult) float64 { return float64(r.FirstP95MS) }),
	}
}

func (g *Goodput) chart(name string, of func(GoodputResult) float64) *report.Chart {
	sluice, naive := report.Curve{Name: "sluice"}, report.Curve{Name: "naive: one line, 10 s, no cancel"}
	var names []string
	for i, l := range g.Loads {
		names = append(names, fmt.Sprintf("%g×", l.Factor))
		sluice.Points = append(sluice.Points, report.Point{X: float64(i), Y: of(l.Sluice)})
		naive.Points = append(naive.Points, report.Point{X: float64(i), Y: of(l.Naive)})
	}
	c := report.NewChart(name, report.High)
	most, _ := c.Curves(sluice, naive)
	c.AxisY(most)
	c.Steps(names, "load")
	return c
}
