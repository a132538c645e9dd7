package load

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/report"
)

// Table writes the report as aligned text: tickets, times, vendors, verdict.
func (r *Report) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.headline())
	for _, g := range []report.Grid{r.ticketGrid(), r.timeGrid(), r.vendorGrid()} {
		b.WriteByte('\n')
		g.Write(&b)
	}
	if use := r.useLine(); use != "" {
		fmt.Fprintf(&b, "\n%s\n", use)
	}
	b.WriteByte('\n')
	for _, l := range r.LostSample {
		fmt.Fprintf(&b, "lost: %s in session %s, lane %s, last seen %s: %s\n", l.Ticket, l.Session, l.Lane, l.Status, l.Why)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	for _, reason := range r.faults() {
		fmt.Fprintf(&b, "fault: %s\n", reason)
	}
	fmt.Fprintf(&b, "verdict: %s\n", r.word())
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func (r *Report) word() string {
	if r.OK() {
		return "OK"
	}
	return "NOT OK"
}

func (r *Report) headline() string {
	pace := "at once"
	if r.Settings.OverMS > 0 {
		pace = "over " + seconds(r.Settings.OverMS)
	}
	return fmt.Sprintf("%s %s on %s: %d tickets from %d tenants %s; sent in %s, answered in %s",
		r.Scenario, r.Run, r.Target, r.Tickets, r.Settings.Tenants, pace, seconds(r.SentMS), seconds(r.AnsweredMS))
}

func (r *Report) ticketGrid() report.Grid {
	g := report.Grid{{"tickets", "count", "share", ""}}
	row := func(name string, n int, remark string) {
		g = append(g, []string{name, strconv.Itoa(n), percent(n, r.Tickets), remark})
	}
	some := func(name string, n int, remark string) {
		if n > 0 {
			row(name, n, remark)
		}
	}
	zero := func(name string, n int) {
		remark := mustBe0
		if n == 0 {
			remark = ""
		}
		row(name, n, remark)
	}
	row("accepted", r.Accepted, "")
	row("  answered", r.Answered, "")
	for _, c := range r.Routes {
		name := "    " + string(c.Route)
		if c.Reason != "" {
			name += ", " + string(c.Reason)
		}
		row(name, c.Count, "")
	}
	some("  failed", r.Failed, "")
	some("  cancelled", r.Cancelled, "")
	some("  open", r.Open, "interrupted")
	row("refused", r.refusedSum(), "")
	for _, code := range r.refusedCodes() {
		row("  "+code, r.Refused[code], "")
	}
	some("unsent", r.Unsent, "interrupted")
	zero("lost", r.Lost)
	zero("duplicates", r.Duplicates)
	for _, f := range r.rareFaults() {
		if f.n > 0 {
			g = append(g, []string{f.name, strconv.Itoa(f.n), "", mustBe0})
		}
	}
	return g
}

type rareFault struct {
	name string
	n    int
}

const mustBe0 = "must be 0"

// rareFaults are shown only where there are some.
func (r *Report) rareFaults() []rareFault {
	return []rareFault{{"merged", r.Merged}, {"gaps in seq", r.Gaps}, {"ends not told", r.Untold}, {"not read", r.Unread}}
}

func (r *Report) refusedSum() (n int) {
	for _, count := range r.Refused {
		n += count
	}
	return n
}

// refusedCodes returns the codes, the most frequent first.
func (r *Report) refusedCodes() []string {
	return slices.SortedFunc(maps.Keys(r.Refused), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Refused[b], r.Refused[a]), cmp.Compare(a, b))
	})
}

func (r *Report) timeGrid() report.Grid {
	g := report.Grid{{"times in ms", "count", "p50", "p95", "p99", "max"}}
	row := func(name string, s Spread) {
		line := []string{name}
		for _, n := range []int64{int64(s.Count), s.P50, s.P95, s.P99, s.Max} {
			line = append(line, strconv.FormatInt(n, 10))
		}
		g = append(g, line)
	}
	for _, t := range r.Times {
		row("wait, "+t.Lane, t.Wait)
	}
	for _, t := range r.Times {
		row("handled, "+t.Lane, t.Handled)
	}
	for _, t := range r.Times {
		row("total, "+t.Lane, t.Total)
	}
	row("accept", r.AcceptMS)
	return g
}

func (r *Report) vendorGrid() report.Grid {
	g := report.Grid{{"vendors", "limit", "quota", "max in flight", "calls", "completed", "429", "cancelled", "errors", "tickets", "permits used"}}
	for _, v := range r.Vendors {
		line := []string{v.Name, known(v.Limit), known(v.Quota)}
		if v.Measured {
			for _, n := range []int{v.MaxInFlight, v.Calls, v.Completed, v.Refused, v.Cancelled, v.Errors} {
				line = append(line, strconv.Itoa(n))
			}
		} else {
			line = append(line, "-", "-", "-", "-", "-", "-")
		}
		line = append(line, strconv.Itoa(v.Answered))
		if v.Measured && v.Limit > 0 {
			line = append(line, fmt.Sprintf("%.1f = %.0f%%", v.Use.Mean, 100*v.Use.Share))
		} else {
			line = append(line, "-")
		}
		g = append(g, line)
	}
	return g
}

// useLine says how much of the permits was used while something waited.
func (r *Report) useLine() string {
	if c := r.Capacity; c.Measured {
		return fmt.Sprintf("while tickets waited (%s): vendors completed %.0f calls, capacity %.0f; on average %.1f of %d permits in use = %.0f%%",
			seconds(c.WindowMS), c.Use.Completed, c.Use.Capacity, c.Use.Mean, c.Limit, 100*c.Use.Share)
	}
	return ""
}

func seconds(ms int64) string {
	return strconv.FormatFloat((time.Duration(ms)*time.Millisecond).Seconds(), 'f', 1, 64) + "s"
}

func percent(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of))
}

func known(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}
