package worker

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/chat"
	"sluice/internal/rules"
)

var update = flag.Bool("update", false, "write the golden file anew")

// shipped returns the templates of the shipped rules.
func shipped(t testing.TB) map[string]map[string][]string {
	t.Helper()
	r, err := rules.Parse("default.yaml", rules.Default())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string][]string{}
	for _, i := range r.Intents {
		all[i.Name] = map[string][]string{}
		for language, texts := range i.Template {
			all[i.Name][language] = texts
		}
	}
	return all
}

// named is a ticket that names an order, a parcel and its writer.
func named(intent, language string, turn int) *chat.Ticket {
	return &chat.Ticket{
		Intent: intent, Language: language, Turn: turn, Customer: &chat.Customer{Name: "Li Wei"},
		Entities: []chat.Entity{{Kind: chat.EntityOrder, Value: "MH2611280012"}, {Kind: chat.EntityTracking, Value: "SF1234567890123"}},
	}
}

// TestTemplatesAsTheCustomerReadsThem pins every shipped template as it reaches a customer.
func TestTemplatesAsTheCustomerReadsThem(t *testing.T) {
	t.Parallel()
	texts := shipped(t)
	w := newWorker(t, nil, Config{Templates: texts})
	replies := map[string]map[string][]chat.Reply{}
	for intent := range texts {
		replies[intent] = map[string][]chat.Reply{}
		for _, language := range []string{chat.Chinese, chat.English} {
			seen := map[string]bool{}
			for turn := range 24 {
				for _, ticket := range []*chat.Ticket{{Intent: intent, Language: language, Turn: turn + 1}, named(intent, language, turn+1)} {
					got := w.Fallback(ticket, chat.ReasonOverdue).Reply
					if seen[got.Text] {
						continue
					}
					seen[got.Text] = true
					if chat.Language(got.Text, "") != language || strings.ContainsAny(got.Text, "{}") {
						t.Errorf("%s in %s says %q", intent, language, got.Text)
					}
					replies[intent][language] = append(replies[intent][language], got)
				}
			}
			if n := len(gapless(texts[intent][language])); n < 3 {
				t.Errorf("%s in %s has %d wordings that need nothing", intent, language, n)
			}
			for _, text := range texts[intent][language] {
				if !gap.MatchString(text) && !seen[text] {
					t.Errorf("%s in %s never says %q", intent, language, text)
				}
			}
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

// Of two messages in a row a customer never gets the same text, whatever they are about,
// name and speak, and whatever the operator wrote; and no gap is left open.
func TestNoTextTwiceInARow(t *testing.T) {
	t.Parallel()
	real := shipped(t)
	rapid.Check(t, func(t *rapid.T) {
		texts := real
		if rapid.Bool().Draw(t, "own") {
			texts = map[string]map[string][]string{}
			wordings := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
				"a", "b", "c", "d", "e", "a {order}", "b {order}", "c {tracking}", "d {name}", "e {name} {order}", "a\n\n" + noted[chat.Chinese], "a\n\n" + noted[chat.English],
			}), 0, 6, rapid.ID[string])
			for _, intent := range []string{Other, "refund", "complaint"} {
				texts[intent] = map[string][]string{}
				for _, language := range []string{chat.Chinese, chat.English} {
					list := wordings.Draw(t, "wordings")
					if intent == Other && len(gapless(list)) == 0 {
						list = append(list, "f")
					}
					texts[intent][language] = list
				}
			}
		}
		w := newTemplates(texts)
		intents := append(slices.Sorted(maps.Keys(texts)), "unheard of")
		before := ""
		for turn := 1; turn <= 30; turn++ {
			ticket := &chat.Ticket{
				Intent:   rapid.SampledFrom(intents).Draw(t, "intent"),
				Language: rapid.SampledFrom([]string{chat.Chinese, chat.English, ""}).Draw(t, "language"), Turn: turn,
			}
			for _, kind := range []chat.EntityKind{chat.EntityOrder, chat.EntityTracking, chat.EntityAmount} {
				if rapid.Bool().Draw(t, "names") {
					ticket.Entities = append(ticket.Entities, chat.Entity{Kind: kind, Value: rapid.SampledFrom([]string{"M1", "M2", "<b>"}).Draw(t, "value")})
				}
			}
			if rapid.Bool().Draw(t, "signed in") {
				ticket.Customer = &chat.Customer{Name: rapid.SampledFrom([]string{"", "Li", "{order}", strings.Repeat("long", 20)}).Draw(t, "name")}
			}
			text, _ := w.choose(ticket)
			if text == before || text == "" || strings.ContainsAny(text, "{}<") {
				t.Fatalf("turn %d: %q after %q", turn, text, before)
			}
			before = text
		}
	})
}

func TestAWordingIsUsedWhereItsGapsCanBeFilled(t *testing.T) {
	t.Parallel()
	w := newWorker(t, nil, Config{Templates: map[string]map[string][]string{Other: {
		chat.Chinese: {"好", "订单 {order}"}, chat.English: {"Plain.", "Order {order}.", "Order {order}, parcel {tracking}.", "Dear {name}."},
	}}})
	for _, c := range []struct {
		ticket chat.Ticket
		want   []string // by turn from 1
	}{
		{chat.Ticket{}, []string{"Plain.", "Plain.\n\n" + noted[chat.English], "Plain."}},
		{chat.Ticket{Entities: named("", "", 0).Entities[:1]}, []string{"Order MH2611280012.", "Plain.\n\n" + noted[chat.English]}},
		{chat.Ticket{Entities: named("", "", 0).Entities}, []string{"Order MH2611280012.", "Order MH2611280012, parcel SF1234567890123.", "Order MH2611280012."}},
		{chat.Ticket{Customer: &chat.Customer{Name: "Li Wei"}}, []string{"Dear Li Wei.", "Plain.\n\n" + noted[chat.English]}},
		{chat.Ticket{Customer: &chat.Customer{Name: "<script>[x](javascript:alert) \n#"}}, []string{"Dear scriptxjavascriptalert."}},
		{chat.Ticket{Customer: &chat.Customer{Name: "<>"}}, []string{"Plain.", "Plain.\n\n" + noted[chat.English]}},
	} {
		for i, want := range c.want {
			ticket := c.ticket
			ticket.Turn = i + 1
			if got := w.Fallback(&ticket, chat.ReasonOverdue).Reply; got.Text != want || strings.Contains(got.HTML, "<script") {
				t.Errorf("%s, turn %d: %q, want %q", fmt.Sprint(c.ticket.Entities, c.ticket.Customer), i+1, got.Text, want)
			}
		}
	}
}
