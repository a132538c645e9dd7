//go:build linux

package rival

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// table is what came out, for people; benchstat reads the lines before it.
type table struct {
	rows    []*row
	missing string
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

// median returns that of one figure.
func (r *row) median(of func(figures) time.Duration) time.Duration {
	all := make([]time.Duration, len(r.all))
	for i, f := range r.all {
		all[i] = of(f)
	}
	slices.Sort(all)
	return at(all, 0.5)
}

func (r *row) added() time.Duration {
	return r.median(func(f figures) time.Duration { return f.addedP50 })
}
func (r *row) addedTail() time.Duration {
	return r.median(func(f figures) time.Duration { return f.addedP99 })
}
func (r *row) cpu() time.Duration { return r.median(func(f figures) time.Duration { return f.cpu }) }

// write shows the medians, each beside the plain proxy's, and what became of the goals.
func (t *table) write(out io.Writer) error {
	if len(t.rows) == 0 {
		return nil
	}
	text := &strings.Builder{}
	load, _ := os.ReadFile("/proc/loadavg") // where there is none, nothing is said of it
	fmt.Fprintf(text, "\n| What a call costs more than a direct one; in ms, medians. Load of the machine: %s\n", strings.TrimSpace(string(load)))
	if t.missing != "" {
		fmt.Fprintf(text, "| %s\n", t.missing)
	}
	w := tabwriter.NewWriter(text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "|\tway\tp50\tp99\tCPU\tof the proxy's CPU\t")
	var last trial
	for _, r := range t.rows {
		if r.trial != last {
			last = r.trial
			fmt.Fprintf(w, "| %s\t\t\t\t\t\t\n", last)
		}
		ratio := "-"
		if proxy := t.row(r.trial, plain); proxy != nil && r.way != direct && proxy.cpu() > 0 {
			ratio = fmt.Sprintf("%.2f", float64(r.cpu())/float64(proxy.cpu()))
		}
		fmt.Fprintf(w, "|\t%s\t%s\t%s\t%s\t%s\t\n", r.way, ms(r.added()), ms(r.addedTail()), ms(r.cpu()), ratio)
	}
	if err := w.Flush(); err != nil {
		return err
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

func (t *table) judge(text *strings.Builder) {
	for _, r := range t.rows {
		if r.way != byGate || r.trial.vendor != usual || r.trial.flight != limit {
			continue
		}
		verdict := func(what string, got, goal time.Duration) {
			fmt.Fprintf(text, "| %s: %s %s, goal %s: %s\n", r.trial, what, ms(got), ms(goal), met(got, goal))
		}
		verdict("p50", r.added(), goalP50)
		verdict("p99", r.addedTail(), goalP99)
		verdict("CPU", r.cpu(), goalCPU)
		if proxy := t.row(r.trial, plain); proxy != nil && proxy.cpu() > 0 {
			ratio := float64(r.cpu()) / float64(proxy.cpu())
			fmt.Fprintf(text, "| %s: %.2f of the proxy's CPU, goal %.1f: %s\n", r.trial, ratio, goalRatio, met(ratio, goalRatio))
		}
	}
}

func met[T cmp.Ordered](got, goal T) string {
	if got <= goal {
		return "met"
	}
	return "MISSED"
}

func ms(d time.Duration) string { return fmt.Sprintf("%.3f", float64(d)/float64(time.Millisecond)) }
