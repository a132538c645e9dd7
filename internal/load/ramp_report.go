package load

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"sluice/internal/report"
)

// RampReport is what a ramp found. It is plain data, as Report is.
type RampReport struct {
	Account     Account   `json:"account"`
	StartedAt   time.Time `json:"started_at"`
	EndedAt     time.Time `json:"ended_at"`
	Interrupted bool      `json:"interrupted"`
	Ended       string    `json:"ended,omitempty"` // why it did not go on, if not for the knee
	Steps       []Step    `json:"steps"`           // in the order in which they were taken
	Calls       int       `json:"calls"`
	Tokens      int       `json:"tokens"`
	Proposal    *Proposal `json:"proposal,omitempty"` // nil: not even one call at a time went well
	Rules       string    `json:"rules,omitempty"`
}

// OK reports whether there is a proposal.
func (r *RampReport) OK() bool { return r.Proposal != nil && !r.Interrupted }

// finish sums up.
func (r *RampReport) finish(interrupted bool) {
	r.EndedAt, r.Interrupted = time.Now().UTC(), interrupted
	var knee, beyond *Step
	for i := range r.Steps {
		s := &r.Steps[i]
		r.Calls += s.Completed + s.Refused + s.Failed
		r.Tokens += s.Tokens
		if s.Why == "" && (knee == nil || s.AtOnce > knee.AtOnce) {
			knee = s
		}
		if s.Why != "" && (beyond == nil || s.AtOnce < beyond.AtOnce) {
			beyond = s
		}
	}
	if knee == nil {
		return
	}
	p := propose(knee, beyond)
	r.Proposal, r.Rules = &p, p.rules(r.Account)
}

// Table writes the report as aligned text: the steps, the proposal and how it was made.
func (r *RampReport) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", r.headline())
	r.grid().Write(&b)
	b.WriteByte('\n')
	for _, line := range r.lines() {
		fmt.Fprintln(&b, line)
	}
	if r.Rules != "" {
		fmt.Fprintf(&b, "\n%s", r.Rules)
	}
	fmt.Fprintf(&b, "\nverdict: %s\n", r.word())
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func (r *RampReport) word() string {
	if r.OK() {
		return "OK"
	}
	return "NOT OK"
}

func (r *RampReport) headline() string {
	return fmt.Sprintf("ramp on %s, model %s: %d calls, %d tokens in %s",
		r.Account.URL, r.Account.Model, r.Calls, r.Tokens, seconds(r.EndedAt.Sub(r.StartedAt).Milliseconds()))
}

func (r *RampReport) grid() report.Grid {
	g := report.Grid{{"calls at once", "completed", "429", "failed", "mean ms", "p50", "p95", "first token p50", "calls/s", ""}}
	for _, s := range r.Steps {
		row := []string{strconv.Itoa(s.AtOnce)}
		for _, n := range []int64{int64(s.Completed), int64(s.Refused), int64(s.Failed), int64(s.MeanMS + 0.5), s.Took.P50, s.Took.P95, s.First.P50} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		g = append(g, append(row, fmt.Sprintf("%.1f", s.PerSecond), s.Why))
	}
	return g
}

// lines explain the proposal.
func (r *RampReport) lines() []string {
	var all []string
	if r.Interrupted {
		all = append(all, "interrupted: not all steps were taken")
	}
	if r.Ended != "" {
		all = append(all, "ended early: "+r.Ended)
	}
	p := r.Proposal
	if p == nil {
		return append(all, "no step went well: nothing to propose")
	}
	edge := "beyond it the vendor only becomes slower"
	switch {
	case !p.Found:
		edge = "it may be higher"
	case p.Share == hardShare:
		edge = "beyond it the vendor refuses or fails"
	}
	return append(all,
		fmt.Sprintf("knee: %d calls at once (%s)", p.Knee, p.Why),
		fmt.Sprintf("rate at the knee: knee ÷ mean = %d ÷ %.3f s = %.1f calls a second", p.Knee, p.MeanMS/1000, p.PerSecond),
		fmt.Sprintf("proposed: × %g, because %s: permits %d × %g = %d, qps %.1f × %g = %d",
			p.Share, edge, p.Knee, p.Share, p.Permits, p.PerSecond, p.Share, p.QPS),
		"the calls were light: real answers take longer, so that the permits will bound them and not qps")
}

// JSON writes the report as indented JSON.
func (r *RampReport) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// HTML writes the report as one page that needs nothing else.
func (r *RampReport) HTML(w io.Writer) error {
	s := report.Section{
		Name: "ramp", Word: r.word(), Good: r.OK(), Head: r.headline(), When: r.StartedAt.Format(time.RFC3339),
		Lines: r.lines(), Grids: []report.Titled{{Grid: r.grid()}},
	}
	if len(r.Steps) > 0 {
		s.Charts = []*report.Chart{
			r.chart("Throughput by calls at once, calls a second", r.curve("calls a second", func(s Step) float64 { return s.PerSecond })),
			r.chart("Time of a call by calls at once, ms",
				r.curve("p50", func(s Step) float64 { return float64(s.Took.P50) }), r.curve("p95", func(s Step) float64 { return float64(s.Took.P95) })),
		}
	}
	if r.Rules != "" {
		s.Texts = []report.Text{{Name: "Proposed rules", Body: r.Rules}}
	}
	return report.Page{Title: "sluice load: ramp on " + r.Account.URL, Sections: []report.Section{s}}.Write(w)
}
