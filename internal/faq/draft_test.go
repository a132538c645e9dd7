package faq

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestOnlyNewPhrasingsOfADraftAreKept(t *testing.T) {
	t.Parallel()
	entries := entriesOf(t)
	at := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == "password_reset" })
	e := entries[at]
	text := strings.Join([]string{
		"1. I can't get into my account since yesterday",
		"- i can't get into my account since yesterday!",      // the same
		"I can't get into my account since yesterday evening", // nearly the same
		"Forgot password?",                    // known
		entries[0].Questions[chat.English][0], // another entry's
		"我忘了密码怎么办",                            // not the language
		"", "***",
		strings.Repeat("very ", 40) + "long",
		"“login code is gone from my head”",
		"no idea what I chose for signing in",
	}, "\n")
	got := DraftPhrasings(text, entries, e, chat.English, 30)
	want := []string{"I can't get into my account since yesterday", "login code is gone from my head", "no idea what I chose for signing in"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := DraftPhrasings(text, entries, e, chat.English, 1); len(got) != 1 {
		t.Errorf("got %q, want one", got)
	}
}

func TestDraftsHaveRoomForWhatAnEntryLacks(t *testing.T) {
	t.Parallel()
	e := Entry{ID: "a", Questions: map[string][]string{chat.English: {"one", "two"}}, Answers: map[string]string{chat.English: "x"}}
	if en, zh := e.DraftRoom(chat.English), e.DraftRoom(chat.Chinese); en != 28 || zh != 0 {
		t.Errorf("room for %d and %d", en, zh)
	}
	e.Answers[chat.Chinese] = "y"
	if zh := e.DraftRoom(chat.Chinese); zh != 30 {
		t.Errorf("room for %d in a language that has an answer", zh)
	}
	for language, word := range map[string]string{chat.English: "28 more", chat.Chinese: "28 种"} {
		if prompt := e.DraftPrompt(language, 28); !strings.Contains(prompt, word) || !strings.Contains(prompt, "one") {
			t.Errorf("%s: %s", language, prompt)
		}
	}
}

func TestDraftsAreTakenUpOnceAndAgainAfterALoss(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0).UTC()
	var all Drafts
	for i := range MaxDrafts {
		var err error
		if all, err = all.Put(Draft{Entry: fmt.Sprint(i), State: DraftReady, At: now}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := all.Put(Draft{Entry: "one more"}); !errors.Is(err, ErrManyDrafts) {
		t.Errorf("got %v", err)
	}
	if _, due := all.Due(now); due {
		t.Error("a ready draft is due")
	}
	all, _ = all.Put(Draft{Entry: "3", State: DraftWanted, At: now})
	if one, due := all.Due(now); !due || one.Entry != "3" || len(all) != MaxDrafts {
		t.Errorf("%+v", one)
	}
	all, _ = all.Put(Draft{Entry: "3", State: DraftWorking, At: now})
	if _, due := all.Due(now.Add(draftTry)); due {
		t.Error("a draft that is worked on is due")
	}
	if one, due := all.Due(now.Add(draftTry + 1)); !due || one.Entry != "3" {
		t.Errorf("%+v", one)
	}
	doc, err := all.Drop("3").Document()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ReadDrafts(doc)
	if _, found := back.Find("3"); err != nil || found || len(back) != MaxDrafts-1 {
		t.Errorf("%d drafts, %v", len(back), err)
	}
}
