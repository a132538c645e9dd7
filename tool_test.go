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
		for i, want := range []string{"state paid", "this customer has no such order", "order " + own} {
			if got[i].Route != chat.RouteAgent || !strings.Contains(got[i].Reply.Text, want) || (i > 0) == strings.Contains(got[i].Reply.Text, "paid 658") {
				t.Errorf("answer %d: %s, %q", i, got[i].Route, got[i].Reply.Text)
			}
		}
		if n := w.vendors["a"].Stats().Completed; n != 2+2+1 {
			t.Errorf("%d calls of the model; who has not signed in costs no further one", n)
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

func TestNoVendorWaitsForATool(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		r := shopRules(t, "")
		r.Vendors[0].Quota, r.Vendors[1].Quota = 1, 1
		r.Chains[rules.ChainAgent] = rules.Chain{Vendors: []string{"a"}, Model: "strong", MaxSteps: 6}
		call := sim.Behaviour{FirstToken: sim.Fixed(100 * time.Millisecond), Call: sim.Fixed(200 * time.Millisecond)}
		w := newWorld(t, r, call)
		l := w.live()
		time.Sleep(time.Second)
		w.shop.Behave(sim.ShopBehaviour{Delay: 2500 * time.Millisecond}) // below the tool's timeout
		slow := l.accept(by("c010", w.ask("s1", "What about my order "+w.shop.Own("c010")+"?", chat.Normal, 10*time.Second)))
		time.Sleep(time.Second) // the tool is at work
		if n := w.shop.Stats().InFlight; n != 1 {
			t.Fatalf("%d calls of the tool are in flight", n)
		}
		quick := l.accept(w.ask("s2", "Hello!", chat.Normal, 10*time.Second))
		got := l.until(20*time.Second, slow.ID, quick.ID)
		if got[0].Route != chat.RouteAgent || got[1].Route != chat.RouteAgent || !got[1].EndedAt.Before(*got[0].EndedAt) {
			t.Errorf("the one with the tool ended %s by %s, the other %s by %s", got[0].EndedAt, got[0].Route, got[1].EndedAt, got[1].Route)
		}
		if n := w.vendors["a"].Stats().MaxInFlight; n != 1 {
			t.Errorf("%d calls in flight", n)
		}
		l.stop()
		w.close()
	})
}

// The breaker of a tool is the controller's: what one answer has met, no other has to.
func TestATroubledToolIsLeftAloneAndTheAnswersSaySo(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		w := newWorld(t, shopRules(t, ""), sim.Behaviour{FirstToken: sim.Fixed(0), Call: sim.Fixed(0)})
		l := w.live()
		w.shop.Behave(sim.ShopBehaviour{Status: 503})
		ask := func(n int) (told int) {
			for range n {
				asked := l.accept(by("c010", w.ask(chat.NewSessionID(), "What about my order "+w.shop.Own("c010")+"?", chat.Normal, 10*time.Second)))
				got := l.until(20*time.Second, asked.ID)[0]
				if got.Route == chat.RouteAgent && strings.Contains(got.Reply.Text, "service order_query is") {
					told++
				}
			}
			return told
		}
		if told := ask(14); told != 14 {
			t.Errorf("%d of 14 answers say so", told)
		}
		calls := w.shop.Stats().Calls
		if calls != 10 {
			t.Errorf("%d calls of the tool, want its breaker's min_calls", calls)
		}
		time.Sleep(time.Second)
		if _, err := checkBreakers(l.line.member, true)(t.Context()); err == nil {
			t.Error("/readyz does not tell of it")
		}
		if !away(l.line.member)()["order_query"] {
			t.Error("the model is not told of it")
		}
		w.shop.Behave(sim.ShopBehaviour{})
		time.Sleep(40 * time.Second)
		if told := ask(5); told != 0 {
			t.Errorf("%d of 5 answers miss a tool that is well again", told)
		}
		if state, err := checkBreakers(l.line.member, true)(t.Context()); err != nil {
			t.Errorf("/readyz says %s", state)
		}
		l.stop()
		w.close()
	})
}
