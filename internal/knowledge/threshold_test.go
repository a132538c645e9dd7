package knowledge

import (
	"encoding/csv"
	"os"
	"slices"
	"testing"

	"sluice/internal/chat"
	"sluice/internal/rules"
)

// rowsOf returns the rows of a file without its head.
func rowsOf(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// What thresholds let through of questions that a passage answers, of those of other trades,
// and of what has nothing to do with the shop. The shipped one is chosen by this;
// docs/knowledge.md has the figures.
func TestTheThresholdPartsWhatIsKnownFromWhatIsNot(t *testing.T) {
	t.Parallel()
	x := shopOf(t)
	shipped, err := rules.Parse("shipped", rules.Default())
	if err != nil {
		t.Fatal(err)
	}
	known, foreign, off := map[string][]Question{}, map[string][]Question{}, map[string][]Question{}
	for _, q := range questionsOf(t) {
		known[q.Language] = append(known[q.Language], q)
	}
	for _, row := range rowsOf(t, "../faq/testdata/others.csv") {
		if text, entry, language := row[0], row[1], row[2]; entry == "" {
			foreign[language] = append(foreign[language], Question{Text: text, Language: language})
		}
	}
	for _, row := range rowsOf(t, "testdata/offtopic.csv") {
		off[row[1]] = append(off[row[1]], Question{Text: row[0], Language: row[1]})
	}
	chosen, passages := shipped.Knowledge.Threshold, shipped.Knowledge.Passages
	for _, language := range []string{chat.Chinese, chat.English} {
		for _, threshold := range []float64{0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5} {
			in, other, none := Covered(x, known[language], passages, threshold), Covered(x, foreign[language], passages, threshold), Covered(x, off[language], passages, threshold)
			t.Logf("%s at %.2f: %.2f of %d known, %.2f of %d of other trades, %.2f of %d off topic",
				language, threshold, in, len(known[language]), other, len(foreign[language]), none, len(off[language]))
			if threshold == chosen && (in < 0.85 || other > 0.15 || none > 0.10) {
				t.Errorf("%s: worse than before", language)
			}
		}
		for _, q := range off[language] {
			hits := x.Search(q.Text, language, passages)
			if at := slices.IndexFunc(hits, func(h Hit) bool { return h.Covered >= chosen }); at >= 0 {
				t.Logf("passes: %q, by %.2f of %q", q.Text, hits[at].Covered, hits[at].Text)
			}
		}
		for _, q := range known[language] {
			if Covered(x, []Question{q}, passages, chosen) == 0 {
				t.Logf("falls: %q", q.Text)
			}
		}
	}
}
