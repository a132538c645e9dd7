package faq

import (
	"reflect"
	"strings"
	"testing"

	"sluice/internal/chat"
)

const goodYAML = `
faqs:
  - id: hours
    intent: other
    priority: 2
    answer: {zh: 九点开门, en: At nine.}
    questions:
      zh: [几点开门]
      en:
        - when do you open
        - opening hours
  - id: money
    answer: {zh: 十天内, en: In ten days.}
    questions: [when is my refund due, 退款多久]
`

func TestYAMLIsRead(t *testing.T) {
	t.Parallel()
	got, err := ReadYAML("faq.yaml", []byte(goodYAML))
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{
			ID: "hours", Intent: "other", Priority: 2,
			Questions: map[string][]string{chat.Chinese: {"几点开门"}, chat.English: {"when do you open", "opening hours"}},
			Answers:   map[string]string{chat.Chinese: "九点开门", chat.English: "At nine."},
		},
		{
			ID:        "money",
			Questions: map[string][]string{chat.Chinese: {"退款多久"}, chat.English: {"when is my refund due"}},
			Answers:   map[string]string{chat.Chinese: "十天内", chat.English: "In ten days."},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestCSVIsRead(t *testing.T) {
	t.Parallel()
	got, err := ReadCSV("faq.csv", strings.NewReader("\ufeffid,lang,question,answer,priority\n"+
		"hours,en,when do you open,At nine.,2\nmoney,en,when is my refund due,\"In ten,\ndays.\",\nhours,en,opening hours,,\nhours,zh,几点开门,九点开门,\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{
			ID: "hours", Priority: 2,
			Questions: map[string][]string{chat.Chinese: {"几点开门"}, chat.English: {"when do you open", "opening hours"}},
			Answers:   map[string]string{chat.Chinese: "九点开门", chat.English: "At nine."},
		},
		{
			ID:        "money",
			Questions: map[string][]string{chat.English: {"when is my refund due"}},
			Answers:   map[string]string{chat.English: "In ten,\ndays."},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestFaultsNameTheFileAndTheLine(t *testing.T) {
	t.Parallel()
	const head = "id,lang,question,answer,priority\n"
	for _, row := range []struct{ text, want string }{
		{"faqs: [{id: a, answer: x, questions: [y]}, {id: a, answer: x, questions: [y]}]", `faq.yaml:1: entry "a" is there already, on line 1`},
		{"faqs:\n - id: a\n   answer: x\n   question: [y]", `faq.yaml:4: unknown key "question"`},
		{"faqs:\n - id: a\n   answer: x", `faq.yaml:2: entry "a": must have a question`},
		{"faqs:\n - id: a\n   questions: [y]", `faq.yaml:2: entry "a": must have an answer`},
		{"faqs:\n - id: a\n   answer: {fr: x}\n   questions: [y]", `faq.yaml:3: unknown key "fr"`},
		{"faqs:\n - id: a\n   priority: high\n   answer: x\n   questions: [y]", "faq.yaml:3: priority must be a whole number"},
		{"faqs:\n - id: a\n   answer: x\n   questions: [" + strings.Repeat("y", MaxQuestion+1) + "]", `faq.yaml:2: entry "a": question has 501 characters`},
		{"faqs:\n - id: a\n   answer: {en: x}\n   questions: [几点开门]", `faq.yaml:2: entry "a": must be given: there are questions in zh`},
		{"faqs:\n - {id: a, answer: x, questions: [y]}\n - {id: b, answer: x, questions: [z, 'Y?']}", `faq.yaml:3: entry "b": is a question of entry "a" too`},
		{"faqs:\n - id: a\n   answer: x\n   questions: [\"y\\0\"]", `faq.yaml:2: entry "a": question must not hold NUL`},
		{head + "a,en,\xc4\xe3,x,\n", `faq.csv:2: entry "a": question must be valid UTF-8`},
		{"faqs: 3", "faq.yaml:1: must be a list"},
		{"faqs:\n - 3", "faq.yaml:2: must be a mapping"},
		{"faqs: []", "0 entries"},
		{"", "0 entries"},
		{"faqs:\n\t- x", "faq.yaml:2: "},
		{"id,lang,question\n", "faq.csv:1: must have the column answer"},
		{"id,lang,question,answer,color\n", `faq.csv:1: unknown column "color"`},
		{head + "a,en,y\n", "faq.csv:2: must have 5 fields like the head, has 3"},
		{head + "a,en,y,x,\na,en,z,other,\n", `faq.csv:3: entry "a" has another answer already`},
		{head + "a,fr,y,x,\n", `faq.csv:2: entry "a": language "fr"`},
		{head + "a,en,y,x,high\n", "faq.csv:2: priority must be a whole number"},
		{head + "a,en,\"y,x,\n", "faq.csv:2: "},
	} {
		var err error
		if strings.HasPrefix(row.text, "id,") {
			_, err = ReadCSV("faq.csv", strings.NewReader(row.text))
		} else {
			_, err = ReadYAML("faq.yaml", []byte(row.text))
		}
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%.60q: got %v, want %s", row.text, err, row.want)
		}
	}
}

func TestLabelledQuestionsAreRead(t *testing.T) {
	t.Parallel()
	entries := []Entry{{ID: "a"}}
	got, err := ReadLabelled("q.csv", strings.NewReader("faq_id,text,note\na,几点开门,x\n,good day,\n"), entries)
	want := []Labelled{{Text: "几点开门", Entry: "a", Language: chat.Chinese}, {Text: "good day", Language: chat.English}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"text\nx\n":            "q.csv:1: must have the columns text and faq_id",
		"text,faq_id\nx,b\n":   `q.csv:2: faq_id must be one of the entries or empty, is "b"`,
		"text,faq_id\n  ,a\n":  "q.csv:2: text must be",
		"text,faq_id\n":        "q.csv:2: must hold at least one question",
		"text,faq_id\nx,a,c\n": "q.csv:2: must have 2 fields like the head, has 3",
		"":                     "q.csv:1: is empty",
	} {
		if _, err := ReadLabelled("q.csv", strings.NewReader(text), entries); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// What a reader takes holds the bounds; what it does not take, it says with the file.
func holds(t *testing.T, entries []Entry, err error) {
	if err == nil {
		err = Check(entries)
		if err != nil {
			t.Fatalf("taken, but %v", err)
		}
		return
	}
	if entries != nil || !strings.Contains(err.Error(), "faq.") {
		t.Fatalf("%d entries and %q", len(entries), err)
	}
}

func FuzzReadYAML(f *testing.F) {
	for _, text := range []string{goodYAML, "faqs:\n - &a {id: x}\n - *a", "faqs: {a: [", "- 1", "faqs:\n - id: |\n    x\n   answer: >\n    y\n   questions: [z]", "faqs:\n-"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, err := ReadYAML("faq.yaml", text)
		holds(t, entries, err)
	})
}

func FuzzReadCSV(f *testing.F) {
	for _, text := range []string{"id,lang,question,answer\na,en,x,y\n", "id,lang,question,answer,priority\na,zh,\"x\n\",y,1\n", "\ufeffid", ",,,\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := ReadCSV("faq.csv", strings.NewReader(text))
		holds(t, entries, err)
	})
}
