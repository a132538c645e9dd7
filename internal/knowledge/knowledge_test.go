package knowledge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"sluice/internal/chat"
	"sluice/internal/intent"
)

func shopOf(t testing.TB) *Index {
	t.Helper()
	documents, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	x, err := Build(t.Context(), documents)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func questionsOf(t testing.TB) []Question {
	t.Helper()
	f, err := os.Open("testdata/questions.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all, err := ReadQuestions("questions.csv", f)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What is reached must not get worse unseen. docs/knowledge.md has the figures.
func TestPassagesThatAnswerAreFound(t *testing.T) {
	t.Parallel()
	x := shopOf(t)
	scores := Evaluate(x, questionsOf(t))
	for language, s := range scores {
		t.Logf("%s: %+v", language, s)
		if s.Questions < 30 || s.Recall1 < 0.65 || s.Recall3 < 0.85 {
			t.Errorf("%s: worse than before: %+v", language, s)
		}
	}
	for _, q := range questionsOf(t) {
		hits := x.Search(q.Text, q.Language, 3)
		if len(hits) == 0 || !slices.ContainsFunc(hits, func(h Hit) bool { return h.Document == q.Document && strings.Contains(h.Text, q.Contains) }) {
			t.Logf("not found: %s", q.Text)
		}
	}
}

func TestHitsTellTheirSourceAndHowMuchTheyCover(t *testing.T) {
	t.Parallel()
	x := shopOf(t)
	h := x.Search("what does error E2 mean on my blender", chat.English, 1)[0]
	if h.Document != "manual-blender.en.md" || !reflect.DeepEqual(h.Headings, []string{"Manual: Whirl B5 blender", "Error codes"}) {
		t.Errorf("source: %s, %q", h.Document, h.Headings)
	}
	if h.Covered < 0.5 || h.Covered > 1 {
		t.Errorf("covers %.2f", h.Covered)
	}
	if far := x.Search("quantum chromodynamics lecture", chat.English, 1); len(far) > 0 && far[0].Covered > 0.3 {
		t.Errorf("a question about something else is covered to %.2f", far[0].Covered)
	}
	if h := x.Search("LUMA-F2", chat.Chinese, 1)[0]; h.Language != chat.Chinese {
		t.Errorf("the question's language goes first, got %s", h.Document)
	}
	if hits := x.Search("?!", chat.English, 3); len(hits) != 0 {
		t.Errorf("no words, %d hits", len(hits))
	}
}

func TestMarkdownIsSplitAtHeadings(t *testing.T) {
	t.Parallel()
	d, err := Read("a.md", strings.NewReader("# Shop\nIntro.\n\n## Prices\n| Item | Price |\n| --- | --- |\n| lamp | ¥10 |\n| | ¥20 |\n\n- one\n- two\n\n# Other\nText.\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Passage{
		{"a.md", "", chat.English, []string{"Shop"}, "Intro."},
		{"a.md", "", chat.English, []string{"Shop", "Prices"}, "Item: lamp; Price: ¥10\nPrice: ¥20\n- one\n- two"},
		{"a.md", "", chat.English, []string{"Other"}, "Text."},
	}
	if got := split(d); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestLongTextIsSplitBetweenSentencesWithOneShared(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "第%d条规则说明退货的条件和时间。", i)
	}
	d, err := Read("a.txt", strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	passages := split(d)
	if len(passages) < 3 {
		t.Fatalf("%d passages", len(passages))
	}
	for i, p := range passages {
		if n := utf8.RuneCountInString(p.Text); n > usualChinese+len(p.Text)/100+2 {
			t.Errorf("passage %d has %d characters", i, n)
		}
		if !strings.HasSuffix(p.Text, "。") || !strings.HasPrefix(p.Text, "第") {
			t.Errorf("passage %d is cut inside a sentence: %q", i, p.Text)
		}
		if i > 0 {
			first, _, _ := strings.Cut(p.Text, "。")
			if !strings.Contains(passages[i-1].Text, first) {
				t.Errorf("passage %d shares no sentence with the one before", i)
			}
		}
	}
}

func TestRowsOfCSVArePassages(t *testing.T) {
	t.Parallel()
	d, err := Read("a.csv", strings.NewReader("product,price\nlamp,¥10\nchair,\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := split(d)
	if len(got) != 2 || got[0].Text != "product: lamp\nprice: ¥10" || got[1].Text != "product: chair" {
		t.Errorf("got %q", got)
	}
}

func TestFaultyDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, text, want string }{
		{"a.pdf", "x", `a.pdf: ends in ".pdf"`},
		{"", "x", "name has 0 bytes"},
		{"a\n.md", "x", "must not hold control characters"},
		{"a.md", "---\nurl: javascript:alert(1)\n---\nx", "a.md: url must be"},
		{"a.md", "---\nurl: https://a:b@x.example\n---\nx", "a.md: url must be"},
		{"a.md", " \n", "a.md: is empty"},
		{"a.txt", "ok\n\xff", "a.txt:2: must be valid UTF-8"},
		{"a.csv", "x,y\n1\n", "a.csv:2: "},
		{"a.csv", "x,y\n", "a.csv:1: must have a head and at least one row"},
		{"a.txt", strings.Repeat("x", MaxDocument+1), "a.txt: holds more than"},
	} {
		if _, err := Read(row.name, strings.NewReader(row.text)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %s", row.name, err, row.want)
		}
	}
}

func TestAnIndexIsNamedByWhatIsInIt(t *testing.T) {
	t.Parallel()
	lamp := Document{Name: "lamp.txt", Language: chat.English, Text: "The lamp costs ten."}
	chair := Document{Name: "chair.txt", Language: chat.English, Text: "The chair costs five."}
	dear := lamp
	dear.Text = "The lamp costs twelve."
	var versions []string
	for _, documents := range [][]Document{{lamp, chair}, {dear, chair}, {lamp, chair}, nil} {
		x, err := Build(t.Context(), documents)
		if err != nil || x.Documents() != len(documents) {
			t.Fatalf("%v, %v", x, err)
		}
		versions = append(versions, x.Version())
	}
	if versions[0] == versions[1] || versions[0] != versions[2] || versions[3] == versions[0] {
		t.Errorf("versions %q", versions)
	}
}

func TestTheHeadOfMarkdownTellsItsAddressAndIsNoPassage(t *testing.T) {
	t.Parallel()
	d, err := Read("a.md", strings.NewReader("---\nowner: logistics\nurl: \"https://shop.example/a?x=1\"\n---\n# Title\nText.\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Passage{{"a.md", "https://shop.example/a?x=1", chat.English, []string{"Title"}, "Text."}}
	if got := split(d); !reflect.DeepEqual(got, want) || got[0].Title() != "Title" {
		t.Errorf("got %q", got)
	}
	for _, text := range []string{"---\nText without an end.\n", "# A\n---\nurl: https://x.example\n---\nText."} {
		d, err := Read("a.md", strings.NewReader(text))
		if err != nil || d.URL != "" || !strings.Contains(split(d)[0].Text, "Text") {
			t.Errorf("%q: %+v, %v", text, d, err)
		}
	}
	if d, err := Read("a.txt", strings.NewReader("---\nurl: https://x.example\n---\nText.")); err != nil || d.URL != "" {
		t.Errorf("plain text has no head: %+v, %v", d, err)
	}
}

func TestBuildEndsWithItsContextAndKeepsItsBounds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("another draft is published")
	cancel(gone)
	if _, err := Build(ctx, []Document{{Name: "a.txt", Text: "x"}}); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	if _, err := Build(t.Context(), []Document{{Name: "a.txt", Text: "x"}, {Name: "a.txt", Text: "y"}}); !errors.Is(err, ErrBounds) {
		t.Errorf("two of a name: %v", err)
	}
	if _, err := Build(t.Context(), make([]Document, MaxDocuments+1)); !errors.Is(err, ErrBounds) {
		t.Errorf("too many: %v", err)
	}
}

func TestStemsOfAWordAreEqual(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{
		{"return", "returns", "returned", "returning"}, {"ship", "shipped", "shipping", "ships"}, {"policy", "policies"},
		{"cancel", "cancelled", "cancelling"}, {"charge", "charged", "charges"}, {"warranty", "warranties"},
	} {
		for _, w := range words[1:] {
			if stem(w) != stem(words[0]) && !strings.HasPrefix(stem(w), stem(words[0])) {
				t.Errorf("%s is %s, %s is %s", words[0], stem(words[0]), w, stem(w))
			}
		}
	}
}

func TestNothingIsLostInSplitting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{
			"# Head", "## Sub", "", "- an item", "A sentence. And one more! 还有一句。", "| a | b |", "| --- | --- |", "| 1 | 2 |",
			"```", strings.Repeat("long words without an end ", 40), strings.Repeat("很长的句子", 200),
		}), 1, 30).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		r := intent.NewReader("")
		d := Document{Name: "a.md", Language: chat.Language(text, ""), Text: text}
		var all strings.Builder
		for _, p := range split(d) {
			if p.Text == "" {
				t.Fatal("an empty passage")
			}
			if n := utf8.RuneCountInString(p.Text); n > 2*longest {
				t.Fatalf("a passage of %d characters", n)
			}
			all.WriteString(p.Text + "\n" + strings.Join(p.Headings, "\n") + "\n")
		}
		found := termsOf(r, all.String())
		for _, line := range lines {
			if !strings.Contains(line, "sentence") && line != "- an item" {
				continue
			}
			for _, term := range termsOf(r, line) {
				if !slices.Contains(found, term) {
					t.Fatalf("%q of %q is lost", term, line)
				}
			}
		}
	})
}

func TestIndexServesManyAtOnce(t *testing.T) {
	t.Parallel()
	x := shopOf(t)
	want := x.Search("sofa bed", chat.English, 3)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				if !reflect.DeepEqual(x.Search("sofa bed", chat.English, 3), want) {
					t.Error("another answer")
				}
			}
		})
	}
	all.Wait()
}

func FuzzSplit(f *testing.F) {
	for _, text := range []string{"# a\nb", "| a |\n|---|\n| b |", "```\n# no\n", "####### x", "a,b\n1,2\n", "。。。！\n"} {
		for _, name := range []string{"a.md", "a.txt", "a.csv"} {
			f.Add(name, text)
		}
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		d, err := Read(name, strings.NewReader(text))
		if err != nil {
			return
		}
		for _, p := range split(d) {
			if strings.TrimSpace(p.Text) == "" || !utf8.ValidString(p.Text) {
				t.Fatalf("passage %q", p.Text)
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	x, questions := shopOf(b), questionsOf(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q := questions[i%len(questions)]
		x.Search(q.Text, q.Language, 5)
	}
}

// BenchmarkImport indexes ten thousand documents, the shipped ones under many names.
func BenchmarkImport(b *testing.B) {
	shipped, err := Shipped()
	if err != nil {
		b.Fatal(err)
	}
	var all []Document
	for i := range 10_000 {
		d := shipped[i%len(shipped)]
		d.Name = fmt.Sprint(i, "-", d.Name)
		all = append(all, d)
	}
	for b.Loop() {
		x, err := Build(b.Context(), all)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(x.Passages()), "passages")
	}
}
