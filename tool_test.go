package main

import (
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/queue/queuetest"
	"sluice/internal/rules"
	"sluice/internal/sim"
)

// shopRules are the small rules with the tools of the shipped ones.
func shopRules(t *testing.T, more string) *rules.Rules {
	t.Helper()
	_, doc, found := strings.Cut(string(rules.Default()), "\ntools:")
	if !found {
		t.Fatal("the shipped rules have no tools")
	}
	tools, _, _ := strings.Cut(doc, "\nvalve:")
	return testRules(t, smallRules+more+"\ntools:"+tools+"\n")
}

// by makes a ticket of a customer whose identity is known.
func by(customer string, t chat.Ticket) chat.Ticket {
	t.Customer = &chat.Customer{ID: customer}
	return t
}

func TestTheAgentLooksUpWhatItIsAskedFor(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, shopRules(t, ""), sim.Behaviour{})
		l := w.live()
		own := w.shop.Own("c010", "paid")
		asked := l.accept(by("c010", w.ask("s1", "What about my order "+own+"?", chat.Normal, 10*time.Second)))
		foreign := l.accept(by("c001", w.ask("s2", "What about my order "+own+"?", chat.Normal, 10*time.Second)))
		nobody := l.accept(w.ask("s3", "What about my order "+own+"?", chat.Normal, 10*time.Second))
		got := l.until(30*time.Second, asked.ID, foreign.ID, nobody.ID)
		for i, want := range []string{"state paid", "this customer has no such order", "has not signed in"} {
			if got[i].Route != chat.RouteAgent || !strings.Contains(got[i].Reply.Text, want) || (i > 0) == strings.Contains(got[i].Reply.Text, "paid 658") {
				t.Errorf("answer %d: %s, %q", i, got[i].Route, got[i].Reply.Text)
			}
		}
		if s := w.shop.Stats(); s.Calls != 2 || s.Foreign != 1 {
			t.Errorf("the shop saw %+v", s)
		}
		time.Sleep(time.Second)
		states, err := l.line.member.VendorStates()
		if err != nil || states["tool:order_query"].Limit != 16 {
			t.Errorf("states %+v, %v", states["tool:order_query"], err)
		}
		for name, s := range states {
			if s.InUse != 0 {
				t.Errorf("%d permits of %s are in use at the end", s.InUse, name)
			}
		}
		l.stop()
		w.close()
	})
}
