//go:build linux

package rival

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// table is what came out, for people; benchstat reads the lines before it.
type table struct {
	rows    []*row
	missing string
	load    string // of the machine at the start
}

func newTable() *table { return &table{load: load()} }

// load is how busy the machine was in the last 1, 5 and 15 minutes.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}

// row is one way in one trial, with the figures of each time that it was measured.
type row struct {
	trial trial
	way   string
	all   []figures
}

func (t *table) add(tr trial, way string, f figures) {
	r := t.row(tr, way)
	if r == nil {
		r = &row{trial: tr, way: way}
		t.rows = append(t.rows, r)
	}
	r.all = append(r.all, f)
}

func (t *table) row(tr trial, way string) *row {
	for _, r := range t.rows {
		if r.trial == tr && r.way == way {
			return r
		}
	}
	return nil
}

func (r *row) median(of func(figures) time.Duration) time.Duration { return median(r.all, of) }

func (r *row) cpu() time.Duration { return r.median(func(f figures) time.Duration { return f.cpu }) }

// ratio is the way's CPU to the plain proxy's in the same trial; 0: there is none.
func (t *table) ratio(r *row) float64 {
	proxy := t.row(r.trial, plain)
	if proxy == nil || proxy.cpu() <= 0 {
		return 0
	}
	return float64(r.cpu()) / float64(proxy.cpu())
}

// write shows the medians, each beside the plain proxy's, and what became of the goals.
func (t *table) write(out io.Writer) error {
	if len(t.rows) == 0 {
		return nil
	}
	text := &strings.Builder{}
	fmt.Fprintf(text, "\n| What a way adds to a direct call, in ms. Load of the machine: %s before, %s after.\n", t.load, load())
	if t.missing != "" {
		fmt.Fprintf(text, "| %s.\n", t.missing)
	}
	fmt.Fprintf(text, "| %-42s %10s %10s %10s %10s %10s %10s %10s\n", "", "p50", "added p50", "added p99", "inside p50", "inside p99", "added CPU", "of proxy's")
	var last trial
	for _, r := range t.rows {
		if r.trial != last {
			last = r.trial
			fmt.Fprintf(text, "| %s; the vendor's CPU %s\n", last, ms(r.median(func(f figures) time.Duration { return f.vendor })))
		}
		fmt.Fprintf(text, "| %42s", r.way)
		for _, of := range []func(figures) time.Duration{
			func(f figures) time.Duration { return f.p50 },
			func(f figures) time.Duration { return f.addedP50 }, func(f figures) time.Duration { return f.addedP99 },
			func(f figures) time.Duration { return f.insideP50 }, func(f figures) time.Duration { return f.insideP99 },
			func(f figures) time.Duration { return f.cpu },
		} {
			fmt.Fprintf(text, " %10s", ms(r.median(of)))
		}
		fmt.Fprintf(text, " %10.2f\n", t.ratio(r))
	}
	t.judge(text)
	_, err := io.WriteString(out, text.String())
	return err
}

// The goals, at 48 in flight before a vendor that takes its time. Before one that answers
// at once the cores are full, and what a call takes is mostly its turn on them.
const (
	goalP50   = 500 * time.Microsecond
	goalP99   = 5 * time.Millisecond
	goalCPU   = 300 * time.Microsecond
	goalRatio = 1.5
)

// judge says what became of the goals. What a call spends in the gate is known of each by
// itself: the difference to direct calls would be lost in the noise of a busy machine.
func (t *table) judge(text *strings.Builder) {
	for _, r := range t.rows {
		if r.way != byGate || r.trial.vendor != usual || r.trial.flight != limit {
			continue
		}
		fmt.Fprintf(text, "| %s, goals of the gate:", r.trial)
		for _, g := range []struct {
			what string
			got  time.Duration
			goal time.Duration
		}{
			{"p50", r.median(func(f figures) time.Duration { return f.insideP50 }), goalP50},
			{"p99", r.median(func(f figures) time.Duration { return f.insideP99 }), goalP99},
			{"CPU", r.cpu(), goalCPU},
		} {
			fmt.Fprintf(text, " %s %s ≤ %s %s;", g.what, ms(g.got), ms(g.goal), met(g.got, g.goal))
		}
		if ratio := t.ratio(r); ratio != 0 {
			fmt.Fprintf(text, " of the proxy's CPU %.2f ≤ %.2f %s", ratio, goalRatio, met(ratio, goalRatio))
		}
		fmt.Fprintln(text)
	}
}

func met[T cmp.Ordered](got, goal T) string {
	if got <= goal {
		return "met"
	}
	return "MISSED"
}

func ms(d time.Duration) string { return fmt.Sprintf("%.3f", float64(d)/float64(time.Millisecond)) }
