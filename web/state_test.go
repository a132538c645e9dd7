//go:build browser

package web_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"sluice/internal/chat"
)

// promise ends a ticket with a reply that promises a text message; it returns the follow-up.
func (s *stage) promise(r running) string {
	s.t.Helper()
	id, made, err := s.queue.Promise(s.t.Context(), &r.stored.Ticket, time.Now().UTC(), 30*time.Minute, chat.TextCaps{PerNumber: 100, PerTenant: 100})
	must(s.t, err)
	r.stored.Answer(chat.Answer{
		Route: chat.RouteTemplate, Reason: chat.ReasonOverdue, FollowUp: id, Promise: &made,
		Reply: chat.Reply{Text: "Later.", HTML: "<p>Later.</p>", Locale: r.stored.Language},
	}, time.Now().UTC())
	_, err = s.queue.End(s.t.Context(), r.job, r.stored)
	must(s.t, err)
	return id
}

// settle says that the text message is under way.
func (s *stage) settle(followUp string) {
	s.t.Helper()
	_, err := s.queue.SettlePromise(s.t.Context(), followUp, chat.PromiseSent, "", time.Now().UTC())
	must(s.t, err)
}

// hand gives a ticket to people.
func (s *stage) hand(r running, said string) {
	s.t.Helper()
	now := time.Now().UTC()
	_, err := s.queue.Hand(s.t.Context(), r.stored, chat.Reply{Text: said, HTML: "<p>" + said + "</p>"}, now, now.Add(time.Minute))
	must(s.t, err)
}

// TestWidgetAnnouncesEachAnswerOnce counts what is added to the region that a screen reader
// reads out, while an answer streams and ends.
func TestWidgetAnnouncesEachAnswerOnce(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	b.do(chromedp.Navigate(st.url + "/?lang=en"))
	b.until("the connection", online)
	b.write("Read this to me.")
	b.until("the acceptance", `this.querySelector('.row.own[data-state="accepted"]')`)
	r := st.next()
	_, err := inside[bool](b, `
		const log = this.querySelector('[role="log"][aria-live="polite"]');
		log.added = [];
		new MutationObserver((all) => log.added.push(...all.flatMap((m) => [...m.addedNodes]).map((n) => n.textContent)))
			.observe(log, { childList: true, subtree: true });`)
	must(t, err)
	for i, piece := range english.pieces {
		st.say(r, i, piece)
	}
	b.until("the stream", `this.querySelector(".said").textContent.includes("Thursday")`)
	st.answer(r, english.final, english.html, "en")
	b.until("the answer", `this.querySelector(".row.bot strong")`)
	heard, err := inside[[]string](b, `return this.querySelector(".list").added`)
	must(t, err)
	if len(heard) != 1 || !strings.Contains(heard[0], "left our warehouse") || !strings.HasPrefix(heard[0], "AI") {
		t.Errorf("heard %q, want the answer once, with its label", heard)
	}
}

// TestWidgetTakesALongMessageWhole: 10,000 characters, of three bytes each, and no more.
func TestWidgetTakesALongMessageWhole(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	b.do(chromedp.Navigate(st.url + "/?lang=zh"))
	b.until("the connection", online)
	long := strings.Repeat("请问订单", 2_500)
	_, err := inside[bool](b, "this.querySelector('textarea').focus()")
	must(t, err)
	_, err = chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: long + "多"})
	must(t, err)
	b.until("the count", `!this.querySelector(".left").hidden && this.querySelector("textarea").value.length === 10000`)
	b.enter(13)
	r := st.next()
	if n := utf8.RuneCountInString(r.stored.Message); n != 10_000 || r.stored.Message != long {
		t.Errorf("%d characters arrived", n)
	}
	st.answer(r, long, "<p>"+long+"</p>", "zh")
	b.until("the long answer", `this.querySelector(".list .bot:not(.greeting) .bubble")?.textContent.length === 10000`)
	b.until("no wider than its window", `this.querySelector(".log").scrollWidth <= this.querySelector(".log").clientWidth`)
	b.shoot("zh-long")
}

// TestWidgetSpeaksItsPagesLanguage: its own words and the language of replies are two
// settings, and a language that it does not know is English.
func TestWidgetSpeaksItsPagesLanguage(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	module := "import(" + quoted(st.url+"/widget.js") + ")"
	b.do(chromedp.Navigate(st.shop("", "")))
	outside[bool](b, module+`.then((chat) => chat.boot({ key: `+quoted(st.key)+`, locale: "fr", open: true }))`)
	for locale, title := range map[string]string{
		"fr": "Customer service", "en-GB": "Customer service", "zh-CN": "在线客服", "zh": "在线客服", "zh-TW": "線上客服", "zh-Hant-HK": "線上客服",
	} {
		outside[bool](b, module+`.then((chat) => chat.update({ locale: `+quoted(locale)+` }))`)
		b.until(locale, `this.querySelector(".title").textContent === `+quoted(title)+` && this.host.lang === `+quoted(locale))
	}
	outside[bool](b, module+`.then((chat) => chat.update({ locale: "zh-TW", reply: "en" }))`)
	b.until("the connection", online)
	b.write("10042")
	if r := st.next(); r.stored.Language != chat.English {
		t.Errorf("the reply is to be in %q, want English", r.stored.Language)
	}
	b.shoot("zh-TW")
}

// TestWidgetServesKeyboardAndZoom: a page of 1280 × 860 at 200 % has room for 640 × 430.
func TestWidgetServesKeyboardAndZoom(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	b.prefer("light")
	b.do(chromedp.EmulateViewport(640, 430), chromedp.Navigate(st.url+"/?lang=en"))
	b.until("the connection", online)
	for _, size := range [][2]int64{{640, 430}, {320, 430}, {390, 780}} {
		b.do(chromedp.EmulateViewport(size[0], size[1]))
		b.until("header, log and input inside the window", `["header", ".log", "textarea", ".write [type=submit]"].every((s) => {
			const r = this.querySelector(s).getBoundingClientRect();
			return r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight && r.height > 30;
		})`)
	}
	b.shoot("en-phone")
	b.click(".toggle")
	b.until("the number's field", `this.activeElement === this.querySelector("[type=tel]")`)
	escape := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "Escape", WindowsVirtualKeyCode: 27}
	_, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, escape)
	must(t, err)
	b.until("the input again", `this.activeElement === this.querySelector(".write textarea") && !this.querySelector(".panel").hidden`)
	_, err = chromedp.Call(b.ctx, input.DispatchKeyEvent, escape)
	must(t, err)
	b.until("the launcher", `this.querySelector(".panel").hidden && this.activeElement === this.querySelector(".launcher")`)
	b.quiet()
}
