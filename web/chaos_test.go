//go:build browser

package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sluice/internal/badnet"
	"sluice/internal/chat"
)

// echo answers every message by itself, in pieces and as a whole, until the test ends.
func (s *stage) echo() {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case r := <-s.jobs:
				if err := s.reply(ctx, r); err != nil && ctx.Err() == nil {
					s.t.Error(err)
				}
			case <-ctx.Done():
				return
			}
		}
	})
	s.t.Cleanup(func() { cancel(); wg.Wait() })
}

func (s *stage) reply(ctx context.Context, r running) (err error) {
	if r.stored, err = s.queue.Admit(ctx, r.job); err != nil {
		return err
	}
	if r.stored, err = s.queue.Take(ctx, r.stored, time.Now().UTC()); err != nil {
		return err
	}
	said := answerTo(r.stored.Message)
	for i, word := range strings.SplitAfter(said, " ") {
		d := chat.Delta{Ticket: r.stored.ID, Attempt: r.stored.Attempts, I: i, Text: word}
		if err = s.queue.SendDelta(r.stored.Tenant, r.stored.Session, d); err != nil {
			return err
		}
	}
	r.stored.Answer(chat.Answer{
		Reply: chat.Reply{Text: said, HTML: "<p>" + said + "</p>", Locale: "en"}, Route: chat.RouteAgent, Vendor: "a", Model: "m",
	}, time.Now().UTC())
	_, err = s.queue.End(ctx, r.job, r.stored)
	return err
}

func answerTo(message string) string { return "This is the answer to: " + message }

// talked is one conversation on one page.
type talked struct {
	*browser
	way  *badnet.Proxy
	sent []string
}

// wake brings the page to the foreground, which finds a dead connection.
func (c *talked) wake() { outside[bool](c.browser, `dispatchEvent(new Event("online"))`) }

// TestFiveWidgetsOnABadNetwork: five conversations in Chromium, each over a network of its
// own that cuts, delays and goes deaf. Each message is stored once, each answer is shown once,
// and the order on the page is that of the poll.
func TestFiveWidgetsOnABadNetwork(t *testing.T) {
	st, b := newStage(t), newBrowser(t)
	st.echo()
	// A page of its own origin has a conversation of its own.
	all := make([]*talked, 5)
	for i := range all {
		c := &talked{browser: b, way: badnet.Start(t, st.url, 4*time.Second)}
		url := "http://" + c.way.Addr() + "/?lang=en"
		if all[i] = c; i > 0 {
			c.browser = b.tab(url)
			continue
		}
		b.do(chromedp.Navigate(url))
		b.until("the connection", online)
	}
	for round, together := range []int{2, 2} {
		for i, c := range all {
			for n := range together {
				c.sent = append(c.sent, fmt.Sprintf("Widget %d, round %d, message %d?", i, round, n))
				c.write(c.sent[len(c.sent)-1])
			}
		}
		begun := time.Now()
		for _, c := range all {
			c.awaitAnswers()
		}
		t.Logf("round %d: all answers after %s", round, time.Since(begun).Round(time.Millisecond))
	}
	faults := map[string]int{}
	for i, c := range all {
		c.compare(st, i)
		for kind, n := range c.way.Faults() {
			faults[kind] += n
		}
	}
	t.Logf("faults: %v", faults)
	if sum := faults["cut"] + faults["cut at a byte"]; sum == 0 {
		t.Error("no connection was cut: the network was a good one")
	}
}

// awaitAnswers waits for an answer to each message, and wakes the page now and then.
func (c *talked) awaitAnswers() {
	c.t.Helper()
	woken := time.Now()
	c.wait("an answer to each message", func() bool {
		if time.Since(woken) > time.Second {
			woken = time.Now()
			c.wake()
		}
		n, err := inside[int](c.browser, `return this.querySelectorAll(".list .row.bot:not(.greeting)").length`)
		return err == nil && n >= len(c.sent)
	})
}

// compare holds what the page shows against what the poll tells.
func (c *talked) compare(st *stage, number int) {
	c.t.Helper()
	kept := outside[string](c.browser, `localStorage.getItem(`+quoted("sluice:"+st.key)+`)`)
	var own struct{ Session, Token string }
	must(c.t, json.Unmarshal([]byte(kept), &own))
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, st.url+"/v1/sessions/"+own.Session+"/events", nil)
	must(c.t, err)
	req.Header.Set("Authorization", "Bearer "+own.Token)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	res, err := client.Do(req)
	must(c.t, err)
	defer func() { _ = res.Body.Close() }()
	var page struct{ Events []chat.Event }
	must(c.t, json.NewDecoder(res.Body).Decode(&page))
	stored := map[string]int{}
	var lines []string
	for i, e := range page.Events {
		if e.Seq != uint64(i+1) {
			c.t.Errorf("widget %d: event %d has seq %d", number, i+1, e.Seq)
		}
		who := "bot: "
		if e.Who == chat.ByCustomer {
			who = "own: "
		}
		stored[e.Text]++
		lines = append(lines, who+e.Text)
	}
	for _, text := range c.sent {
		if stored[text] != 1 || stored[answerTo(text)] != 1 {
			c.t.Errorf("widget %d: %q was stored %d times and answered %d times", number, text, stored[text], stored[answerTo(text)])
		}
	}
	if len(page.Events) != 2*len(c.sent) {
		c.t.Errorf("widget %d: %d events, want two of each of %d messages", number, len(page.Events), len(c.sent))
	}
	if shown := c.said(); shown != strings.Join(lines, "\n") {
		c.t.Errorf("widget %d shows\n%s\nbut the poll tells\n%s", number, shown, strings.Join(lines, "\n"))
	}
}
