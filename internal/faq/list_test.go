package faq

import (
	"errors"
	"slices"
	"testing"

	"sluice/internal/chat"
)

func ownEntry(id string) Entry {
	return Entry{ID: id, Questions: map[string][]string{chat.English: {"own question of " + id}}, Answers: map[string]string{chat.English: "Own."}}
}

func ids(t *testing.T, l List) []string {
	t.Helper()
	entries, err := l.InForce()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.ID)
	}
	return all
}

func TestOwnEntriesStandBesideTheShippedOnesAndInTheirPlace(t *testing.T) {
	t.Parallel()
	first := FirstList(true)
	shipped := ids(t, first)
	const one = "track_order"
	l := first.Put(ownEntry("z_own")).Put(ownEntry(one)).Put(ownEntry("a_own"))
	all := ids(t, l)
	if len(all) != len(shipped)+2 || !l.Own(one) || l.Own("exchange_item") || len(first.Entries) != 0 {
		t.Errorf("%d entries in force, want %d", len(all), len(shipped)+2)
	}
	if tail := all[len(all)-3:]; !slices.Equal(tail, []string{"a_own", one, "z_own"}) {
		t.Errorf("own entries are %q", tail)
	}
	l, found, err := l.Drop(one)
	if err != nil || !found || slices.Contains(ids(t, l), one) {
		t.Errorf("a dropped entry answers still, found %v, %v", found, err)
	}
	if _, found, err = l.Drop(one); err != nil || found {
		t.Errorf("dropped twice: found %v, %v", found, err)
	}
	if l = l.Put(ownEntry(one)); !slices.Contains(ids(t, l), one) || len(l.Without) != 0 {
		t.Error("an entry that comes back does not answer")
	}
	if none := ids(t, List{}); len(none) != 0 {
		t.Errorf("of nothing there is %q", none)
	}
}

func TestStoredListsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	dropped, _, err := FirstList(true).Put(ownEntry("own")).Drop("track_order")
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]List{"first": FirstList(true), "nothing": {}, "own": dropped} {
		doc, err := l.Document()
		if err != nil {
			t.Fatal(err)
		}
		back, err := ReadList(doc)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := back.Document()
		if err != nil || string(again) != string(doc) || !slices.Equal(ids(t, l), ids(t, back)) {
			t.Errorf("%s: %s becomes %s, %v", name, doc, again, err)
		}
	}
	for name, doc := range map[string]string{
		"unknown key": `{"shipped":true,"entries":[],"more":1}`, "no JSON": "x", "two": `{"entries":[]} {}`, "bad entry": `{"entries":[{"id":"a"}]}`,
	} {
		if _, err := ReadList([]byte(doc)); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func TestFaultsNameTheirFields(t *testing.T) {
	t.Parallel()
	good := ownEntry("own")
	for want, change := range map[string]func(*Entry){
		"id":              func(e *Entry) { e.ID = "" },
		"questions":       func(e *Entry) { e.Questions = nil },
		"answers":         func(e *Entry) { e.Answers = nil },
		"questions.en[1]": func(e *Entry) { e.Questions[chat.English] = []string{"a question", " "} },
		"answers.zh":      func(e *Entry) { e.Answers[chat.Chinese] = "" },
		"answers.en":      func(e *Entry) { e.Answers = map[string]string{chat.Chinese: "自己的"} },
	} {
		e := good.Clone()
		change(&e)
		faults := Faults(e.Check())
		if len(faults) != 1 || faults[0].Field != want || !errors.Is(e.Check(), ErrBounds) {
			t.Errorf("%s: %+v", want, faults)
		}
	}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	_, err := ReadYAML("f", []byte("faqs:\n - {id: a, answer: x, questions: [y], more: 1}\n - {id: b, answers: z}\n"))
	if faults := Faults(err); len(faults) != 2 || faults[0].Line != 2 || faults[1].Line != 3 {
		t.Errorf("%+v", faults)
	}
}
