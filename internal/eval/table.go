package eval

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/faq"
	"sluice/internal/intent"
	"sluice/internal/report"
)

// Of what is listed, the most frequent.
const (
	maxConfusions = 15
	maxTaken      = 8
)

// Table writes the report as aligned text.
func (r *Report) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "intents on %s; learnt from %d examples\n\n", r.Judged, r.Learnt)
	r.scores().Write(&b)
	if len(r.Confusions) > 0 {
		b.WriteString("\nmost frequent confusions\n")
		grid := report.Grid{{"labelled", "taken for", "messages"}}
		for _, c := range r.Confusions[:min(maxConfusions, len(r.Confusions))] {
			grid = append(grid, []string{c.Intent, c.TakenFor, strconv.Itoa(c.Count)})
		}
		grid.Write(&b)
	}
	if len(r.FAQ) > 0 {
		b.WriteString("\nquestions of the FAQ\n")
		asked(r.FAQ).Write(&b)
	}
	if len(r.Near) > 0 {
		fmt.Fprintf(&b, "\nquestions of the FAQ, by words and by vectors of %s\n", r.Space)
		asked(r.Near).Write(&b)
	}
	if len(r.Curve) > 0 {
		b.WriteString("\naccuracy by the number of examples\n")
		r.curve().Write(&b)
	}
	for _, t := range r.Added {
		b.WriteByte('\n')
		writeTrial(&b, t)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// languages are those of the scores, All first.
func languages[S any](scores map[string]S) []string {
	all := slices.Sorted(maps.Keys(scores))
	i := slices.Index(all, All)
	return append([]string{All}, slices.Delete(all, i, i+1)...)
}

func (r *Report) scores() report.Grid {
	grid := report.Grid{{"language", "messages", "accuracy", "macro F1", "urgent recall", "urgent precision", "unknown", "CPU µs"}}
	for _, language := range languages(r.Intents) {
		s := r.Intents[language]
		grid = append(grid, []string{
			language, strconv.Itoa(s.Messages), figure(s.Accuracy), figure(s.MacroF1),
			figure(s.Urgent.Recall), figure(s.Urgent.Precision), figure(s.Unknown.Share), fmt.Sprintf("%.0f", s.CPU),
		})
	}
	return grid
}

func asked(scores map[string]faq.Score) report.Grid {
	grid := report.Grid{{"language", "questions", "recall@1", "recall@3", "answered", "shown", "wrong of answered", "false answers", "CPU µs"}}
	for _, language := range languages(scores) {
		s, cost := scores[language], "-"
		if s.CPU > 0 {
			cost = fmt.Sprintf("%.0f", s.CPU)
		}
		grid = append(grid, []string{
			language, strconv.Itoa(s.Questions), figure(s.Recall1), figure(s.Recall3), figure(s.Answered), figure(s.Shown),
			figure(s.Wrong), figure(s.False), cost,
		})
	}
	return grid
}

func (r *Report) curve() report.Grid {
	all := languages(r.Intents)
	head := []string{"examples"}
	for _, language := range all {
		head = append(head, language, "urgent R / P")
	}
	grid := report.Grid{head}
	for _, p := range r.Curve {
		row := []string{fmt.Sprintf("%d (%.0f %%)", p.Learnt, 100*p.Share)}
		for _, language := range all {
			s := p.Scores[language]
			row = append(row, figure(s.Accuracy), figure(s.Urgent.Recall)+" / "+figure(s.Urgent.Precision))
		}
		grid = append(grid, row)
	}
	return grid
}

func writeTrial(b *strings.Builder, t intent.Trial) {
	fmt.Fprintf(b, "intent %s: %d of its %d examples are understood by a model that has not seen them; it draws %d of %d messages of other intents\n",
		t.Intent, t.Right, t.Examples, t.Drawn, t.Others)
	for _, list := range []struct {
		title string
		mixed []intent.Mix
	}{{"  taken for", t.Lost}, {"  drawn from", t.Won}} {
		for _, m := range list.mixed[:min(maxTaken, len(list.mixed))] {
			fmt.Fprintf(b, "%s %s (%d), such as %q\n", list.title, m.Intent, m.Count, m.Text)
		}
	}
}

func figure(f float64) string { return fmt.Sprintf("%.3f", f) }
