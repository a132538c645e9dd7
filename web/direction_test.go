//go:build browser

package web_test

import (
	"net/url"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// Marks that turn the order of what is shown are in no text of the conversation, and each
// part of it has a direction of its own.
func TestWidgetShowsTextsInTheirOwnOrder(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	b.do(chromedp.Navigate(st.url + "/?lang=en"))
	b.until("the connection", online)
	b.write("pay \u202e001\u202c and \u2067100\u2069")
	r := st.next()
	st.say(r, 0, "a piece \u202dof it")
	b.until("the piece", `this.querySelector(".said")?.textContent === "a piece of it"`)
	st.answer(r, "none", "<p>see &#x202E;<a href=\"https://ok.example\">ok\u202b.example</a> \u2066next</p><p><strong>end</strong></p>", "en")
	b.until("the answer", `[...this.querySelectorAll(".row.bot strong")].some((n) => n.textContent === "end")`)
	got, err := inside[[]string](b, `
		const bubbles = [...this.querySelectorAll(".row.own .bubble, .row.bot:not(.greeting) .bubble")];
		const parts = bubbles.flatMap((n) => [n, ...n.querySelectorAll("*")]);
		const open = parts.filter((n) => getComputedStyle(n).unicodeBidi !== "plaintext").map((n) => n.nodeName);
		return [...bubbles.map((n) => n.textContent), ...open];`)
	must(t, err)
	if want := []string{"pay 001 and 100", "see ok.example nextend"}; !slices.Equal(got, want) {
		t.Errorf("shown: %q, want %q", got, want)
	}
}

// The demo page gives the widget the form of Chinese that was asked for.
func TestDemoPageKeepsTheFormOfChinese(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	for asked, want := range map[string]string{"zh-TW": "zh-TW", "zh": "zh-CN", "zh-<b>": "zh-CN", "fr": "en"} {
		b.do(chromedp.Navigate(st.url + "/?lang=" + url.QueryEscape(asked)))
		b.until("the connection", online)
		if got := outside[string](b, `document.querySelector("script[data-key]").dataset.locale`); got != want {
			t.Errorf("%s: the widget speaks %s, want %s", asked, got, want)
		}
	}
}
