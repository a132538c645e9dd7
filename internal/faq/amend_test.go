package faq

import (
	"slices"
	"testing"
)

// TestAChangeAnswersBeforeItIsLearnt amends the shipped entries: a new one, one with another
// answer, one that has lost a phrasing, and one that is gone.
func TestAChangeAnswersBeforeItIsLearnt(t *testing.T) {
	t.Parallel()
	learnt := shopOf(t)
	// The first question to some entry that is answered without being known.
	asked := map[string]string{} // question by entry
	for _, q := range othersOf(t, learnt.Entries()) {
		if m := learnt.Match(q.Text, "en"); m.Tier == Answer && !m.Known && asked[m.Entry] == "" {
			asked[m.Entry] = q.Text
		}
	}
	var ids []string
	for id := range asked {
		ids = append(ids, id)
	}
	if slices.Sort(ids); len(ids) < 3 {
		t.Fatalf("only %v are answered without being known", ids)
	}
	edited, thinned, gone := ids[0], ids[1], ids[2]
	dropped := ""
	var entries []Entry
	for _, e := range learnt.Entries() {
		switch e.ID {
		case edited:
			e.Answers = map[string]string{"en": "Another answer.", "zh": "另一个回答。"}
		case thinned:
			questions := map[string][]string{"zh": e.Questions["zh"], "en": e.Questions["en"][1:]}
			dropped, e.Questions = e.Questions["en"][0], questions
		case gone:
			continue
		}
		entries = append(entries, e)
	}
	entries = append(entries, Entry{ID: "parrots", Questions: map[string][]string{"en": {"do you sell parrots"}}, Answers: map[string]string{"en": "No parrots."}})
	amended, err := learnt.Amend(entries)
	if err != nil || amended.Learnt() {
		t.Fatal(err)
	}
	again, err := amended.Amend(entries) // two changes before the first is learnt
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []*Base{amended, again} {
		if m := b.Match("Do you sell parrots?", "en"); m.Tier != Answer || m.Answer != "No parrots." {
			t.Errorf("the new entry: %+v", m)
		}
		if m := b.Match(asked[edited], "en"); m.Tier != Answer || m.Answer != "Another answer." {
			t.Errorf("another answer: %+v", m)
		}
		if m := b.Match(asked[thinned], "en"); m.Tier != Offer || m.Entry != thinned {
			t.Errorf("a phrasing less: %+v", m)
		}
		if m := b.Match(dropped, "en"); m.Tier != Offer || m.Known {
			t.Errorf("the phrasing that was taken out: %+v", m)
		}
		m := b.Match(asked[gone], "en")
		if m.Tier == Answer || slices.ContainsFunc(m.Nearest, func(o Option) bool { return o.Entry == gone }) {
			t.Errorf("an entry that is gone: %+v", m)
		}
	}
	if m := amended.Match("what do penguins dream of", "en"); m.Tier == Answer {
		t.Errorf("a stranger: %+v", m)
	}
}
