package load

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/report"
)

// Table writes the report as aligned text: sockets and messages, times, the instance, verdict.
func (r *SocketsReport) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.headline())
	for _, g := range []report.Grid{r.countGrid(), r.timeGrid(), r.serverGrid()} {
		if len(g) > 0 {
			b.WriteByte('\n')
			g.Write(&b)
		}
	}
	b.WriteByte('\n')
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

func (r *SocketsReport) word() string {
	if r.OK() {
		return "OK"
	}
	return "NOT OK"
}

func (r *SocketsReport) headline() string {
	s := r.Settings
	return fmt.Sprintf("sockets on %s: %d from %d tenants, %d opened a second, a message each %s for %s",
		r.Target, s.Sockets, s.Tenants, s.Opens, seconds(s.EveryMS), seconds(s.ForMS))
}

func (r *SocketsReport) countGrid() report.Grid {
	g := report.Grid{{"sockets, messages", "count", ""}}
	row := func(name string, n int, remark string) { g = append(g, []string{name, strconv.Itoa(n), remark}) }
	zero := func(name string, n int) {
		if n == 0 {
			row(name, n, "")
		} else {
			row(name, n, mustBe0)
		}
	}
	row("sockets opened", r.Opened, fmt.Sprintf("of %d", r.Settings.Sockets))
	some := func(of map[string]int, before string) {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			row(before+name, of[name], "")
		}
	}
	some(r.Closes, "  closed: ")
	if r.Reopened > 0 {
		row("  opened anew", r.Reopened, "")
	}
	row("messages sent", r.Messages, "")
	row("  acknowledged", r.Acked, "")
	row("  ended", r.Ended, "")
	for _, route := range slices.Sorted(maps.Keys(r.Routes)) {
		row("    "+string(route), r.Routes[route], "")
	}
	some(r.Refused, "  refused: ")
	some(r.Held, "  told to wait: ")
	zero("without an ack", r.Unacked)
	zero("lost", r.Lost)
	zero("doubled", r.Doubled)
	zero("without an end", r.Unended)
	zero("gaps in seq", r.Gaps)
	zero("told otherwise", r.Untold)
	return g
}

func (r *SocketsReport) timeGrid() report.Grid {
	g := report.Grid{{"times in ms", "count", "p50", "p95", "p99", "max"}}
	for _, row := range []struct {
		name string
		of   Spread
	}{{"dial to welcome", r.OpenMS}, {"message to ack", r.AckMS}, {"message to final event", r.AnswerMS}} {
		line := []string{row.name}
		for _, n := range []int64{int64(row.of.Count), row.of.P50, row.of.P95, row.of.P99, row.of.Max} {
			line = append(line, strconv.FormatInt(n, 10))
		}
		g = append(g, line)
	}
	return g
}

func (r *SocketsReport) serverGrid() report.Grid {
	u := r.Server
	if !u.Measured {
		return nil
	}
	return report.Grid{
		{"the instance", "without sockets", "all idle", "at most", "all closed"},
		{"resident memory", size(u.StartBytes), size(u.IdleBytes), size(u.MostBytes), size(u.EndBytes)},
		{"  added by each socket", "", size(u.IdleEach), size(u.MostEach)},
		{"  of that, heap and stacks", "", size(u.IdleInUse), ""},
		{"goroutines", "", strconv.Itoa(u.Goroutines), ""},
		{"processors: idle, talking", "", fmt.Sprintf("%.2f", u.IdleCPU), fmt.Sprintf("%.2f", u.TalkCPU)},
	}
}

// size writes bytes as people read them.
func size(bytes int64) string {
	switch {
	case bytes >= 10<<20:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%d B", bytes)
}
