//go:build browser

package web_test

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// axePath is where npm puts the checker, which web/package.json pins.
const axePath = "node_modules/axe-core/axe.min.js"

// openRoots lets the checker see into the widget: it does not enter closed roots.
const openRoots = `const attach = Element.prototype.attachShadow;
	Element.prototype.attachShadow = function () { return attach.call(this, { mode: "open" }); };`

// withAxe loads the checker into the tab's page, which stays as it is.
func (b *browser) withAxe() {
	b.t.Helper()
	script, err := os.ReadFile(axePath)
	if err != nil {
		b.t.Fatalf("the checker axe-core is not there (%v): run npm ci in web/", err)
	}
	outside[bool](b, string(script)+"; true")
}

// accessible fails for each serious fault of the page in the state that it is in.
func (b *browser) accessible(state string) {
	b.t.Helper()
	faults := outside[[]string](b, `axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations
		.filter((v) => v.impact === "serious" || v.impact === "critical")
		.flatMap((v) => v.nodes.map((n) => v.id + " at " + n.target.flat().join(" ") + ": " + n.failureSummary)))`)
	if len(faults) > 0 {
		b.t.Errorf("%s: %s", state, strings.Join(faults, "\n"))
	}
}

// TestWidgetIsAccessibleInEveryState goes through the states in both languages, a light and
// a dark theme; it takes the pictures of them, too.
func TestWidgetIsAccessibleInEveryState(t *testing.T) {
	for _, s := range []script{english, chinese} {
		t.Run(s.lang, func(t *testing.T) { visit(t, newStage(t), newBrowser(t), s) })
	}
}

func visit(t *testing.T, st *stage, b *browser, s script) {
	b.prefer(s.scheme)
	b.before(openRoots)
	b.do(chromedp.Navigate(st.url + "/?lang=" + s.lang))
	b.until("the connection", online)
	b.withAxe()
	see := func(state string) {
		t.Helper()
		b.accessible(state)
		b.shoot(s.lang + "-state-" + state)
	}
	see("open")
	b.click(".toggle")
	see("phone")
	_, err := inside[bool](b, `this.querySelector("input[type=tel]").value = "12"; this.querySelector(".number").requestSubmit();`)
	must(t, err)
	b.until("what is wrong with it", `this.querySelector(".hint[role=alert]")`)
	see("phone-wrong")
	_, err = inside[bool](b, `this.querySelector("input[type=tel]").value = "+86 138-0013-8000"; this.querySelector(".number").requestSubmit();`)
	must(t, err)
	b.write(s.question)
	b.until("the place", `this.querySelector(".live .place").textContent.includes("3")`)
	see("waiting")
	r := st.next()
	if r.stored.Phone != "+8613800138000" {
		t.Errorf("the ticket's phone is %q", r.stored.Phone)
	}
	st.say(r, 0, s.pieces[0])
	b.until("the stream", `this.querySelector(".writing")`)
	see("streaming")
	followUp := st.promise(r)
	b.until("the promise", `this.querySelector(".promise")`)
	see("promised")
	st.settle(followUp)
	b.until("how it stands now", `this.querySelectorAll(".promise").length === 1 && !/\d/.test(this.querySelector(".promise").textContent)`)
	b.click(".rate")
	b.click(".stars label:nth-child(4) input")
	b.until("room for a comment", `!this.querySelector(".more").hidden`)
	see("rating")
	b.write(s.again)
	r = st.next()
	st.hand(r, s.final)
	b.until("the new owner", `this.querySelector(".panel").dataset.owner === "queue"`)
	see("handed")
	b.click("header button")
	see("new-conversation")
	b.click(".question button:last-child")
	b.click("header button:last-child")
	see("closed")
	b.quiet()
}
