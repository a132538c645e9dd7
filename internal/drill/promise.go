package drill

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"sluice/internal/chat"
	"sluice/internal/load"
	"sluice/internal/report"
)

// promise is what a drill expects of every message and every vendor.
type promise struct {
	// exempt are messages whose time is judged by the drill itself.
	exempt func(load.Outcome) bool
	// byQuota are vendors whose holders died or whose calls were cut: they may have had as
	// many calls as were contracted, for a moment.
	byQuota []string
	// longest is the longest answer of a vendor from its first token on. Defaults to callMax.
	longest time.Duration
	// late is more time for a message, where a limit of ours is not scaled. Defaults to none.
	late func(load.Outcome) time.Duration
}

// keeps checks what every drill must: nothing lost, one end each, vendors within their
// limits, every message answered in time.
func (d *drill) keeps(p promise, loads ...played) {
	if p.longest == 0 {
		p.longest = callMax
	}
	if p.late == nil {
		p.late = func(load.Outcome) time.Duration { return 0 }
	}
	var accepted, lost, twice, untold, silent int
	var all []load.Outcome
	for _, l := range loads {
		r := l.report
		accepted += r.Accepted
		lost += r.Lost
		twice += r.Duplicates + r.Merged
		untold += r.Gaps + r.Untold + r.Unread
		silent += r.Refused["no_answer"]
		all = append(all, l.all...)
	}
	d.check("messages accepted", "> 0", strconv.Itoa(accepted), accepted > 0)
	d.none("lost", lost)
	d.none("told a second end, or another one", twice)
	d.none("ends not told, gaps in seq, not readable", untold)
	d.none("submissions that nobody answered", silent)
	d.limits(p)
	d.inTime(p, all)
}

// limits checks each vendor's own maximum.
func (d *drill) limits(p promise) {
	for _, v := range d.vendors.all {
		bound, of := v.permits, "permits"
		if slices.Contains(p.byQuota, v.name) {
			bound, of = v.quota, "contracted"
		}
		s := v.sim.Stats()
		d.check("most in flight at "+v.name, fmt.Sprintf("≤ %d %s", bound, of), strconv.Itoa(s.MaxInFlight), s.MaxInFlight <= bound)
	}
	refused := 0
	for _, v := range d.vendors.all {
		refused += v.sim.Stats().Refused
	}
	d.none("calls beyond a quota", refused)
}

// inTime checks that every message was answered within max_wait and the time for a first
// token; a vendor's answer goes on after its first token. What is urgent may wait on for a
// while after it was handed to people.
func (d *drill) inTime(p promise, all []load.Outcome) {
	var template, answer, more time.Duration
	for _, o := range all {
		if o.EndedAt.IsZero() || o.Lane == chat.Batch || p.exempt != nil && p.exempt(o) {
			continue
		}
		late := p.late(o)
		more = max(more, late)
		if o.Urgent { // people were told of it, and it waited on
			late += urgentWait
		}
		if o.Answered() {
			answer = max(answer, o.Total-late)
		} else {
			template = max(template, o.Total-late)
		}
	}
	if more > 0 {
		d.note("up to %s are taken off the times of messages that met a limit which is not scaled", short(more))
	}
	bound := maxWait + firstToken
	d.atMost("answered without a vendor: max_wait + first token", bound, template)
	d.atMost("answered by a vendor: the same + the longest answer", bound+p.longest, answer)
}

// shows puts what happened into the report's tables and series.
func (d *drill) shows(loads ...played) {
	var all []load.Outcome
	routes := map[load.RouteCount]int{}
	refused := map[string]int{}
	for _, l := range loads {
		all = append(all, l.all...)
		for _, c := range l.report.Routes {
			routes[load.RouteCount{Route: c.Route, Reason: c.Reason}] += c.Count
		}
		for code, n := range l.report.Refused {
			refused[code] += n
		}
	}
	d.table("messages", messageGrid(all, refused))
	d.table("vendors", d.vendorGrid())
	d.series(all)
}

func messageGrid(all []load.Outcome, refused map[string]int) report.Grid {
	waits := map[string][]time.Duration{}
	totals := map[string][]time.Duration{}
	var names []string
	for _, o := range all {
		if o.EndedAt.IsZero() {
			continue
		}
		name := string(o.Route)
		switch {
		case o.Route == "":
			name = string(o.Status)
		case o.Reason != "":
			name += ", " + string(o.Reason)
		}
		if o.Lane == chat.Batch {
			name = "batch: " + name
		}
		if waits[name] == nil {
			names = append(names, name)
		}
		waits[name], totals[name] = append(waits[name], o.Wait), append(totals[name], o.Total)
	}
	slices.Sort(names)
	g := report.Grid{{"answered by", "count", "wait p50", "p95", "max", "total p50", "p95", "max"}}
	for _, name := range names {
		row := []string{name, strconv.Itoa(len(waits[name]))}
		for _, of := range [][]time.Duration{waits[name], totals[name]} {
			row = append(row, short(quantile(of, 0.5)), short(quantile(of, 0.95)), short(quantile(of, 1)))
		}
		g = append(g, row)
	}
	for _, code := range sortedKeys(refused) {
		g = append(g, []string{"refused: " + code, strconv.Itoa(refused[code])})
	}
	return g
}

func (d *drill) vendorGrid() report.Grid {
	g := report.Grid{{"vendor", "permits", "quota", "most in flight", "calls", "completed", "failed", "left"}}
	for _, v := range d.vendors.all {
		s := v.sim.Stats()
		row := []string{v.name}
		for _, n := range []int{v.permits, v.quota, s.MaxInFlight, s.Calls, s.Completed, s.Errors + s.Dropped + s.Refused + s.Truncated + s.Garbage, s.Cancelled} {
			row = append(row, strconv.Itoa(n))
		}
		g = append(g, row)
	}
	return g
}

// halfSecond is the grain of the series.
const halfSecond = 500 * time.Millisecond

// series counts calls and waits by half seconds from the beginning of the load on.
func (d *drill) series(all []load.Outcome) {
	place := func(values *[]float64, at time.Time) *float64 {
		i := int(at.Sub(d.begunAt) / halfSecond)
		if i < 0 || i > 10_000 {
			i = 0
		}
		for len(*values) <= i {
			*values = append(*values, 0)
		}
		return &(*values)[i]
	}
	for _, v := range d.vendors.all {
		s := Series{Name: v.name}
		for _, c := range v.between(d.begunAt, time.Now()) {
			*place(&s.Values, c.at)++
		}
		if len(s.Values) > 0 {
			d.out.Calls = append(d.out.Calls, s)
		}
	}
	waits := Series{Name: "wait"}
	for _, o := range all {
		if !o.EndedAt.IsZero() && o.Lane != chat.Batch {
			at := place(&waits.Values, o.AcceptedAt)
			*at = max(*at, float64(o.Wait.Milliseconds()))
		}
	}
	if len(waits.Values) > 0 {
		d.out.Waits = []Series{waits}
	}
}
