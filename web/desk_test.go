//go:build browser

package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/rs/zerolog"

	"sluice/api"
	"sluice/internal/chat"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

const (
	operatorPassword = "correct horse"
	operatorHash     = "$argon2id$v=19$m=19456,t=2,p=1$ieubbX0cAymMwWebZJcI4g$TNNQa7b1noM14HpTTaAXX2y0qTgr00D2fFbxKQfrEVg"
	reason           = "because of a test"
)

// desk is a stage with what operators steer: lanes, rules, a controller that counts no
// calls. Nobody takes its jobs: what comes in waits.
type desk struct {
	*stage
	secret string // of the tenant demo
	store  *queue.RuleStore
	brakes *brakes

	mu    sync.Mutex // guards rev and live
	rev   uint64
	live  *rules.Rules
	login map[string]string // headers of an operator's calls
}

// brakes is a controller that knows vendors and runs nothing.
type brakes struct {
	mu    sync.Mutex // guards state
	state map[string]string
}

func (b *brakes) States(context.Context) (map[string]api.VendorState, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[string]api.VendorState{}
	for name, state := range b.state {
		all[name] = api.VendorState{InUse: 2, Limit: 48, Breaker: state}
	}
	return all, nil
}

func (b *brakes) Running(context.Context) (map[chat.Lane]int, error) { return map[chat.Lane]int{}, nil }

func (b *brakes) Levels(context.Context) (map[chat.Lane]int, []api.LevelChange, error) {
	return map[chat.Lane]int{chat.High: 0, chat.Normal: 0, chat.Low: 1}, []api.LevelChange{
		{At: time.Now().Add(-time.Minute), Lane: chat.Low, From: 0, To: 1, Cause: "depth 0.6, threshold 0.5 " + markup},
	}, nil
}

func (b *brakes) OpenBreaker(_ context.Context, vendor string) error { return b.turn(vendor, "open") }

func (b *brakes) CloseBreaker(_ context.Context, vendor string) error {
	return b.turn(vendor, "closed")
}

func (b *brakes) turn(vendor, state string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state[vendor] = state
	return nil
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	srv, err := queue.StartServer(t.Context(), queue.ServerConfig{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(srv.Stop)
	nc, err := srv.Dial()
	must(t, err)
	t.Cleanup(nc.Close)
	first, err := rules.Parse("shipped", rules.Default())
	must(t, err)
	bounds := map[chat.Lane]int{}
	for _, l := range chat.Lanes() {
		bounds[l] = first.Lanes[l].Bound
	}
	d := &desk{stage: &stage{t: t}, brakes: &brakes{state: map[string]string{"a": "closed", "b": "closed", "c": "half-open"}}}
	d.queue, err = queue.Open(t.Context(), nc, queue.Config{Bounds: bounds, Fresh: true, Log: zerolog.Nop()})
	must(t, err)
	d.store, err = queue.OpenRules(t.Context(), nc, 1)
	must(t, err)
	_, err = d.store.Store(t.Context(), rules.Default(), 0)
	must(t, err)
	lanes, err := queue.NewLanes(d.queue, queue.LanesConfig{Node: "one", Intake: true, Log: zerolog.Nop(), Answer: byTemplate})
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := lanes.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	<-lanes.Ready()
	keys := chat.NewKeys()
	demo := chat.Tenant{Name: "demo", Lane: chat.Normal, Loopback: true, CreatedAt: time.Now()}
	demo.SetKeys(keys)
	must(t, d.queue.AddTenant(t.Context(), demo))
	d.secret = keys.Secret
	must(t, d.queue.ChangeStaff(t.Context(), func(staff *queue.Staff) error {
		for name, role := range map[string]chat.Role{"anna": chat.Admin, "berta": chat.Admin, "carla": chat.Viewer} {
			staff.Put(queue.NewOperator(name, role, operatorHash, time.Now()))
		}
		return nil
	}))
	d.make = func() *api.API {
		a, err := api.New(api.Deps{
			Queue: d.queue, Rules: d.rules, Classify: d.classify, Line: third{}, Lanes: lanes, Store: d.store, Vendors: d.brakes, Trials: tryIntents(), Log: zerolog.Nop(),
		}, api.Config{DemoTenant: demo.Name})
		must(t, err)
		return a
	}
	d.serve("127.0.0.1:0")
	t.Cleanup(func() { d.stop() })
	d.enter("berta")
	return d
}

// tryIntents has the trial of the intents of a document under way the first time, and ready after.
func tryIntents() func(string, *rules.Rules, *rules.Rules) []api.IntentTrial {
	var asked atomic.Int32
	return func(_ string, _, next *rules.Rules) (all []api.IntentTrial) {
		for _, in := range next.Intents {
			if len(in.Examples) == 0 {
				continue
			}
			one := api.IntentTrial{Intent: in.Name, Status: api.TrialPending, Lost: []api.IntentMix{}, Won: []api.IntentMix{}}
			if asked.Add(1) > 1 {
				one.Status, one.Examples, one.Right, one.Accuracy, one.Others = api.TrialReady, 4, 3, 0.75, 1199
				one.Lost = []api.IntentMix{{Intent: "payment", Count: 1, Text: markup}}
			}
			all = append(all, one)
		}
		return all
	}
}

func byTemplate(_ *chat.Ticket, reason chat.Reason) chat.Answer {
	return chat.Answer{Reply: chat.Reply{Text: "later", HTML: "later", Locale: "en"}, Route: chat.RouteTemplate, Reason: reason}
}

// rules returns the newest stored rules, read anew where there are newer ones.
func (d *desk) rules() *rules.Rules {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now, err := d.store.Current(context.Background()); err == nil && now.Rev != d.rev {
		if next, err := rules.Parse("rules", now.Document); err == nil {
			d.rev, d.live = now.Rev, next
		}
	}
	return d.live
}

// enter logs an operator in whose calls do not come from a browser.
func (d *desk) enter(name string) {
	d.t.Helper()
	raw, header := d.send(http.MethodPost, "/admin/api/login", map[string]string{"user": name, "password": operatorPassword}, nil)
	var session struct{ CSRF string }
	must(d.t, json.Unmarshal(raw, &session))
	cookie, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	d.login = map[string]string{"Cookie": cookie, "X-CSRF-Token": session.CSRF}
}

// call makes an operator's call, and fails where it is refused.
func (d *desk) call(method, path string, body, out any) {
	d.t.Helper()
	raw, _ := d.send(method, "/admin/api/"+path, body, d.login)
	if out != nil {
		must(d.t, json.Unmarshal(raw, out))
	}
}

// ask sends messages of the tenant demo; they wait.
func (d *desk) ask(texts ...string) {
	d.t.Helper()
	for _, text := range texts {
		if status := d.intake(text); status != http.StatusAccepted {
			d.t.Fatalf("%s: %d", text, status)
		}
	}
}

// intake sends one message, and returns what its sender hears.
func (d *desk) intake(text string) (status int) {
	d.t.Helper()
	_, answer := d.exchange(http.MethodPost, "/v1/tickets", map[string]string{"message": text}, map[string]string{"Authorization": "Bearer " + d.secret})
	return answer.StatusCode
}

// send makes a call, and fails where it is refused.
func (d *desk) send(method, path string, body any, headers map[string]string) ([]byte, http.Header) {
	d.t.Helper()
	raw, answer := d.exchange(method, path, body, headers)
	if answer.StatusCode >= http.StatusMultipleChoices {
		d.t.Fatalf("%s %s: %d %s", method, path, answer.StatusCode, raw)
	}
	return raw, answer.Header
}

func (d *desk) exchange(method, path string, body any, headers map[string]string) ([]byte, *http.Response) {
	d.t.Helper()
	content, err := json.Marshal(body)
	must(d.t, err)
	if body == nil {
		content = nil
	}
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, bytes.NewReader(content))
	must(d.t, err)
	r.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	must(d.t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	must(d.t, err)
	return raw, answer
}

// lane reads how a lane stands.
func (d *desk) lane(name chat.Lane) api.Lane {
	d.t.Helper()
	var o api.Overview
	d.call(http.MethodGet, "overview", nil, &o)
	for _, l := range o.Lanes {
		if l.Lane == name {
			return l
		}
	}
	d.t.Fatalf("there is no lane %s", name)
	return api.Lane{}
}

// scope is where an operator can act now: the dialog that is open, else the page.
const scope = `([...document.querySelectorAll("dialog[open]")].at(-1) ?? document)`

// visible are the elements of the scope that a selector meets and that are to be seen.
func visible(selector string) string {
	return `[...` + scope + `.querySelectorAll(` + quoted(selector) + `)].filter((e) => e.checkVisibility())`
}

// see waits for an expression over the page to become true.
func (b *browser) see(what, expression string) {
	b.t.Helper()
	seen := false
	defer func() {
		if !seen {
			b.t.Logf("the page shows %s", outside[string](b, `document.body.innerText`))
		}
	}()
	b.wait(what, func() bool { return outside[bool](b, `Boolean(`+expression+`)`) })
	seen = true
}

// reads waits for a text where an operator looks.
func (b *browser) reads(text string) {
	b.t.Helper()
	b.see(text, `(`+scope+` === document ? document.body : `+scope+`).innerText.includes(`+quoted(text)+`)`)
}

// press presses the button that is labelled so, within what a selector meets, once it can be.
func (b *browser) press(within, label string) {
	b.t.Helper()
	found := visible(strings.TrimSpace(within+" button")) + `.find((e) => e.textContent === ` + quoted(label) + ` && !e.disabled)`
	b.see("the button "+label, found)
	outside[bool](b, found+`.click(); true`)
}

// fill writes into the field of that name as somebody does who types.
func (b *browser) fill(name, value string) {
	b.t.Helper()
	found := visible("[name="+quoted(name)+"]") + `[0]`
	b.see("the field "+name, found)
	outside[bool](b, fmt.Sprintf(`(() => { const f = %s; f.focus(); f.value = %s;
		for (const e of ["input", "change"]) f.dispatchEvent(new Event(e, { bubbles: true })); return true; })()`, found, quoted(value)))
}

// calm fails where the browser complained of anything but answers that are refusals.
func (b *browser) calm() {
	b.t.Helper()
	b.mu.Lock()
	b.complaints = slices.DeleteFunc(b.complaints, func(c string) bool { return strings.Contains(c, "Failed to load resource") })
	b.mu.Unlock()
	b.quiet()
}

// view opens a view, one thing in it (name/id), or a search (name?…).
func (b *browser) view(path string) {
	b.t.Helper()
	outside[bool](b, `location.hash = `+quoted("#/"+path)+`; true`)
	name, _, _ := strings.Cut(path, "/")
	name, _, _ = strings.Cut(name, "?")
	b.see("the view "+name, `document.querySelector(`+quoted(`.view[data-view="`+name+`"]`)+`) && !document.querySelector(".view .loading")`)
}

// act goes through the dialog that is open: why, then done, then what came of it.
func (b *browser) act(label string) {
	b.t.Helper()
	b.fill("reason", reason)
	b.press("dialog", label)
}

// enterAs logs in on the page.
func (b *browser) enterAs(url, name string) {
	b.t.Helper()
	b.do(chromedp.Navigate(url))
	b.fill("user", name)
	b.fill("password", operatorPassword)
	b.press("form", "Log in")
	b.see("the navigation", `document.querySelector(".bar")`)
}
