package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"sluice/internal/intent"
)

func TestIntentsReadsLabelledMessages(t *testing.T) {
	t.Parallel()
	const file = "\ufefflang,intent,note,text\nmix,refund,,\"退款, please\"\n,other,x,\"two\nlines\"\nzh,other,,你好\n"
	got, err := Intents("labels.csv", strings.NewReader(file), []string{"refund", "other"})
	if err != nil {
		t.Fatal(err)
	}
	want := []intent.Example{
		{Text: "退款, please", Intent: "refund", Language: "mix"}, {Text: "two\nlines", Intent: "other", Language: "en"},
		{Text: "你好", Intent: "other", Language: "zh"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestFaultsNameFileAndLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"empty":       {"", "labels.csv:1: is empty"},
		"no columns":  {"text,label\na,b\n", "labels.csv:1: must have the columns text and intent, has text, label"},
		"no messages": {"text,intent\n", "labels.csv:2: must hold at least one message"},
		"many": {"text,intent\nhello,greetings\n\" \",other\na,b,c\nfine,other\n\xff,other\n",
			"labels.csv:2: intent must be one of the rules', is \"greetings\"\nlabels.csv:3: text must not be blank\n" +
				"labels.csv:4: must have 2 fields like the head, has 3\nlabels.csv:6: text must be valid UTF-8"},
		"quotes": {"text,intent\nok,other\n\"open,other\n", "labels.csv:3: extraneous or missing \" in quoted-field"},
	} {
		_, err := Intents("labels.csv", strings.NewReader(c.file), []string{"other"})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	many := "text,intent\n" + strings.Repeat("a,wrong\n", 1000)
	if _, err := Intents("labels.csv", strings.NewReader(many), nil); err == nil || strings.Count(err.Error(), "\n") != maxFaults-1 {
		t.Errorf("%v", err)
	}
}

// byWord is a classifier by patterns: what it answers can be told by hand.
func byWord(t *testing.T) *intent.Classifier {
	t.Helper()
	c, err := intent.New([]intent.Class{
		{Name: "refund", Urgent: true, Patterns: []string{"refund", "退款"}}, {Name: "order", Patterns: []string{"order"}},
		{Name: intent.Other},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func messages() []intent.Example {
	return []intent.Example{
		{Text: "refund", Intent: "refund", Language: "en"},
		{Text: "my money", Intent: "refund", Language: "en"}, // missed, and unknown
		{Text: "the refund and my order", Intent: "order", Language: "en"},
		{Text: "order", Intent: "order", Language: "en"},
		{Text: "退款", Intent: "refund", Language: "zh"},
		{Text: "天气", Intent: "other", Language: "zh"},
	}
}

func TestJudgeCounts(t *testing.T) {
	t.Parallel()
	r := Judge(byWord(t), messages())
	want := Score{
		Messages: 6, Accuracy: 4.0 / 6,
		MacroF1: (2.0*2/(3+3) + 2.0*1/(2+1) + 2.0*1/(1+2)) / 3,
		Urgent:  Urgent{Messages: 3, Recall: 2.0 / 3, Precision: 2.0 / 3},
		Unknown: Unknown{Share: 2.0 / 6, Other: 0.5},
	}
	if got := r.Intents[All]; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if zh := r.Intents["zh"]; len(r.Intents) != 3 || zh.Messages != 2 || zh.Accuracy != 1 || r.Intents["en"].Accuracy != 0.5 {
		t.Errorf("%+v", r.Intents)
	}
	if want := []Confusion{{"order", "refund", 1}, {"refund", "other", 1}}; !reflect.DeepEqual(r.Confusions, want) {
		t.Errorf("%+v", r.Confusions)
	}
	if none := Judge(byWord(t), nil).Intents[All]; none != (Score{}) {
		t.Errorf("of nothing: %+v", none)
	}
}

func TestReportsAreWritten(t *testing.T) {
	t.Parallel()
	c := byWord(t)
	r := Judge(c, messages())
	r.Judged, r.Learnt = "labels.csv", 12
	r.Cost(c, messages())
	r.Curve = []Point{{Share: 0.25, Learnt: 3, Scores: r.Intents}}
	r.Added = []intent.Trial{{Intent: "order", Examples: 9, Right: 7, Lost: []intent.Mix{{Intent: "refund", Count: 2, Text: "it"}}, Others: 50}}
	var table bytes.Buffer
	if err := r.Table(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"intents on labels.csv; learnt from 12 examples", "all              6     0.667", "order        refund         1", "3 (25 %)",
		"intent order: 7 of its 9 examples are understood", `taken for refund (2), such as "it"`,
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, table.String())
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Intents map[string]map[string]any
	}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"accuracy", "macro_f1", "urgent", "cpu_us"} {
		if _, is := back.Intents["all"][key]; !is {
			t.Errorf("no %s in %s", key, text)
		}
	}
}

func TestTheCurveGrowsOutOfItself(t *testing.T) {
	t.Parallel()
	var examples []intent.Example
	for word := range strings.FieldsSeq("one two three four five six seven eight") {
		examples = append(examples,
			intent.Example{Text: "refund " + word, Intent: "refund", Language: "en"}, intent.Example{Text: "order " + word, Intent: "order", Language: "en"})
	}
	points, err := Curve(t.Context(), byWord(t), examples, messages())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{4, 8, 12, 16} {
		if p := points[i]; p.Learnt != want || p.Share != float64(i+1)/4 || p.Scores[All].Messages != 6 {
			t.Errorf("%+v", p)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Curve(ctx, byWord(t), examples, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
