package valve

import (
	"fmt"
	"testing"
	"time"

	"sluice/internal/chat"
)

// TestTheFirstRung is the whole table of what is tried first: level × urgent × known × lane.
func TestTheFirstRung(t *testing.T) {
	t.Parallel()
	agent := chat.Effort{Route: chat.RouteAgent}
	rag := Step{chat.Effort{Route: chat.RouteRAG, Light: true}, chat.ReasonLevel}
	for _, c := range []struct {
		level         int
		urgent, known bool
		want          Step
	}{
		{0, false, false, Step{Effort: agent}},
		{0, false, true, Step{Effort: agent}},
		{0, true, false, Step{Effort: agent}},
		{1, false, true, rag},
		{1, false, false, Step{chat.Effort{Route: chat.RouteAgent, Light: true, Bare: true}, chat.ReasonLevel}},
		{1, true, false, Step{Effort: agent}},
		{1, true, true, Step{Effort: agent}},
		{2, false, true, Step{chat.Effort{Route: chat.RouteFAQ}, chat.ReasonLevel}},
		{2, false, false, Step{chat.Effort{Route: chat.RouteFAQ}, chat.ReasonLevel}},
		{2, true, true, Step{Effort: chat.Effort{Route: chat.RouteAgent, Light: true}}},
		{3, false, true, Step{chat.Effort{Route: chat.RouteTemplate}, chat.ReasonLevel}},
		{3, false, false, Step{chat.Effort{Route: chat.RouteTemplate}, chat.ReasonLevel}},
		{3, true, true, Step{Effort: chat.Effort{Route: chat.RouteAgent, Light: true, Bare: true}}},
	} {
		for _, lane := range chat.Lanes() {
			want := c.want
			if !lane.Interactive() {
				want = Step{Effort: agent}
			}
			got := Route(Case{Level: c.level, Urgent: c.urgent, Known: c.known, Lane: lane, Left: time.Second})
			if got != want {
				t.Errorf("level %d, urgent %v, known %v, %s: %+v, want %+v", c.level, c.urgent, c.known, lane, got, want)
			}
		}
	}
}

// TestTheNextRung is the table of what follows a rung that has failed or has no room.
func TestTheNextRung(t *testing.T) {
	t.Parallel()
	const late, early = time.Second, 3 * time.Second // what is left, where an answer takes 2 s
	to := func(route chat.Route) Step {
		return Step{chat.Effort{Route: route, Light: route == chat.RouteRAG}, chat.ReasonVendorUnavailable}
	}
	for _, c := range []struct {
		tried         chat.Route
		level         int
		urgent, known bool
		left          time.Duration
		lane          chat.Lane
		want          chat.Route
	}{
		{chat.RouteAgent, 0, false, true, early, chat.Normal, chat.RouteRAG},
		{chat.RouteAgent, 1, false, true, early, chat.Normal, chat.RouteRAG},
		{chat.RouteAgent, 2, false, true, early, chat.Normal, chat.RouteFAQ},
		{chat.RouteAgent, 3, false, true, early, chat.Normal, chat.RouteTemplate},
		{chat.RouteAgent, 0, false, false, early, chat.Normal, chat.RouteFAQ},
		{chat.RouteAgent, 0, false, true, late, chat.Normal, chat.RouteFAQ},
		{chat.RouteAgent, 0, false, true, -late, chat.Normal, chat.RouteFAQ},
		{chat.RouteAgent, 0, true, true, early, chat.High, chat.RouteTemplate},
		{chat.RouteAgent, 3, true, true, early, chat.High, chat.RouteTemplate},
		{chat.RouteAgent, 0, false, true, early, chat.Batch, chat.RouteTemplate},
		{chat.RouteAgent, 0, false, true, early, chat.Deferred, chat.RouteTemplate},
		{chat.RouteRAG, 0, false, true, early, chat.Low, chat.RouteFAQ},
		{chat.RouteRAG, 2, false, true, early, chat.Low, chat.RouteFAQ},
		{chat.RouteRAG, 3, false, true, early, chat.Low, chat.RouteTemplate},
		{chat.RouteFAQ, 0, false, true, early, chat.Low, chat.RouteTemplate},
		{chat.RouteTemplate, 0, false, true, early, chat.Low, chat.RouteTemplate},
	} {
		got := Route(Case{
			Level: c.level, Urgent: c.urgent, Known: c.known, Lane: c.lane, Tried: c.tried,
			Why: chat.ReasonVendorUnavailable, Left: c.left, Usual: 2 * time.Second,
		})
		if got != to(c.want) {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// TestEveryWayEnds climbs down from every case: no rung comes twice, and the last needs no
// vendor.
func TestEveryWayEnds(t *testing.T) {
	t.Parallel()
	for level := range 4 {
		for flags := range 4 {
			for _, lane := range chat.Lanes() {
				c := Case{Level: level, Urgent: flags&1 > 0, Known: flags&2 > 0, Lane: lane, Left: time.Hour}
				seen := map[chat.Route]bool{}
				for step := Route(c); ; step = Route(c) {
					if seen[step.Route] {
						t.Fatalf("%+v: %s comes twice", c, step.Route)
					}
					seen[step.Route] = true
					if step.Route == chat.RouteTemplate {
						break
					}
					c.Tried, c.Why = step.Route, chat.ReasonError
				}
				if what := fmt.Sprint(seen); seen[chat.RouteAgent] && level >= 2 && !c.Urgent && lane.Interactive() {
					t.Errorf("level %d, %s: %s", level, lane, what)
				}
			}
		}
	}
}
