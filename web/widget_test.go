//go:build browser

package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// online says that the widget has its welcome.
const online = `this.querySelector(".panel").dataset.state === "online"`

// script is one conversation.
type script struct {
	lang, question, final, html, again string
	pieces                             []string
	scheme                             string
}

var english = script{
	lang: "en", question: "Where is my order 10042?", scheme: "light",
	pieces: []string{"Your order 10042 left our ", "warehouse this morning. ", "It should be with you ", "on Thursday."},
	final:  "Your order **10042** left our warehouse this morning.",
	html: `<p>Your order <strong>10042</strong> left our warehouse this morning.</p><ul><li>Carrier: Blue Parcel</li>` +
		`<li>Expected: Thursday, before 18:00</li></ul><p>You can <a href="https://track.example/10042">follow it here</a>.</p>`,
	again: "Thank you! Can I still change the address?",
}

var chinese = script{
	lang: "zh", question: "我的订单 10042 到哪里了？", scheme: "dark",
	pieces: []string{"您的订单 10042 ", "今天上午已经从仓库发出，", "预计", "周四送达。"},
	final:  "您的订单 **10042** 今天上午已经发出。",
	html: `<p>您的订单 <strong>10042</strong> 今天上午已经从仓库发出。</p><ul><li>承运商：蓝色快递</li><li>预计：周四 18:00 前送达</li></ul>` +
		`<p>可以<a href="https://track.example/10042">在这里查看物流</a>。</p>`,
	again: "谢谢！还可以修改收货地址吗？",
}

func TestWidgetHoldsAConversation(t *testing.T) {
	for _, s := range []script{english, chinese} {
		t.Run(s.lang, func(t *testing.T) { converse(t, newStage(t), newBrowser(t), s) })
	}
}

func converse(t *testing.T, st *stage, b *browser, s script) {
	b.prefer(s.scheme)
	b.do(chromedp.Navigate(st.url + "/?lang=" + s.lang))
	b.until("the connection", online)
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
	b.wait("another connection", st.lines.open)
	b.until("the new connection", online)
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

// settled checks the one answer, and that nothing is left of the stream.
func settled(t *testing.T, b *browser) {
	t.Helper()
	for selector, want := range map[string]int{
		".live": 0, ".row.own": 1, ".row.bot:not(.greeting)": 1, ".row.bot:not(.greeting) .ai": 1, ".bubble li": 2, ".bubble a": 1,
		`.bubble a[href^="https:"][rel~="noopener"]`: 1, "[style]": 0,
	} {
		if n := b.count(selector); n != want {
			t.Errorf("%d of %s, want %d", n, selector, want)
		}
	}
}

func TestWidgetLeavesAnEnterToTheInputMethod(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	b.do(chromedp.Navigate(st.url + "/?lang=zh"))
	b.until("the connection", online)
	b.compose("我想退")
	b.enter(229)
	if n := b.count(".row.own"); n != 0 {
		t.Errorf("%d messages were sent in the middle of a word", n)
	}
	b.write("款")
	b.until("the whole message", `this.querySelector(".row.own .bubble").textContent === "我想退款"`)
	b.compose("再见")
	// Safari ends the composition first and gives the key after it.
	_, err := inside[bool](b, `
		const field = this.querySelector("textarea");
		field.dispatchEvent(new CompositionEvent("compositionend"));
		field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
		field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true }));`)
	must(t, err)
	if n := b.count(".row.own"); n != 1 {
		t.Errorf("%d messages, want one: a key that ends a composition sends nothing", n)
	}
}

func TestWidgetDropsWhatTheServerShouldHaveDropped(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	b.do(chromedp.Navigate(st.url + "/?lang=en"))
	b.until("the connection", online)
	b.write("What do you know about HTML?")
	r := st.next()
	st.answer(r, "none", strings.Join(hostile, "<p>next</p>")+"<p><strong>end</strong></p>", "en")
	b.until("the answer", `[...this.querySelectorAll(".row.bot strong")].some((n) => n.textContent === "end")`)
	strange, err := inside[string](b, `
		const known = new Set(["P", "BR", "STRONG", "EM", "UL", "OL", "LI", "CODE", "PRE", "A"]);
		const all = [...this.querySelectorAll(".row.bot:not(.greeting) .bubble *")];
		return all.filter((n) => !known.has(n.nodeName) || n.namespaceURI !== "http://www.w3.org/1999/xhtml" ||
			[...n.attributes].some((a) => !["href", "target", "rel"].includes(a.name)) ||
			(n.href && !/^(https?|mailto|tel):/.test(n.href))).map((n) => n.outerHTML).join(" ");`)
	must(t, err)
	if strange != "" {
		t.Errorf("came through: %s", strange)
	}
	if title, err := chromedp.Run(b.ctx, chromedp.Title()); err != nil || title != "Sluice" {
		t.Errorf("the page's title is %q (%v)", title, err)
	}
}

// hostile are ways to smuggle a script, an image or a form into an answer.
var hostile = []string{
	`<script>document.title = "x"</script>`, `<img src=x onerror="document.title='x'">`, `<svg onload="document.title='x'"></svg>`,
	`<svg><script>document.title = "x"</script></svg>`, `<math><mtext><style><img src onerror="document.title='x'"></style></mtext></math>`,
	`<a href="javascript:document.title='x'">a</a>`, "<a href=\"java\tscript:document.title='x'\">a</a>", `<a href="JaVaScRiPt:alert(1)">a</a>`,
	`<a href="data:text/html,<script>alert(1)</script>">a</a>`, `<a href="vbscript:x">a</a>`, `<a href="//evil.example">a</a>`,
	`<a href="https://ok.example" onclick="document.title='x'" style="color:red" class="launcher" id="x">ok</a>`,
	`<iframe src="https://evil.example"></iframe>`, `<iframe srcdoc="<script>alert(1)</script>"></iframe>`, `<object data="x"></object>`,
	`<embed src="x">`, `<form action="https://evil.example"><input name="p"><button>go</button></form>`, `<style>* { display: none }</style>`,
	`<link rel="stylesheet" href="https://evil.example/x.css">`, `<meta http-equiv="refresh" content="0;url=https://evil.example">`,
	`<base href="https://evil.example/">`, `<p style="position:fixed;inset:0" onmouseover="document.title='x'">p</p>`,
	`<template><img src=x onerror="document.title='x'"></template>`, `<noscript><p title="</noscript><img src=x onerror=alert(1)>"></p></noscript>`,
	`<form><input name="nodeName"><input name="childNodes"><input name="attributes"></form>`,
	`<video src=x onerror="document.title='x'"></video>`, `<details open ontoggle="document.title='x'">d</details>`,
	`<div><table><tr><td><blockquote><h2>title</h2></blockquote></td></tr></table></div>`, `<sluice-chat data-key="x"></sluice-chat>`,
	`<textarea><img src=x onerror="document.title='x'"></textarea>`, `<body onload="document.title='x'">`,
	strings.Repeat("<ul><li>", 200) + "deep" + strings.Repeat("</li></ul>", 200),
}

func TestWidgetOutlivesARestart(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	b.do(chromedp.Navigate(st.url + "/?lang=en"))
	b.until("the connection", online)
	b.write("Will you be back?")
	b.until("the acceptance", `this.querySelector('.row.own[data-state="accepted"]')`)
	r := st.next()
	st.stop()
	b.until("the goodbye", `this.querySelector(".panel").dataset.state !== "online"`)
	void := []string{"A message into the void", "and another one", "and a third"}
	for i, text := range void {
		b.write(text)
		b.until("the message on the screen", fmt.Sprintf(`this.querySelectorAll(".row.own").length === %d`, i+2))
	}
	inOrder := func(when string) {
		t.Helper()
		own, err := inside[[]string](b, `return [...this.querySelectorAll(".row.own .bubble")].map((o) => o.textContent)`)
		if must(t, err); !slices.Equal(own[1:], void) {
			t.Errorf("%s the widget shows %q, want %q", when, own[1:], void)
		}
	}
	inOrder("before it is sent")
	st.serve(strings.TrimPrefix(st.url, "http://"))
	st.answer(r, "Yes.", "<p><strong>Yes.</strong></p>", "en")
	b.until("the answer", `this.querySelectorAll(".row.bot strong").length === 1`)
	b.until("the messages of the meantime", `this.querySelectorAll('.row.own[data-state="accepted"]').length === 4`)
	inOrder("afterwards")
	if own, bot := b.count(".row.own"), b.count(".row.bot:not(.greeting):not(.live)"); own != 4 || bot != 1 {
		t.Errorf("%d messages and %d answers after the restart", own, bot)
	}
}

// TestWidgetStandsInAForeignPage: one tag, another origin, a strict policy, a style
// sheet that spares nothing, and rubbish in the storage.
func TestWidgetStandsInAForeignPage(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src data:; script-src 'self' "+st.url+"; style-src 'self'; "+
				"connect-src "+strings.Replace(st.url, "http", "ws", 1)+"; require-trusted-types-for 'script'; trusted-types sluice-chat")
			_, _ = io.WriteString(w, `<!doctype html><title>Shop</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/page.css">`+
				`<script src="/page.js"></script><h1>Shop</h1><script type="module" async src="`+st.url+`/widget.js" data-key="`+st.key+`" data-locale="zh"></script>`)
		case "/page.css":
			w.Header().Set("Content-Type", "text/css")
			_, _ = io.WriteString(w, `button, section, textarea { display: none !important; font-size: 99px } * { letter-spacing: 9px }`)
		case "/page.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, `localStorage.setItem("sluice:`+st.key+`", '{"version":1,"session":7}')`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(host.Close)
	b.prefer("light")
	b.do(chromedp.EmulateViewport(390, 780), chromedp.Navigate(host.URL))
	b.until("the launcher", `getComputedStyle(this.querySelector(".launcher")).display === "grid"`)
	if n := b.count(".panel:not([hidden])"); n != 0 {
		t.Error("the panel is open by itself")
	}
	b.shoot("foreign-1-closed")
	_, err := inside[bool](b, `this.querySelector(".launcher").click()`)
	must(t, err)
	b.until("the connection", online)
	b.write("你好，可以开发票吗？")
	b.until("the acceptance", `this.querySelector('.row.own[data-state="accepted"]')`)
	b.until("the place", `this.querySelector(".live .place").textContent.includes("3")`)
	b.until("a look of its own", `getComputedStyle(this.querySelector(".own .bubble")).letterSpacing === "normal"`)
	b.shoot("foreign-2-open")
	_, err = inside[bool](b, `this.querySelector("header button:last-child").click()`)
	must(t, err)
	st.answer(st.next(), "可以。", "<p>可以。</p>", "zh")
	b.until("the badge", `this.querySelector(".badge")?.textContent === "1"`)
	b.shoot("foreign-3-unread")
	b.quiet()
}
