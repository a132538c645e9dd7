//go:build browser

package web_test

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"sluice/api"
	"sluice/internal/chat"
)

// markup is what no page may take for its own.
const markup = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>"'><svg onload=window.hit=1>`

// inEnglish opens every page of the browser in English, whatever the machine speaks.
const inEnglish = `try { localStorage.setItem("sluice.admin.lang", "en"); } catch {}`

// TestOperatorsActAndSeeItDone goes through what can be done, and looks at the API each time.
func TestOperatorsActAndSeeItDone(t *testing.T) {
	d, b := newDesk(t), newBrowser(t)
	b.prefer("light")
	b.before(inEnglish)
	b.do(chromedp.Navigate(d.url + "/admin"))
	b.fill("user", "anna")
	b.fill("password", "wrong")
	b.press("form", "Log in")
	b.reads("User or password is wrong.")
	b.enterAs(d.url+"/admin#/lanes", "anna")

	steerLanes(t, d, b)
	steerVendors(t, d, b)
	steerValve(t, d, b)
	writeRules(t, d, b)
	restart(t, d, b)
	audited(t, d)
	b.press("", "Log out")
	b.see("the way in", `document.querySelector("input[name=user]")`)
	b.enterAs(d.url+"/admin#/lanes", "carla")
	b.view("lanes")
	b.see("that a viewer may do nothing", `[...document.querySelectorAll("main section button")].every((e) => e.disabled && e.title === "Needs the role Operator.")`)
	b.view("rules")
	b.see("a form to be read", `[...document.querySelectorAll("main input")].length > 20 && [...document.querySelectorAll("main input")].every((e) => e.readOnly)`)
	b.calm()
}

func steerLanes(t *testing.T, d *desk, b *browser) {
	t.Helper()
	const card, high = `section[data-lane="normal"]`, `section[data-lane="normal"] `
	state := func(want chat.LaneState) {
		t.Helper()
		if l := d.lane(chat.Normal); l.State != want || want != chat.LaneOpen && (l.Actor != "anna" || l.Reason != reason) {
			t.Errorf("the lane is %+v, want %s", l, want)
		}
	}
	done := func() {
		t.Helper()
		b.press("dialog", "Close")
		b.see("no dialog", `!document.querySelector("dialog")`)
	}
	d.ask("one", "two", "three")
	b.press(card, "Pause dispatch")
	b.see("what it touches", `/Tickets that wait\s*3/.test(document.querySelector("dialog .touches")?.innerText)`)
	b.press("dialog", "Pause dispatch: Normal")
	b.see("that it wants a reason", `document.querySelector("dialog [aria-invalid=true]")`)
	b.act("Pause dispatch: Normal")
	done()
	state(chat.LanePaused)
	b.press(card, "Resume dispatch")
	b.act("Resume dispatch: Normal")
	done()
	state(chat.LaneOpen)
	b.press(card, "Answer what waits")
	b.act("Answer what waits: Normal")
	b.see("three ended", `/Tickets ended\s*3/.test(document.querySelector("dialog .result")?.innerText)`)
	done()
	if l := d.lane(chat.Normal); l.Depth != 0 || l.Clearing == nil || l.Clearing.Ended != 3 || !l.Clearing.Done {
		t.Errorf("%+v, %+v", l, l.Clearing)
	}
	d.ask("four", "five")
	b.press(card, "Purge")
	b.fill("reason", reason)
	b.press("dialog", "Purge: Normal")
	b.see("that it wants the lane's name", `document.querySelector("dialog [name=confirm][aria-invalid=true]")`)
	b.fill("confirm", "normal")
	b.press("dialog", "Purge: Normal")
	b.see("two ended", `/Tickets ended\s*2/.test(document.querySelector("dialog .result")?.innerText)`)
	done()
	d.ask("six", "seven")
	b.press(card, "Drain")
	b.act("Drain: Normal")
	b.see("how far it is", `document.querySelector("dialog progress")?.checkVisibility()`)
	d.call(http.MethodPost, "lanes/normal/answer", map[string]string{"reason": reason}, nil)
	b.see("two worked off", `/Drained\s*Tickets worked off\s*2\s*Still there\s*0/.test(document.querySelector("dialog .result")?.innerText)`)
	done()
	if status := d.intake("eight"); status != http.StatusServiceUnavailable {
		t.Errorf("the drained lane takes in: %d", status)
	}
	b.see("drained", `document.querySelector(`+quoted(high+".tag")+`).textContent === "Drained"`)
	state(chat.LaneDrained)
	b.press(card, "Take in again")
	b.act("Take in again: Normal")
	done()
	state(chat.LaneOpen)
	if status := d.intake("nine"); status != http.StatusAccepted {
		t.Errorf("the open lane refuses: %d", status)
	}
}

func steerVendors(t *testing.T, d *desk, b *browser) {
	t.Helper()
	const card = `section[data-vendor="a"]`
	breaker := func() string {
		d.brakes.mu.Lock()
		defer d.brakes.mu.Unlock()
		return d.brakes.state["a"]
	}
	b.view("vendors")
	b.press(card, "Hold open")
	b.act("Hold open")
	b.see("an open breaker", `document.querySelector(`+quoted(card+" .tag.bad")+`)`)
	if s := breaker(); s != "open" {
		t.Errorf("the breaker is %s", s)
	}
	b.press(card, "Close the breaker")
	b.act("Close the breaker")
	b.see("a closed breaker", `document.querySelector(`+quoted(card+" .tag.good")+`)`)
	if s := breaker(); s != "closed" {
		t.Errorf("the breaker is %s", s)
	}
	b.press(card, "Change the numbers")
	b.fill("headroom", "7")
	b.act("Change the numbers: a")
	b.see("what is wrong", `document.querySelector("dialog .alert")?.textContent.includes("headroom")`)
	b.fill("headroom", "0.5")
	b.press("dialog", "Change the numbers: a")
	b.see("the permits afterwards", `/Permits afterwards\s*30/.test(document.querySelector("dialog .result")?.innerText)`)
	b.press("dialog", "Close")
	if v := d.rules().Vendors[0]; v.Headroom != 0.5 {
		t.Errorf("%+v", v)
	}
}

func steerValve(t *testing.T, d *desk, b *browser) {
	t.Helper()
	b.view("valve")
	b.press("", "Force a level")
	b.fill("level", "3")
	b.act("Force a level")
	b.see("the result", `document.querySelector("dialog .result")`)
	b.press("dialog", "Close")
	b.reads("forced until")
	if f := d.rules().Valve.Force; f == nil || f.Level != 3 {
		t.Errorf("%+v", f)
	}
	b.press("", "End the force")
	b.act("End the force")
	b.see("the result", `document.querySelector("dialog .result")`)
	b.press("dialog", "Close")
	b.reads("nobody forces one")
	if f := d.rules().Valve.Force; f != nil {
		t.Errorf("%+v", f)
	}
}

// writeRules changes the rules as a form and as text, meets another operator, and goes back.
func writeRules(t *testing.T, d *desk, b *browser) {
	t.Helper()
	var before api.RuleRevision
	d.call(http.MethodGet, "rules", nil, &before)
	b.view("rules")
	b.fill("lanes.high.bound", "0")
	b.see("what is wrong", `document.querySelector(".field .fault")?.textContent.includes("at least 1")`)
	b.fill("lanes.high.bound", "77")
	b.press("", "Save")
	b.see("the difference", `document.querySelector("dialog .diff .in")?.textContent.includes("bound: 77")`)
	b.act("Save the rules")
	b.see("the result", `document.querySelector("dialog .result")`)
	b.press("dialog", "Close")
	if n := d.rules().Lanes[chat.High].Bound; n != 77 {
		t.Errorf("the bound is %d", n)
	}

	b.press("", "Document")
	var now api.RuleRevision
	d.call(http.MethodGet, "rules", nil, &now)
	b.fill("document", "lanes:\n  high: {bound: x}\nreplica: 3\n")
	b.reads("Line 3, column 1:")
	b.see("no way to save", visible("button.primary")+`.find((e) => e.textContent === "Save")?.disabled`)
	b.fill("document", "intents:\n  - {name: rental, examples: [hire a van], template: {zh: 好, en: ok}}\n")
	b.reads("rental: is being tried …")
	b.reads("rental: 75% understood (3 of 4); it draws 0 of 1199 messages of other intents")
	b.reads("taken for payment (1), such as “" + markup + "”")
	mine, theirs := now.Document+"# anna "+markup+"\n", "# berta "+markup+"\n"+now.Document
	b.fill("document", mine)
	b.reads("Valid.")
	d.call(http.MethodPut, "rules", map[string]any{"document": theirs, "reason": "berta " + markup, "revision": now.Revision}, nil)
	b.press("", "Save")
	b.act("Save the rules")
	b.see("both changes", `document.querySelectorAll("dialog .both .diff .in").length === 2`)
	if got := d.revision(); got != theirs {
		t.Error("the conflict overwrote what berta saved")
	}
	b.press("dialog", "Go on with mine")
	b.press("", "Save")
	b.see("what would be undone", `document.querySelector("dialog .diff .out")?.textContent.includes("# berta")`)
	b.act("Save the rules")
	b.see("the result", `document.querySelector("dialog .result")`)
	b.press("dialog", "Close")
	if got := d.revision(); got != mine {
		t.Error("what anna saved is not stored")
	}

	b.press("", "History")
	row := `[...document.querySelectorAll("tbody tr")].find((r) => r.cells[0].textContent === ` + quoted(strconv.FormatUint(before.Revision, 10)) + `)`
	b.see("the way back to the first revision", row+`?.querySelector("button")`)
	outside[bool](b, row+`.querySelector("button").click(); true`)
	b.act("Bring back " + strconv.FormatUint(before.Revision, 10))
	b.see("the result", `document.querySelector("dialog .result")`)
	b.press("dialog", "Close")
	if got := d.revision(); got != before.Document {
		t.Error("the first document is not back")
	}
	if outside[bool](b, `window.hit === 1`) {
		t.Error("markup ran")
	}
}

// revision reads the newest document.
func (d *desk) revision() string {
	d.t.Helper()
	var r api.RuleRevision
	d.call(http.MethodGet, "rules", nil, &r)
	return r.Document
}

// audited fails where anything was done twice: each change has one entry, and one more where
// the end of it was not known when it began, or where it failed.
func audited(t *testing.T, d *desk) {
	t.Helper()
	var page api.AuditPage
	d.call(http.MethodGet, "audit", nil, &page)
	counts := map[string]int{}
	for _, e := range page.Entries {
		if e.Actor == "anna" && e.Result == "" {
			counts[e.Action]++
		}
	}
	want := map[string]int{
		"lane.pause": 2, "lane.resume": 1, "lane.answer": 1, "lane.purge": 1, "lane.drain": 1, "lane.undrain": 1,
		"breaker.open": 1, "breaker.close": 1, "vendor.change": 1, "valve.force": 2, "rules.put": 2, "rules.rollback": 1,
	}
	if !maps.Equal(counts, want) {
		t.Errorf("the audit has %v, want %v", counts, want)
	}
}

// restart ends the server under the page and starts it again; the login holds.
func restart(t *testing.T, d *desk, b *browser) {
	t.Helper()
	b.view("lanes")
	address := strings.TrimPrefix(d.url, "http://")
	d.stop()
	b.reads("Not live")
	b.press(`section[data-lane="low"]`, "Pause dispatch")
	b.reads("The server cannot be reached.")
	b.press("dialog", "Cancel")
	d.serve(address)
	b.see("that it is live again", `!document.querySelector(".banner")?.checkVisibility()`)
	b.press(`section[data-lane="low"]`, "Pause dispatch")
	b.act("Pause dispatch: Low")
	b.see("the result", `document.querySelector("dialog .result")`)
	b.press("dialog", "Close")
	if l := d.lane(chat.Low); l.State != chat.LanePaused {
		t.Errorf("%+v", l)
	}
}

// TestOperatorsPageIsAccessible looks at every view in both languages, light and dark, on a
// wide screen and a phone; at what others have written, too.
func TestOperatorsPageIsAccessible(t *testing.T) {
	d, b := newDesk(t), newBrowser(t)
	d.ask(markup, "=1+1", "two")
	d.call(http.MethodPost, "lanes/low/pause", map[string]string{"reason": markup}, nil)
	b.before(inEnglish)
	b.enterAs(d.url+"/admin", "anna")
	b.withAxe()
	views := outside[[]string](b, `[...document.querySelectorAll(".bar li a")].map((a) => a.hash.slice(2))`)
	if len(views) < 6 {
		t.Fatalf("the views are %q", views)
	}
	b.view("overview")
	b.see("no way to a view that is not there", `[...document.querySelectorAll("main a[href^='#/']")].every((a) => `+
		`document.querySelector(".bar a[href='" + a.hash.split("/").slice(0, 2).join("/") + "']"))`)
	for _, look := range []struct{ lang, theme string }{{"en", "light"}, {"zh", "dark"}} {
		outside[bool](b, `(() => { for (const [i, v] of [[0, `+quoted(look.lang)+`], [1, `+quoted(look.theme)+`]]) {
			const s = document.querySelectorAll(".choices select")[i]; s.value = v; s.dispatchEvent(new Event("change")); } return true; })()`)
		b.see("the theme", `document.documentElement.dataset.theme === `+quoted(look.theme))
		for _, name := range views {
			b.view(name)
			b.accessible(look.lang + " " + look.theme + " " + name)
			b.shoot("admin-" + look.lang + "-" + look.theme + "-" + name)
		}
	}
	b.view("lanes")
	outside[bool](b, `document.querySelector('section[data-lane="normal"] [data-verb="purge"]').click(); true`)
	b.see("what it touches", `document.querySelector("dialog .touches dl")`)
	b.accessible("dialog")
	b.shoot("admin-dialog")
	outside[bool](b, `document.querySelector("dialog").close(); true`)
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	b.view("overview")
	b.see("a menu", `document.querySelector(".menu").checkVisibility() && !document.querySelector(".bar nav").checkVisibility()`)
	outside[bool](b, `document.querySelector(".menu").click(); true`)
	b.see("the names of the views", `document.querySelector(".bar nav").checkVisibility()`)
	b.accessible("phone")
	b.see("nothing wider than the phone", `document.documentElement.scrollWidth <= 390`)
	b.shoot("admin-phone")
	if outside[bool](b, `window.hit === 1`) {
		t.Error("markup ran")
	}
	b.calm()
}
