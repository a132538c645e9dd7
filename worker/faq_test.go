package worker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/faq"
)

// shopBase is the base of the shipped entries.
var shopBase = sync.OnceValues(func() (*faq.Base, error) {
	entries, err := faq.Shipped()
	if err != nil {
		return nil, err
	}
	return faq.Build(context.Background(), entries, nil)
})

// shopWorker answers from the shipped entries; missed counts what it cannot answer. Its
// model fails.
func shopWorker(t *testing.T, missed *faq.Misses) *Worker {
	t.Helper()
	base, err := shopBase()
	if err != nil {
		t.Fatal(err)
	}
	return newWorker(t, &model{err: errors.New("no vendor")}, Config{
		FAQ: func() *faq.Base { return base },
		Missed: func(b *faq.Base, t *chat.Ticket, m faq.Match) {
			missed.Add(b, t.Message, t.Language, m, t.AcceptedAt)
		},
	})
}

func shopTicket(text string) *chat.Ticket {
	return &chat.Ticket{ID: "now", Message: text, Language: chat.Language(text, "")}
}

func TestKnownQuestionsAreAnsweredInTheirLanguage(t *testing.T) {
	t.Parallel()
	missed := faq.NewMisses()
	w := shopWorker(t, missed)
	for text, language := range map[string]string{"忘记密码": chat.Chinese, "Forgot password?": chat.English} {
		ans, ok := w.FAQ(shopTicket(text))
		if !ok || ans.Route != chat.RouteFAQ || ans.Reply.Locale != language || chat.Language(ans.Reply.Text, "") != language || ans.Reply.HTML == "" {
			t.Errorf("%s: %+v", text, ans)
		}
		if ans.Reply.Choices != nil {
			t.Errorf("%s: an answer offers %v", text, ans.Reply.Choices)
		}
	}
	other := shopTicket("忘记密码")
	other.Language = chat.English
	if ans, _ := w.FAQ(other); ans.Reply.Locale != chat.English {
		t.Errorf("the reply is in %s, want the ticket's language", ans.Reply.Locale)
	}
	if ans, ok := newWorker(t, nil, Config{}).FAQ(shopTicket("忘记密码")); ok {
		t.Errorf("without entries: %+v", ans)
	}
	if all := missed.List(10); len(all) != 0 {
		t.Errorf("answered questions were missed: %+v", all)
	}
}

// unsure is a question for which the shipped entries offer something.
func unsure(t *testing.T, w *Worker) chat.Answer {
	t.Helper()
	for _, text := range []string{"how long for money back on card", "refund how long", "change delivery place", "parcel date"} {
		if ans, ok := w.FAQ(shopTicket(text)); ok && ans.Reply.Choices != nil {
			return ans
		}
	}
	t.Fatal("nothing is offered for any of the questions")
	return chat.Answer{}
}

func TestUncertainQuestionsAreOfferedToChooseFrom(t *testing.T) {
	t.Parallel()
	missed := faq.NewMisses()
	w := shopWorker(t, missed)
	ans := unsure(t, w)
	if n := len(ans.Reply.Choices); n != 3 || ans.Route != chat.RouteFAQ || ans.Reply.Locale != chat.English {
		t.Fatalf("%+v", ans)
	}
	for i, choice := range ans.Reply.Choices {
		line := []string{"1. ", "2. ", "3. "}[i] + choice.Text
		if !strings.Contains(ans.Reply.Text, line) || choice.ID == "" {
			t.Errorf("%q does not list %+v", ans.Reply.Text, choice)
		}
	}
	if !strings.Contains(ans.Reply.HTML, "<ol>") {
		t.Errorf("no list in %s", ans.Reply.HTML)
	}
	if all := missed.List(10); len(all) == 0 || all[0].Offered != 1 {
		t.Errorf("misses are %+v", all)
	}
	promising := w.Promise(ans, &chat.Ticket{Phone: "+8613800138000"}, "later", chat.Promise{DueAt: time.Now().Add(time.Hour)})
	if !slices.Equal(promising.Reply.Choices, ans.Reply.Choices) || !strings.HasPrefix(promising.Reply.Text, ans.Reply.Text) || !strings.Contains(promising.Reply.HTML, "8000") {
		t.Errorf("with a promise: %+v", promising.Reply)
	}
}

func offered(ans chat.Answer) chat.Event {
	t := chat.Ticket{ID: "before", Status: chat.Answered, Reply: &ans.Reply, Route: ans.Route}
	return t.FinalEvent()
}

func TestAChoiceIsAnsweredByItsEntryWithoutAModel(t *testing.T) {
	t.Parallel()
	w := shopWorker(t, faq.NewMisses())
	ans := unsure(t, w)
	base, _ := shopBase()
	for at, texts := range map[int][]string{
		0: {"1", " 1. ", "１", "第一个", "the first one", ans.Reply.Choices[0].Text},
		1: {"2", "②", "选2", "第二", "number 2 please", "second", strings.ToUpper(ans.Reply.Choices[1].Text)},
		2: {"3", "option 3", "选三吧", "三"},
	} {
		entry, _ := base.Entry(ans.Reply.Choices[at].ID)
		want, _ := entry.Answer(chat.English)
		for _, text := range texts {
			ticket := shopTicket(text)
			history := []chat.Event{asked("before", "?"), offered(ans), asked("now", text)}
			if !w.Settles(ticket, func() []chat.Event { return history }) {
				t.Errorf("%q is no choice", text)
				continue
			}
			got, err := w.Answer(t.Context(), chat.Question{Ticket: *ticket, History: history}, chat.Effort{Route: chat.RouteAgent}, nil)
			if err != nil || got.Route != chat.RouteFAQ || got.Reply.Text != want || got.Reply.Locale != chat.English {
				t.Errorf("%q: %+v, %v, want the answer of %s", text, got, err, entry.ID)
			}
		}
	}
}

func TestWhoTurnsAnOfferDownIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := shopWorker(t, faq.NewMisses())
	ans := unsure(t, w)
	for _, text := range []string{"no", "None of these.", "不是这些", "都不是！"} {
		ticket := shopTicket(text)
		history := []chat.Event{asked("before", "?"), offered(ans), asked("now", text)}
		if !w.Settles(ticket, func() []chat.Event { return history }) {
			t.Errorf("%q goes on as a question", text)
			continue
		}
		got, err := w.Answer(t.Context(), chat.Question{Ticket: *ticket, History: history}, chat.Effort{Route: chat.RouteAgent}, nil)
		if err != nil || got.Reply.Text != declined[chat.English] || len(got.Reply.Choices) != 0 {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if w.Settles(ticket, func() []chat.Event { return []chat.Event{asked("a", "?"), replied("a", "Shall I?")} }) {
			t.Errorf("%q is taken for an answer to an offer that was not made", text)
		}
	}
}

func TestOnlyWhatWasJustOfferedCanBeChosen(t *testing.T) {
	t.Parallel()
	w := shopWorker(t, faq.NewMisses())
	ans := unsure(t, w)
	gone := ans
	gone.Reply.Choices = []chat.Choice{{ID: "an entry that went", Text: "Gone?"}}
	for name, c := range map[string]struct {
		text    string
		history []chat.Event
	}{
		"nothing was offered":   {"1", []chat.Event{asked("a", "?"), replied("a", "!")}},
		"another answer since":  {"1", []chat.Event{offered(ans), asked("a", "?"), replied("a", "!")}},
		"no such number":        {"4", []chat.Event{offered(ans)}},
		"a sentence with a one": {"I have one question", []chat.Event{offered(ans)}},
		"an order number":       {"10042", []chat.Event{offered(ans)}},
		"the entry is gone":     {"1", []chat.Event{offered(gone)}},
		"no history":            {"2", nil},
	} {
		if w.Settles(shopTicket(c.text), func() []chat.Event { return c.history }) {
			t.Errorf("%s: %q is taken for a choice", name, c.text)
		}
	}
	looked := false
	if w.Settles(shopTicket("where is my parcel, it should have come"), func() []chat.Event { looked = true; return nil }) || looked {
		t.Error("the history is read for a message that can be no choice")
	}
}

func FuzzNumbersOfChoices(f *testing.F) {
	for _, text := range []string{"1", "第二个", "the third one", "第", "选", "the ", "①", "\xff1", "the one"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n := numberOf(text); n < 0 || n > 3 {
			t.Errorf("%q is %d", text, n)
		}
	})
}
