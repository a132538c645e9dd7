//go:build browser

package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// counted counts timers and sockets that are under way.
const counted = `
	window.timers = new Set();
	const set = window.setTimeout, clear = window.clearTimeout;
	window.setTimeout = (run, ...rest) => { const id = set(() => { timers.delete(id); run(); }, ...rest); timers.add(id); return id; };
	window.clearTimeout = (id) => { timers.delete(id); clear(id); };
	window.sockets = [];
	const Real = WebSocket;
	window.WebSocket = class extends Real { constructor(...given) { super(...given); sockets.push(this); } };`

// TestHundredCyclesLeaveNothingBehind boots and shuts the widget down, each time with a
// socket that has its welcome.
func TestHundredCyclesLeaveNothingBehind(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	b.before(counted)
	b.do(chromedp.Navigate(st.shop("", "")))
	cycles := func(n int) (nodes, listeners float64) {
		outside[bool](b, fmt.Sprintf(`(async () => {
			const chat = await import(%s);
			for (let i = 0; i < %d; i++) {
				chat.boot({ key: %s, locale: "en", open: true });
				await new Promise((done) => sockets.at(-1).addEventListener("message", done, { once: true }));
				chat.shutdown();
				await Promise.all(sockets.map((s) => s.readyState === 3 || new Promise((done) => s.addEventListener("close", done, { once: true }))));
				sockets.length = 0;
			}
			return true;
		})()`, quoted(st.url+"/widget.js"), n, quoted(st.key)))
		_, err := chromedp.Call(b.ctx, heapprofiler.CollectGarbage, cdp.Empty{})
		must(t, err)
		_, err = chromedp.Call(b.ctx, performance.Enable, performance.EnableParams{})
		must(t, err)
		found, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
		must(t, err)
		for _, m := range found.Metrics {
			switch m.Name {
			case "Nodes":
				nodes = m.Value
			case "JSEventListeners":
				listeners = m.Value
			}
		}
		return nodes, listeners
	}
	nodes, listeners := cycles(10)
	after, listening := cycles(100)
	t.Logf("nodes %v then %v, listeners %v then %v", nodes, after, listeners, listening)
	// What the last one held may still be there; a hundred times that may not.
	if after > nodes+200 || listening > listeners+50 {
		t.Errorf("a hundred cycles leave %v nodes and %v listeners behind", after-nodes, listening-listeners)
	}
	if left := outside[int](b, "timers.size"); left != 0 {
		t.Errorf("%d timers are left", left)
	}
	if left := outside[int](b, `document.querySelectorAll("sluice-chat").length`); left != 0 {
		t.Errorf("%d widgets are left", left)
	}
}
