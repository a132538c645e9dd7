package intent

import (
	"context"
	"encoding/csv"
	"os"
	"strings"
	"sync"
	"testing"
)

// taught is the shipped classifier with what is learnt from all shipped examples. It is
// made once: learning takes seconds.
var taught = sync.OnceValues(func() (*Model, error) {
	examples, err := Shipped()
	if err != nil {
		return nil, err
	}
	return Train(context.Background(), examples, nil)
})

func learnt(t testing.TB) *Classifier {
	t.Helper()
	m, err := taught()
	if err != nil {
		t.Fatal(err)
	}
	return shipped(t).With(m)
}

// labelled returns the rows of a file of testdata, without its head.
func labelled(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open("testdata/" + file)
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

// texts returns the texts of all shipped examples.
func texts(t *testing.T) map[string]bool {
	t.Helper()
	examples, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, e := range examples {
		known[e.Text] = true
	}
	return known
}

// TestKindsOfWriting has messages that are hard for the way in which they are written.
// They are no examples: nothing learns from them. A floor is what was reached when this
// was written, less a few.
func TestKindsOfWriting(t *testing.T) {
	t.Parallel()
	c := learnt(t)
	kinds := map[string]*kind{}
	for _, row := range labelled(t, "kinds.csv") {
		if kinds[row[0]] == nil {
			kinds[row[0]] = &kind{}
		}
		kinds[row[0]].add(t, c, row[1], row[2])
	}
	for name, floor := range map[string]kind{
		"negation":    {cases: 28, right: 25, wrongly: 5},
		"affirmed":    {cases: 16, right: 14, flagged: 15},
		"pinyin":      {cases: 16, right: 14, flagged: 7},
		"traditional": {cases: 21, right: 19, flagged: 8, wrongly: 1},
		"homophone":   {cases: 16, right: 14, flagged: 8, wrongly: 1},
		"mixed":       {cases: 16, right: 14, flagged: 4, wrongly: 1},
		"typo":        {cases: 28, right: 24, flagged: 8, wrongly: 3},
	} {
		got := *kinds[name]
		if got.cases != floor.cases || got.right < floor.right || got.flagged < floor.flagged || got.wrongly > floor.wrongly {
			t.Errorf("%s: %+v, want %+v or better", name, got, floor)
		}
		t.Logf("%s: %+v", name, got)
	}
}

// kind counts the messages of one kind of writing.
type kind struct {
	cases, right int
	flagged      int // urgent ones that are flagged
	wrongly      int // others that are
}

func (k *kind) add(t *testing.T, c *Classifier, want, text string) {
	t.Helper()
	got := c.Classify(text)
	k.cases++
	if got.Intent == want {
		k.right++
	} else {
		t.Logf("%q is %s, taken for %s (%.2f)", text, want, got.Intent, got.Confidence)
	}
	if got.Urgent && c.Urgent(want) {
		k.flagged++
	} else if got.Urgent {
		k.wrongly++
		t.Logf("%q is flagged", text)
	}
}

func TestKindsOfWritingAreNoExamples(t *testing.T) {
	t.Parallel()
	examples, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := os.ReadFile("testdata/kinds.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range examples {
		if strings.Contains(string(cases), ","+e.Text+"\n") {
			t.Errorf("%q is an example of %s", e.Text, e.Intent)
		}
	}
}
