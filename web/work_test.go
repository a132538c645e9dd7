//go:build browser

package web_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sluice/api"
	"sluice/internal/chat"
	"sluice/internal/queue"
)

// TestOperatorsWorkAndSeeItDone goes through tickets, what people have, content and access,
// and looks at the API each time. What others have written stays text.
func TestOperatorsWorkAndSeeItDone(t *testing.T) {
	d, b := newDesk(t), newBrowser(t)
	b.prefer("light")
	b.before(inEnglish)
	dead := d.end(markup+" \u202eturned\u2069", func(t *chat.Ticket) { t.Dead = true })
	handed := d.end("a person, please", func(t *chat.Ticket) { t.Handoff = &chat.Handoff{At: time.Now(), Cause: chat.HandoffTool} })
	b.enterAs(d.url+"/admin#/tickets", "anna")
	b.withAxe()
	workDead(t, d, b, dead)
	workHandoffs(t, d, b, handed)
	workTickets(t, d, b, dead)
	workKnowledge(t, d, b)
	workFAQ(t, d, b)
	workTenants(t, d, b)
	b.view("audit")
	b.reads("tenant.add")
	if outside[bool](b, `window.hit === 1`) {
		t.Error("markup ran")
	}
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	for _, name := range []string{"tickets", "faq", "audit"} {
		b.view(name)
		b.see("nothing wider than the phone", `document.documentElement.scrollWidth <= 390`)
		b.shoot("work-phone-" + name)
	}
	b.calm()
}

// end asks a question, and ends it as a dispatcher would.
func (d *desk) end(text string, change func(*chat.Ticket)) string {
	d.t.Helper()
	d.ask(text)
	jobs := make(chan running)
	ctx, cancel := context.WithCancel(d.t.Context())
	defer cancel()
	go func() { _ = d.pullOne(ctx, jobs) }()
	r := <-jobs
	stored, err := d.queue.Admit(d.t.Context(), r.job)
	must(d.t, err)
	stored, err = d.queue.Take(d.t.Context(), stored, time.Now().UTC())
	must(d.t, err)
	change(&stored.Ticket)
	stored.Answer(byTemplate(&stored.Ticket, chat.ReasonError), time.Now().UTC())
	stored, err = d.queue.End(d.t.Context(), r.job, stored)
	must(d.t, err)
	return stored.ID
}

// pullOne hands on the next job of the lane of demo.
func (s *stage) pullOne(ctx context.Context, jobs chan<- running) error {
	return s.queue.Pull(ctx, chat.Normal, 1, 10*time.Second, func(j *queue.Job) {
		select {
		case jobs <- running{job: j}:
		case <-ctx.Done():
		}
	})
}

// result waits for what came of an action, and closes its dialog.
func (b *browser) result() {
	b.t.Helper()
	b.see("the result", `document.querySelector("dialog .result")`)
	b.press("dialog", "Close")
	b.see("no dialog", `!document.querySelector("dialog")`)
}

func workDead(t *testing.T, d *desk, b *browser, id string) {
	t.Helper()
	b.view("dead-letters")
	b.reads("<img src=x")
	outside[bool](b, `document.querySelector("details").open = true`)
	b.accessible("a dead letter's story")
	b.press("td", "Requeue")
	b.act("Requeue")
	b.result()
	var page struct{ Total int }
	d.call(http.MethodGet, "dead-letters", nil, &page)
	if page.Total != 0 {
		t.Errorf("%s is still one of %d dead letters", id, page.Total)
	}
}

func workHandoffs(t *testing.T, d *desk, b *browser, id string) {
	t.Helper()
	human := func() string {
		t.Helper()
		var page struct{ Handoffs []api.Handoff }
		d.call(http.MethodGet, "handoffs", nil, &page)
		if len(page.Handoffs) != 1 || page.Handoffs[0].TicketID != id {
			t.Fatalf("%+v", page)
		}
		return page.Handoffs[0].Human
	}
	b.view("handoffs")
	b.press("td", "Take over")
	b.act("Take over")
	b.result()
	if h := human(); h != "anna" {
		t.Errorf("%q has the session", h)
	}
	b.press("td", "Write")
	b.fill("text", "Hello, "+markup)
	b.press("dialog", "Write")
	b.result()
	b.press("td", "Give back")
	b.act("Give back")
	b.result()
	if h := human(); h != "" {
		t.Errorf("%q has the session", h)
	}
}

func workTickets(t *testing.T, d *desk, b *browser, dead string) {
	t.Helper()
	open := func() int {
		t.Helper()
		var page api.TicketPage
		d.call(http.MethodGet, "tickets?state=queued", nil, &page)
		return len(page.Tickets)
	}
	d.ask("one", "two")
	before := open()
	b.view("tickets/" + dead)
	b.see("the story", `document.querySelector(".story li.bad")`)
	if outside[bool](b, `/[\u202A-\u202E\u2066-\u2069]/.test(document.body.textContent) || !document.body.textContent.includes("turned")`) {
		t.Error("a customer's marks turn the order of what is shown")
	}
	b.accessible("a ticket")
	b.shoot("work-ticket")
	b.view("tickets?state=queued&tenant=demo")
	b.see("what waits", `document.querySelectorAll("tbody tr").length === `+strconv.Itoa(before))
	b.shoot("work-tickets")
	outside[bool](b, `document.querySelector("tbody a").click(); true`)
	b.press("", "Cancel the ticket")
	b.act("Cancel the ticket")
	b.result()
	if n := open(); n != before-1 {
		t.Errorf("%d are open, were %d", n, before)
	}
	b.view("tickets?state=queued&tenant=demo")
	b.press("", "Cancel all that match")
	b.see("the count", `new RegExp("Tickets that match\\s*" + `+quoted(strconv.Itoa(before-1))+`).test(document.querySelector("dialog .touches").innerText)`)
	b.act("Cancel all that match")
	b.see("the end of the action", `document.querySelector(".card .tag.good")`)
	b.accessible("a bulk action")
	b.shoot("work-bulk")
	if n := open(); n != 0 {
		t.Errorf("%d are open", n)
	}
}

func workKnowledge(t *testing.T, d *desk, b *browser) {
	t.Helper()
	const name = `<img src=x onerror=window.hit=1>/a.md`
	b.view("knowledge/document")
	b.fill("name", name)
	b.fill("text", "# Lamps "+markup)
	b.press("", "Put into the draft")
	b.act("Put into the draft")
	b.reads("Publish the draft")
	b.see("the change", `document.querySelector("tbody .tag.good")`)
	b.press("td", "Difference")
	b.see("the difference", `document.querySelector(".diff .in")`)
	b.accessible("a draft")
	b.press("", "Publish the draft")
	b.act("Publish the draft")
	b.result()
	var k api.KnowledgeState
	d.call(http.MethodGet, "knowledge", nil, &k)
	if k.Documents != 1 || len(k.Published) != 1 || k.Published[0].Name != name || k.Actor != "anna" {
		t.Errorf("%+v", k)
	}
	b.view("knowledge")
	b.reads(name)
	b.view("knowledge/history")
	b.reads(reason)
}

func workFAQ(t *testing.T, d *desk, b *browser) {
	t.Helper()
	b.view("faq/entry")
	b.fill("id", "lamp-price")
	b.fill("questions.en", "what does the lamp cost\nhow much is the lamp\n")
	b.reads("2 phrasings: with fewer than 5")
	b.fill("answers.en", "Ten. "+markup)
	b.accessible("an entry")
	b.shoot("work-entry")
	b.press("", "Save the entry")
	b.act("Save the entry")
	b.result()
	b.view("faq")
	b.see("the entry", `[...document.querySelectorAll("tbody a")].some((a) => a.textContent === "lamp-price")`)
	var list struct {
		Revision uint64
		Entries  []api.FAQEntry
	}
	d.call(http.MethodGet, "faq?after=lamp&limit=1", nil, &list)
	if list.Revision == 0 || len(list.Entries) != 1 || list.Entries[0].ID != "lamp-price" || !list.Entries[0].Thin || len(list.Entries[0].Questions["en"]) != 2 {
		t.Errorf("%+v", list)
	}
	b.view("faq/entry/lamp-price")
	b.see("the phrasings", `document.querySelector("[name='questions.en']")?.value.startsWith("what does")`)
	b.view("faq/try")
}

func workTenants(t *testing.T, d *desk, b *browser) {
	t.Helper()
	b.view("tenants")
	b.press("", "Add a tenant")
	b.fill("name", "bakery")
	b.fill("origins", "https://bakery.example")
	b.act("Add a tenant")
	b.see("the keys", `/sk_/.test(document.querySelector("dialog .result")?.innerText)`)
	b.accessible("new keys")
	b.shoot("work-keys")
	b.result()
	b.reads("https://bakery.example")
	var all struct{ Tenants []api.TenantInfo }
	d.call(http.MethodGet, "tenants", nil, &all)
	if len(all.Tenants) != 2 {
		t.Errorf("%+v", all)
	}
	if strings.Contains(outside[string](b, `document.body.innerText`), "sk_") {
		t.Error("a secret is still shown")
	}
}
