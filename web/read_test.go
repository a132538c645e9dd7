//go:build browser

package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// What was only delivered, to a panel that is closed, is not read.
func TestWidgetSaysWhatWasRead(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	b.do(chromedp.Navigate(st.url + "/?lang=en"))
	b.until("the connection", online)
	b.write("Where is my order 10042?")
	r := st.next()
	read := func(want uint64) func() bool {
		return func() bool {
			s, err := st.queue.Session(t.Context(), "demo", r.stored.Session)
			return err == nil && s.Read == want
		}
	}
	click := func() {
		t.Helper()
		_, err := inside[bool](b, `this.querySelector(".launcher").click()`)
		must(t, err)
	}
	b.wait("that the question is read", read(1))
	click()
	st.answer(r, "On its way.", "<p>On its way.</p>", "en")
	b.until("the badge", `this.querySelector(".badge")?.textContent === "1"`)
	if !read(1)() {
		t.Error("an answer counts as read that nobody has seen")
	}
	click()
	b.wait("that the answer is read", read(2))
}
