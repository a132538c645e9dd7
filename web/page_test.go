//go:build browser

package web_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// shop serves one page of somebody else, on every path. A policy may hold NONCE, as may
// the body; SERVER stands for the api's address and KEY for the publishable key.
func (s *stage) shop(policy, body string) string {
	s.t.Helper()
	fill := strings.NewReplacer("NONCE", "bm9uY2U", "SERVER", s.url, "SOCKET", strings.Replace(s.url, "http", "ws", 1), "KEY", s.key)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if policy != "" {
			w.Header().Set("Content-Security-Policy", fill.Replace(policy))
		}
		_, _ = io.WriteString(w, fill.Replace(`<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><h1>Shop</h1>`+body))
	}))
	s.t.Cleanup(server.Close)
	return server.URL
}

// tab opens one more page of the same browser, with the same storage.
func (b *browser) tab(url string) *browser {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	other := &browser{t: b.t, ctx: ctx}
	other.do(chromedp.Navigate(url))
	other.until("the connection", online)
	return other
}

// before runs a script in every page of the tab before the page's own.
func (b *browser) before(script string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	must(b.t, err)
}

// outside evaluates an expression in the page, and waits where it is a promise.
func outside[T any](b *browser, expression string) (result T) {
	b.t.Helper()
	made, err := chromedp.Call(b.ctx, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, AwaitPromise: new(true), ReturnByValue: new(true),
	})
	must(b.t, err)
	if made.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, made.ExceptionDetails.Exception.Description)
	}
	if len(made.Result.Value) > 0 {
		must(b.t, json.Unmarshal(made.Result.Value, &result))
	}
	return result
}

// click presses the one element that a selector meets.
func (b *browser) click(selector string) {
	b.t.Helper()
	_, err := inside[bool](b, `this.querySelector(`+quoted(selector)+`).click(); return true`)
	must(b.t, err)
}

// said returns who said what, from the first message to the last.
func (b *browser) said() string {
	b.t.Helper()
	all, err := inside[string](b, `return [...this.querySelectorAll(".list .row:not(.greeting)")].map((row) =>
		row.classList[1] + ": " + (row.querySelector(".bubble") ?? row).textContent).join("\n")`)
	must(b.t, err)
	return all
}

func TestWidgetRunsUnderAPolicyOfNonces(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	url := st.shop("default-src 'none'; img-src data:; script-src 'nonce-NONCE' 'strict-dynamic'; style-src 'nonce-NONCE'; connect-src SOCKET; base-uri 'none'",
		`<script nonce="NONCE" type="module" async src="SERVER/widget.js" data-key="KEY" data-locale="en" data-accent="#fde047" data-theme="dark" data-open></script>`)
	b.do(chromedp.Navigate(url))
	b.until("the connection", online)
	b.write("Does it run?")
	st.answer(st.next(), "It does.", "<p>It <strong>does</strong>.</p>", "en")
	b.until("the answer", `this.querySelector(".row.bot strong")`)
	b.until("a dark ground", `getComputedStyle(this.querySelector(".panel")).backgroundColor === "rgb(18, 25, 29)"`)
	// Yellow takes black text; the colours come as they are written.
	b.until("dark text on the light accent", `/^oklch\(0 |rgb\(0, 0, 0\)/.test(getComputedStyle(this.querySelector(".own .bubble")).color)`)
	b.shoot("foreign-4-accent")
	b.quiet()
}

// TestWidgetRunsInAFrameWithoutStorage: the browser denies the frame its storage.
func TestWidgetRunsInAFrameWithoutStorage(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	b.before(`Object.defineProperty(window, "localStorage", { get() { throw new DOMException("no", "SecurityError"); } })`)
	inner := st.shop("", `<script type="module" src="SERVER/widget.js" data-key="KEY" data-locale="zh-TW" data-open></script>`)
	b.do(chromedp.Navigate(st.shop("", `<iframe src="`+inner+`" width="420" height="640"></iframe>`)))
	b.until("the connection", online)
	b.write("可以用嗎？")
	st.answer(st.next(), "可以。", "<p><strong>可以。</strong></p>", "zh")
	b.until("the answer", `this.querySelector(".row.bot strong")`)
	b.click("header button")
	b.until("the question", `!this.querySelector(".question").hidden`)
	b.click(".question button")
	b.until("a new conversation", `!this.querySelector(".row.own") && `+online)
	b.quiet()
}

func TestTabsShareOneConversation(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	url := st.url + "/?lang=en"
	b.do(chromedp.Navigate(url))
	b.until("the connection", online)
	tabs := []*browser{b, b.tab(url), b.tab(url)}
	for i, tab := range tabs {
		tab.write("Question of tab " + string(rune('A'+i)))
		r := st.next()
		st.answer(r, "Answer", "<p><strong>Answer</strong></p>", "en")
		for _, other := range tabs {
			other.until("the answer in each", "this.querySelectorAll('.row.bot strong').length === "+string(rune('1'+i)))
		}
	}
	want := "own: Question of tab A\nbot: Answer\nown: Question of tab B\nbot: Answer\nown: Question of tab C\nbot: Answer"
	for i, tab := range tabs {
		if got := tab.said(); got != want {
			t.Errorf("tab %d shows\n%s", i, got)
		}
	}
	tabs[2].click("header button")
	tabs[2].click(".question button")
	for _, tab := range tabs {
		tab.until("the new conversation in each", `!this.querySelector(".row.own") && `+online)
	}
	tabs[0].write("Are you all here?")
	for _, tab := range tabs {
		tab.until("its first message", `this.querySelectorAll('.row.own[data-state="accepted"]').length === 1`)
	}
}
