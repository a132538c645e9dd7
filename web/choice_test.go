//go:build browser

package web_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sluice/internal/chat"
)

// offer ends a ticket with questions to choose from.
func (s *stage) offer(r running, choices ...chat.Choice) {
	s.t.Helper()
	r.stored.Answer(chat.Answer{Route: chat.RouteFAQ, Reply: chat.Reply{
		Text: "One of these?\n\n1. …", HTML: "<p>One of these?</p><ol><li>…</li><li>…</li></ol>", Locale: "en", Choices: choices,
	}}, time.Now().UTC())
	_, err := s.queue.End(s.t.Context(), r.job, r.stored)
	must(s.t, err)
}

func TestWidgetShowsChoicesAsButtons(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	b.do(chromedp.Navigate(st.url + "/?lang=en"))
	b.until("the connection", online)
	b.write("How long, and what for?")
	const smuggled = `<img src=x onerror="document.title='x'">`
	st.offer(st.next(), chat.Choice{ID: "a", Text: "How long does a refund take?"}, chat.Choice{ID: "b", Text: smuggled})
	b.until("the buttons", `this.querySelectorAll(".choices button").length === 2`)
	b.shoot("en-6-choices")
	for selector, want := range map[string]int{".bubble ol": 0, ".choices img": 0, `.choices[role="group"]`: 1, ".choices button:disabled": 0, "[style]": 0} {
		if n := b.count(selector); n != want {
			t.Errorf("%d of %s, want %d", n, selector, want)
		}
	}
	shown, err := inside[string](b, `return this.querySelectorAll(".choices button")[1].textContent;`)
	must(t, err)
	if shown != smuggled {
		t.Errorf("the button says %q, want the text as it is", shown)
	}
	_, err = inside[bool](b, `this.querySelector(".choices button").click(); return true;`)
	must(t, err)
	b.until("the chosen question", `[...this.querySelectorAll(".row.own .bubble")].at(-1).textContent === "How long does a refund take?"`)
	if n := b.count(".choices button:disabled"); n != 2 {
		t.Errorf("%d buttons are out of use after the choice, want both", n)
	}
	if r := st.next(); r.stored.Message != "How long does a refund take?" {
		t.Errorf("the server got %q", r.stored.Message)
	}
	b.quiet()
}
