//go:build browser

package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// script is one conversation.
type script struct {
	lang, question, final, html, again string
	pieces                             []string
	dark                               bool
}

var english = script{
	lang: "en", question: "Where is my order 10042?",
	pieces: []string{"Your order 10042 left our ", "warehouse this morning. ", "It should be with you ", "on Thursday."},
	final:  "Your order **10042** left our warehouse this morning.",
	html: `<p>Your order <strong>10042</strong> left our warehouse this morning.</p><ul><li>Carrier: Blue Parcel</li>` +
		`<li>Expected: Thursday, before 18:00</li></ul><p>You can <a href="https://track.example/10042">follow it here</a>.</p>` +
		`<script>document.title = "stolen"</script><img src="x" onerror="document.title = 'stolen'"><a href="javascript:alert(1)">trap</a>`,
	again: "Thank you! Can I still change the address?",
}

var chinese = script{
	lang: "zh", question: "我的订单 10042 到哪里了？", dark: true,
	pieces: []string{"您的订单 10042 ", "今天上午已经从仓库发出，", "预计", "周四送达。"},
	final:  "您的订单 **10042** 今天上午已经发出。",
	html: `<p>您的订单 <strong>10042</strong> 今天上午已经从仓库发出。</p><ul><li>承运商：蓝色快递</li><li>预计：周四 18:00 前送达</li></ul>` +
		`<p>可以<a href="https://track.example/10042">在这里查看物流</a>。</p>` +
		`<script>document.title = "stolen"</script><img src="x" onerror="document.title = 'stolen'"><a href="javascript:alert(1)">陷阱</a>`,
	again: "谢谢！还可以修改收货地址吗？",
}

func TestWidgetHoldsAConversation(t *testing.T) {
	for _, s := range []script{english, chinese} {
		t.Run(s.lang, func(t *testing.T) { converse(t, newStage(t), newBrowser(t), s) })
	}
}

func converse(t *testing.T, st *stage, b *browser, s script) {
	if s.dark {
		b.dark()
	}
	b.do(chromedp.Navigate(st.url + "/?lang=" + s.lang))
	b.until("the connection", `this.querySelector(".panel").dataset.state === "online"`)
	b.shoot(s.lang + "-1-open")

	b.write(s.question)
	if n := b.count(".row.own"); n != 1 {
		t.Fatalf("%d messages are shown at once, want 1", n)
	}
	b.until("the mark of acceptance", `this.querySelector(".row.own").dataset.state === "accepted"`)
	b.until("the place in the queue", `this.querySelector(".live .place").textContent.includes("3")`)
	b.shoot(s.lang + "-2-waiting")

	r := st.next()
	for i, piece := range s.pieces[:2] {
		st.say(r, i, piece)
	}
	said := strings.Join(s.pieces[:2], "")
	b.until("the streamed text", `this.querySelector(".live .said").textContent === `+quoted(said))
	b.shoot(s.lang + "-3-streaming")

	st.lines.cut()
	b.until("the loss of the connection", `this.querySelector(".panel").dataset.state !== "online" || window.seen`)
	b.until("the new connection", `this.querySelector(".panel").dataset.state === "online"`)
	if n := b.count(".row.own"); n != 1 {
		t.Errorf("%d messages after the reconnect, want 1", n)
	}
	// A piece that follows a gap is not shown: the answer as a whole is.
	st.say(r, 3, s.pieces[3])
	st.answer(r, s.final, s.html, s.lang)
	b.until("the final answer", `this.querySelector(".row.bot strong")?.textContent === "10042"`)
	b.shoot(s.lang + "-4-answered")
	settled(t, b)

	// A message that is sent while the line is dead arrives once it is back.
	st.lines.cut()
	b.write(s.again)
	b.until("the second acceptance", `this.querySelectorAll('.row.own[data-state="accepted"]').length === 2`)
	r = st.next()
	b.do(chromedp.Reload())
	b.until("the resumed conversation", `this.querySelectorAll('.row.own[data-state="accepted"]').length === 2`)
	st.say(r, 0, "…")
	st.answer(r, s.final, s.html, s.lang)
	b.until("the second answer", `this.querySelectorAll(".row.bot strong").length === 2`)
	b.shoot(s.lang + "-5-resumed")
	if n := b.count(".live"); n != 0 {
		t.Errorf("%d answers are still being written", n)
	}
	b.quiet()
}

// settled checks the one answer: what the server should have removed is not there
// either, and nothing is left of the stream.
func settled(t *testing.T, b *browser) {
	t.Helper()
	for selector, want := range map[string]int{
		".live": 0, ".row.own": 1, ".row.bot:not(.greeting)": 1, ".row.bot .ai": 1, ".bubble li": 2, ".bubble a": 1,
		`.bubble a[href^="https:"][rel~="noopener"]`: 1, ".bubble img, .bubble script, .bubble [onerror], [style]": 0,
	} {
		if n := b.count(selector); n != want {
			t.Errorf("%d of %s, want %d", n, selector, want)
		}
	}
	title, err := chromedp.Run(b.ctx, chromedp.Title())
	must(t, err)
	if title != "Sluice" {
		t.Errorf("the page's title is %q", title)
	}
}
