package dispatcher

import (
	"maps"
	"testing"
	"time"

	"sluice/internal/cache"
	"sluice/internal/chat"
	"sluice/internal/sim"
)

const shipping = "Do you deliver to islands?"

func TestFiveHundredEqualQuestionsOnThreeNodesAreOneCall(t *testing.T) {
	onNodes(t, setup{Limit: 48, Behaviour: lasting(20 * time.Second), Bound: 600}, func(t *testing.T, w *world, nodes []*peer) {
		all, routes := w.ends(w.general(500, shipping, time.Minute))
		if len(w.asked()) != 1 || !maps.Equal(routes, map[chat.Route]int{chat.RouteAgent: 1, chat.RouteCache: 499}) {
			t.Errorf("%d calls, routes %v", len(w.asked()), routes)
		}
		for _, got := range all {
			if got.Reply.Text != all[0].Reply.Text || got.Reply.HTML == "" || got.Attempts != 1 || (got.Route == chat.RouteCache) != (got.Vendor == "") {
				t.Fatalf("%+v", got)
			}
		}
		if got := counts(nodes); got != (cache.Counts{Hit: 499, Miss: 1}) {
			t.Errorf("%+v", got)
		}
	})
}

func TestAnOldAnswerIsGivenAtOnceAndMadeAnewOnce(t *testing.T) {
	onNodes(t, setup{Limit: 48, Behaviour: lasting(10 * time.Second)}, func(t *testing.T, w *world, nodes []*peer) {
		w.ends(w.general(1, shipping, time.Minute))
		time.Sleep(keep)
		all, routes := w.ends(w.general(200, shipping, time.Minute))
		for _, got := range all {
			if waited := got.EndedAt.Sub(got.AcceptedAt); waited > 2*time.Second {
				t.Errorf("somebody waited %s", waited)
			}
		}
		time.Sleep(20 * time.Second)
		if len(w.asked()) != 2 || routes[chat.RouteCache] != 200 {
			t.Errorf("%d calls, routes %v", len(w.asked()), routes)
		}
		w.ends(w.general(30, shipping, time.Minute)) // a node may have to read the new one yet
		before := counts(nodes)
		w.ends(w.general(30, shipping, time.Minute))
		if got := counts(nodes); got.Hit-before.Hit != 30 || got.Stale != before.Stale {
			t.Errorf("%+v after %+v", got, before)
		}
		if len(w.asked()) != 2 {
			t.Errorf("%d calls", len(w.asked()))
		}
	})
}

func TestAnOldAnswerStandsWhileTheVendorFails(t *testing.T) {
	onNodes(t, setup{Limit: 4, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world, _ []*peer) {
		w.ends(w.general(1, shipping, time.Minute))
		time.Sleep(keep)
		if err := w.vendor.SetBehaviour(sim.Behaviour{ErrorShare: 1, FirstToken: sim.Fixed(100 * time.Millisecond)}); err != nil {
			t.Fatal(err)
		}
		for range 30 {
			if all, routes := w.ends(w.general(5, shipping, time.Minute)); routes[chat.RouteCache] != 5 {
				t.Fatalf("%+v", all[0])
			}
			time.Sleep(time.Second)
		}
		if tries := w.vendor.Stats().Calls - 1; tries < 3 || tries > 20 {
			t.Errorf("%d tries in 30 s", tries)
		}
	})
}

func TestAKnownAnswerNeedsNoPermit(t *testing.T) {
	onNodes(t, setup{Limit: 1, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world, _ []*peer) {
		w.ends(w.general(1, shipping, time.Minute))
		if err := w.vendor.SetBehaviour(hanging); err != nil {
			t.Fatal(err)
		}
		w.ask("hello", chat.Normal, time.Minute) // takes the one permit
		time.Sleep(time.Second)
		got, _ := w.ends(w.general(1, shipping+"  ", 5*time.Second))
		if got[0].Route != chat.RouteCache || got[0].EndedAt.Sub(got[0].AcceptedAt) > time.Second {
			t.Errorf("%s after %s", got[0].Route, got[0].EndedAt.Sub(got[0].AcceptedAt))
		}
	})
}

func TestOnesOwnQuestionIsAskedAnew(t *testing.T) {
	onNodes(t, setup{Limit: 4, Behaviour: lasting(time.Second)}, func(t *testing.T, w *world, _ []*peer) {
		first := ticket(chat.NewSessionID(), shipping, chat.Normal, time.Minute)
		first.Intent = "delivery_info"
		w.ends([]string{w.accept(first).ID})
		for name, change := range map[string]func(*chat.Ticket){
			"a known customer":     func(t *chat.Ticket) { t.Customer = &chat.Customer{ID: "c1"} },
			"an urgent message":    func(t *chat.Ticket) { t.Urgent = true },
			"a conversation":       func(t *chat.Ticket) { t.Session = first.Session },
			"an order":             func(t *chat.Ticket) { t.Message += " It is order 10042." },
			"another tenant":       func(t *chat.Ticket) { t.Tenant = "other" },
			"another language":     func(t *chat.Ticket) { t.Language = chat.Chinese },
			"what nobody can tell": func(t *chat.Ticket) { t.Intent = "other" },
		} {
			before := len(w.asked())
			next := ticket(chat.NewSessionID(), shipping, chat.Normal, time.Minute)
			next.Intent = "delivery_info"
			change(&next)
			if _, routes := w.ends([]string{w.accept(next).ID}); routes[chat.RouteCache] != 0 || len(w.asked()) <= before {
				t.Errorf("%s: %v", name, routes)
			}
		}
	})
}

func TestWhoWaitsForAnAnswerKeepsItsOwnDeadline(t *testing.T) {
	onNodes(t, setup{Limit: 2, Behaviour: lasting(30 * time.Second)}, func(t *testing.T, w *world, _ []*peer) {
		w.general(1, shipping, time.Minute)
		time.Sleep(time.Second)
		all, routes := w.ends(w.general(2, shipping, 10*time.Second))
		if routes[chat.RouteAgent] != 1 || routes[chat.RouteTemplate] != 1 { // there is one more permit
			t.Fatalf("routes %v", routes)
		}
		for _, got := range all {
			began, ended := time.Duration(0), got.EndedAt.Sub(got.AcceptedAt)
			if got.StartedAt != nil {
				began = got.StartedAt.Sub(got.AcceptedAt)
			}
			if got.Route == chat.RouteAgent && (began < 8*time.Second || began >= 10*time.Second) {
				t.Errorf("a call begins after %s", began)
			}
			if got.Route == chat.RouteTemplate && (got.Reason != chat.ReasonOverdue || ended < 10*time.Second || ended > 10*time.Second+200*time.Millisecond) {
				t.Errorf("the template (%s) answers after %s", got.Reason, ended)
			}
		}
	})
}

func TestTheNextOneWorksWhereTheFirstLeaves(t *testing.T) {
	for name, c := range map[string]struct {
		leave func(w *world, nodes []*peer, first string)
		route chat.Route // of the first
	}{
		"cancelled": {func(w *world, _ []*peer, first string) {
			if _, err := w.queue.Cancel(w.t.Context(), first, chat.ReasonCustomer, time.Now()); err != nil {
				w.t.Error(err)
			}
		}, ""},
		"killed": {func(_ *world, nodes []*peer, _ string) {
			for _, n := range nodes {
				if n.worker.Recalls().Miss == 1 {
					n.nc.Close() // as kill -9 does, for everybody else
				}
			}
		}, chat.RouteCache},
	} {
		onNodes(t, setup{Limit: 4, Behaviour: lasting(20 * time.Second)}, func(t *testing.T, w *world, nodes []*peer) {
			first := w.general(1, shipping, time.Minute)
			time.Sleep(2 * time.Second)
			rest := w.general(20, shipping, time.Minute)
			time.Sleep(2 * time.Second)
			c.leave(w, nodes, first[0])
			_, routes := w.ends(rest)
			if len(w.asked()) != 2 || routes[chat.RouteAgent] != 1 || routes[chat.RouteCache] != 19 {
				t.Errorf("%s: %d calls, routes %v", name, len(w.asked()), routes)
			}
			if got, _ := w.ends(first); got[0].Route != c.route {
				t.Errorf("%s: the first is %s by %q", name, got[0].Status, got[0].Route)
			}
		})
	}
}

func TestWhoWaitsForAnAnswerThatFailsIsAnsweredByItself(t *testing.T) {
	onNodes(t, setup{Limit: 30, Behaviour: sim.Behaviour{ErrorShare: 1, FirstToken: sim.Fixed(3 * time.Second)}}, func(t *testing.T, w *world, _ []*peer) {
		first := w.general(1, shipping, time.Minute)
		time.Sleep(time.Second)
		rest := w.general(20, shipping, time.Minute)
		time.Sleep(time.Second)
		if err := w.vendor.SetBehaviour(lasting(time.Second)); err != nil {
			t.Fatal(err)
		}
		if got, _ := w.ends(first); got[0].Route != chat.RouteTemplate && got[0].Route != chat.RouteAgent {
			t.Errorf("%+v", got[0])
		}
		if _, routes := w.ends(rest); routes[chat.RouteTemplate] != 0 {
			t.Errorf("routes %v", routes)
		}
	})
}
