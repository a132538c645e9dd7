package main

import (
	"testing"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/faq"
)

// A list that changes while the one before is learnt stays in force when that is done, and
// has what was learnt of it to ask.
func TestAListThatChangesWhileAnotherIsLearntStaysInForce(t *testing.T) {
	t.Parallel()
	f := newFAQs(nil, func() bool { return false }, hideTelling, func() {}, zerolog.Nop())
	listOf := func(rev uint64, answer string, questions ...string) *storedList {
		list := ownList(answer, questions...)
		entries, err := list.InForce()
		if err != nil {
			t.Fatal(err)
		}
		return &storedList{rev: rev, list: list, entries: entries}
	}
	says := func(question, want string, of uint64) {
		t.Helper()
		base, rev := f.now()
		if m := base.Match(question, chat.English); m.Tier != faq.Answer || m.Answer != want || rev != of {
			t.Errorf("%s: %+v of revision %d, want %q of %d", question, m, rev, want, of)
		}
	}
	first, second := listOf(1, "No parrots.", parrots), listOf(2, "Two parrots.", parrots, "have you got parrots")
	f.enrol(first)
	says(parrots, "No parrots.", 1)
	learnt, err := faq.Build(t.Context(), first.entries, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.enrol(second)
	says("have you got parrots", "Two parrots.", 2)
	f.put(first, &faqInForce{rev: 1, base: learnt})
	says("have you got parrots", "Two parrots.", 2)
	says(parrots, "Two parrots.", 2)
	f.enrol(&storedList{rev: 3})
	if base, rev := f.now(); base != nil || rev != 3 {
		t.Errorf("a list without entries answers, revision %d", rev)
	}
}
