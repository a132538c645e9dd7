package main

import (
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/queue/queuetest"
	"sluice/internal/sim"
)

// fixedFAQs is an FAQ of the shipped entries that nobody changes.
func fixedFAQs(t *testing.T) *faqs {
	t.Helper()
	entries, err := faq.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	base, err := faq.Build(t.Context(), entries, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := newFAQs(nil, hideTelling, func() {}, zerolog.Nop())
	f.inForce.Store(&faqInForce{base: base})
	return f
}

// uncertain is a question for which a base has something to offer.
func uncertain(t *testing.T, base *faq.Base) string {
	t.Helper()
	for _, text := range []string{"change delivery place", "parcel date", "how long for money back on card", "other colour please"} {
		if base.Match(text, chat.English).Tier == faq.Offer {
			return text
		}
	}
	t.Fatal("nothing is offered for any of the questions")
	return ""
}

func TestWhileNoVendorAnswersTheFAQDoes(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, testRules(t, smallRules), sim.Behaviour{FirstToken: sim.Fixed(5 * time.Millisecond), ErrorShare: 1})
		w.faqs = fixedFAQs(t)
		base := w.faqs.base()
		l := w.live()
		defer func() { l.stop(); w.close() }()
		ask := func(text string) chat.Ticket {
			t.Helper()
			asked := l.accept(w.ask("s1", text, chat.Normal, 10*time.Second))
			return l.until(30*time.Second, asked.ID)[0]
		}
		known := ask("忘记密码")
		entry, _ := base.Entry("password_reset")
		want, _ := entry.Answer(chat.Chinese)
		if known.Route != chat.RouteFAQ || known.Reason == "" || known.Reply.Text != want || known.Reply.Locale != chat.Chinese {
			t.Errorf("a known question: %s, %q, %+v", known.Route, known.Reason, known.Reply)
		}
		unknown := ask("do you sell parrots")
		if unknown.Route != chat.RouteTemplate {
			t.Errorf("a question without an entry: %s, %+v", unknown.Route, unknown.Reply)
		}
		unsure := ask(uncertain(t, base))
		if unsure.Route != chat.RouteFAQ || len(unsure.Reply.Choices) != 3 || !strings.Contains(unsure.Reply.Text, "\n2. ") {
			t.Fatalf("an uncertain question: %s, %+v", unsure.Route, unsure.Reply)
		}
		calls := w.vendors["a"].Stats().Calls
		picked := ask("2")
		entry, _ = base.Entry(unsure.Reply.Choices[1].ID)
		want, _ = entry.Answer(chat.English)
		if picked.Route != chat.RouteFAQ || picked.Reason != "" || picked.Reply.Text != want || picked.Vendor != "" {
			t.Errorf("the second choice: %s, %q, %+v", picked.Route, picked.Reason, picked.Reply)
		}
		if after := w.vendors["a"].Stats().Calls; after != calls {
			t.Errorf("a choice cost %d calls", after-calls)
		}
		if again := ask("2"); again.Route == chat.RouteFAQ {
			t.Errorf("a number without an offer is answered by the FAQ: %+v", again.Reply)
		}
		events, _, _, err := l.queue.Events(t.Context(), "demo", "s1", 0, 100)
		if err != nil || len(events) != 10 || len(events[5].Choices) != 3 || events[7].Choices != nil {
			t.Errorf("%v: %s", err, fmtEvents(events))
		}
		missed := w.faqs.missed.List(10)
		if len(missed) != 2 || missed[0].Count != 1 {
			t.Errorf("missed: %+v", missed)
		}
	})
}
