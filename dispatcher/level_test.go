package dispatcher

import (
	"context"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/llm"
	"sluice/internal/sim"
	"sluice/internal/valve"
)

// scripted is a worker whose rungs do what a test says.
type scripted struct {
	knows  bool
	faq    bool
	failed map[chat.Route]error
	// choices are what the FAQ offers in the place of an answer.
	choices []chat.Choice
	made    chan chat.Effort
}

func newScripted() *scripted {
	return &scripted{failed: map[chat.Route]error{}, made: make(chan chat.Effort, 100)}
}

func (s *scripted) Answer(_ context.Context, _ chat.Question, how chat.Effort, _ func(string)) (chat.Answer, error) {
	s.made <- how
	if err := s.failed[how.Route]; err != nil {
		return chat.Answer{}, err
	}
	return chat.Answer{Reply: chat.Reply{Text: "by " + string(how.Route)}, Route: how.Route}, nil
}

func (s *scripted) Settles(*chat.Ticket, func() []chat.Event) bool { return false }
func (s *scripted) Resume(context.Context, chat.Question) (chat.Answer, error) {
	return chat.Answer{}, nil
}
func (s *scripted) Recall(context.Context, *chat.Ticket, chat.Effort, func() ([]chat.Event, bool)) chat.Recalled {
	return chat.Recalled{}
}
func (s *scripted) Estimate(*chat.Ticket) int { return 0 }
func (s *scripted) Knows(*chat.Ticket) bool   { return s.knows }
func (s *scripted) FAQ(*chat.Ticket) (chat.Answer, bool) {
	return chat.Answer{Reply: chat.Reply{Text: "from the FAQ", Choices: s.choices}, Route: chat.RouteFAQ}, s.faq
}

func (s *scripted) Fallback(_ *chat.Ticket, reason chat.Reason) chat.Answer {
	return chat.Answer{Reply: chat.Reply{Text: "later"}, Route: chat.RouteTemplate, Reason: reason}
}
func (s *scripted) Promise(a chat.Answer, _ *chat.Ticket, _ string, _ chat.Promise) chat.Answer {
	return a
}
func (s *scripted) Handoff(t *chat.Ticket) chat.Reply { return chat.Reply{Text: "people have " + t.ID} }

// at is a valve that an operator holds at a level.
func at(level int) valve.Config {
	return valve.Config{Force: &valve.Force{Level: level, Until: time.Now().Add(24 * time.Hour)}}
}

// TestTheLevelPicksTheRung asks at each level, urgent and not, with and without what the
// rungs need, through the whole line.
func TestTheLevelPicksTheRung(t *testing.T) {
	vendorFails := &llm.Error{Vendor: "a", Kind: llm.Unavailable}
	for name, c := range map[string]struct {
		level      int
		urgent     bool
		knows, faq bool
		failed     chat.Route
		route      chat.Route
		reason     chat.Reason
		made       []chat.Effort
	}{
		"calm": {route: chat.RouteAgent, made: []chat.Effort{{Route: chat.RouteAgent}}},
		"some load": {
			level: 1, knows: true, route: chat.RouteRAG, reason: chat.ReasonLevel,
			made: []chat.Effort{{Route: chat.RouteRAG, Light: true}},
		},
		"some load, and nothing known": {
			level: 1, route: chat.RouteAgent, reason: chat.ReasonLevel, made: []chat.Effort{{Route: chat.RouteAgent, Light: true, Bare: true}},
		},
		"much load":                {level: 2, knows: true, faq: true, route: chat.RouteFAQ, reason: chat.ReasonLevel},
		"much load, no entry":      {level: 2, knows: true, route: chat.RouteTemplate, reason: chat.ReasonLevel},
		"all it can take":          {level: 3, knows: true, faq: true, route: chat.RouteTemplate, reason: chat.ReasonLevel},
		"urgent under much load":   {level: 2, urgent: true, faq: true, route: chat.RouteAgent, made: []chat.Effort{{Route: chat.RouteAgent, Light: true}}},
		"urgent under the highest": {level: 3, urgent: true, route: chat.RouteAgent, made: []chat.Effort{{Route: chat.RouteAgent, Light: true, Bare: true}}},
		"the agent fails": {
			knows: true, failed: chat.RouteAgent, route: chat.RouteRAG, reason: chat.ReasonVendorUnavailable,
			made: []chat.Effort{{Route: chat.RouteAgent}, {Route: chat.RouteRAG, Light: true}},
		},
		"the agent fails, nothing known": {
			faq: true, failed: chat.RouteAgent, route: chat.RouteFAQ, reason: chat.ReasonVendorUnavailable, made: []chat.Effort{{Route: chat.RouteAgent}},
		},
		"retrieval fails": {
			level: 1, knows: true, faq: true, failed: chat.RouteRAG, route: chat.RouteFAQ, reason: chat.ReasonVendorUnavailable,
			made: []chat.Effort{{Route: chat.RouteRAG, Light: true}},
		},
	} {
		worker := newScripted()
		worker.knows, worker.faq = c.knows, c.faq
		if c.failed != "" {
			worker.failed[c.failed] = vendorFails
		}
		inBubble(t, setup{Limit: 2, Worker: worker}, func(t *testing.T, w *world) {
			w.set.Valve = at(c.level)
			w.ready()
			time.Sleep(time.Second) // until the level is known
			asked := ticket("s", "Where is my order?", chat.Normal, 10*time.Second)
			asked.Urgent = c.urgent
			got := w.until(w.accept(asked).ID, 10*time.Second)
			if got.Route != c.route || got.Reason != c.reason || got.Level != c.level {
				t.Errorf("%s: by %s (%s) at level %d, want %s (%s)", name, got.Route, got.Reason, got.Level, c.route, c.reason)
			}
			for _, want := range c.made {
				if how := <-worker.made; how != want {
					t.Errorf("%s: %+v, want %+v", name, how, want)
				}
			}
			if time.Sleep(300 * time.Millisecond); len(worker.made) > 0 || w.inUse() != 0 {
				t.Errorf("%s: %d more answers were made, %d permits are held", name, len(worker.made), w.inUse())
			}
		})
	}
}

// TestWhoWaitsGoesDownAsTheLevelRises has forty wait behind one call: as the wait raises
// the level they are answered with less, long before their deadline.
func TestWhoWaitsGoesDownAsTheLevelRises(t *testing.T) {
	worker := newScripted()
	worker.faq = true
	set := setup{Limit: 1, Worker: worker, Valve: valve.Config{
		Levels: [valve.Top]valve.Threshold{{Wait: 2 * time.Second}, {Wait: 3 * time.Second}, {Wait: time.Hour}}, Hold: time.Minute,
	}}
	inBubble(t, set, func(t *testing.T, w *world) {
		w.ready()
		held, err := w.life.member.Ask(t.Context(), gate.Ask{
			Tenant: "demo", Session: "x", Ticket: "x", Lane: chat.High, Vendors: []string{"a"}, AcceptedAt: time.Now(),
		})
		if err != nil {
			t.Fatal(err)
		}
		var all []chat.Ticket
		for range 40 {
			all = append(all, w.ask("Where is my order?", chat.Normal, time.Minute))
		}
		urgent := ticket("u", "I complain", chat.High, time.Minute)
		urgent.Urgent = true
		urgent = w.accept(urgent)
		for _, one := range all {
			got := w.until(one.ID, 20*time.Second)
			if took := got.EndedAt.Sub(one.AcceptedAt); got.Route != chat.RouteFAQ || got.Reason != chat.ReasonLevel || got.Level != 2 || took > 4*time.Second {
				t.Errorf("by %s (%s) at level %d after %s", got.Route, got.Reason, got.Level, took)
			}
		}
		w.life.member.Release(held, 0)
		w.life.member.EndTurn("demo", "x", "x")
		if got := w.until(urgent.ID, 5*time.Second); got.Route != chat.RouteAgent || got.Reason != "" {
			t.Errorf("the urgent one: by %s (%s)", got.Route, got.Reason)
		}
	})
}

// TestOverdueIsAnsweredFromTheFAQ fills the one permit: at its deadline a question that an
// entry fits gets that answer, any other the template.
func TestOverdueIsAnsweredFromTheFAQ(t *testing.T) {
	for _, faq := range []bool{true, false} {
		worker := newScripted()
		worker.faq = faq
		inBubble(t, setup{Limit: 1, Worker: worker, Behaviour: sim.Behaviour{}}, func(t *testing.T, w *world) {
			w.ready()
			held, err := w.life.member.Ask(t.Context(), gate.Ask{
				Tenant: "demo", Session: "x", Ticket: "x", Lane: chat.High, Vendors: []string{"a"}, AcceptedAt: time.Now(),
			})
			if err != nil {
				t.Fatal(err)
			}
			asked := w.ask("Where is my order?", chat.Normal, 3*time.Second)
			got := w.until(asked.ID, 5*time.Second)
			want := chat.RouteTemplate
			if faq {
				want = chat.RouteFAQ
			}
			if late := got.EndedAt.Sub(asked.Deadline); got.Route != want || got.Reason != chat.ReasonOverdue || late < 0 || late > 20*time.Millisecond {
				t.Errorf("by %s (%s), %s late", got.Route, got.Reason, late)
			}
			w.life.member.Release(held, 0)
		})
	}
}
