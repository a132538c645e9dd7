package worker

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"sluice/internal/chat"
	"sluice/internal/rules"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestTemplatesAsTheCustomerReadsThem pins every shipped template as it reaches a customer.
func TestTemplatesAsTheCustomerReadsThem(t *testing.T) {
	t.Parallel()
	r, err := rules.Parse("default.yaml", rules.Default())
	if err != nil {
		t.Fatal(err)
	}
	templates := map[string]map[string]string{}
	for _, i := range r.Intents {
		templates[i.Name] = i.Template
	}
	w := newWorker(t, nil, Config{Templates: templates})
	replies := map[string]map[string]chat.Reply{}
	for intent := range templates {
		replies[intent] = map[string]chat.Reply{}
		for _, language := range []string{chat.Chinese, chat.English} {
			a := w.Fallback(&chat.Ticket{Intent: intent, Language: language}, chat.ReasonOverdue)
			if a.Reply.Text != templates[intent][language] {
				t.Errorf("%s in %s says %q", intent, language, a.Reply.Text)
			}
			if chat.Language(a.Reply.Text, "") != language {
				t.Errorf("%s in %s is written in another language: %q", intent, language, a.Reply.Text)
			}
			replies[intent][language] = a.Reply
		}
	}
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(replies); err != nil {
		t.Fatal(err)
	}
	const path = "testdata/templates.json"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("templates render to\n%s, want\n%s", got.Bytes(), want)
	}
}
