package valve

import (
	"time"

	"sluice/internal/chat"
)

// Case is what the choice of a rung rests on.
type Case struct {
	Level  int  // that the ticket feels, 0 to 3
	Urgent bool // it goes to the agent at every level
	Lane   chat.Lane
	Known  bool // the knowledge covers the question
	// Tried is the rung that has just failed, or for which no permit comes in time; empty:
	// none was tried yet.
	Tried chat.Route
	// Why is the reason of that, empty where nothing was tried.
	Why chat.Reason
	// Left is the time until the deadline of the decision, and Usual what an answer from
	// the knowledge usually takes (its p95).
	Left, Usual time.Duration
}

// Step is a rung, and why it is a lesser one; without a reason it is the best.
type Step struct {
	chat.Effort
	Reason chat.Reason
}

// Route returns the rung on which a ticket is answered next. It is a pure function. What
// has failed is followed by a lesser rung, so that the ladder always ends: at the
// template, which cannot fail.
func Route(c Case) Step {
	switch c.Tried {
	case "":
		return first(c)
	case chat.RouteAgent:
		if c.Lane.Interactive() && !c.Urgent && c.Level < 2 && c.Known && c.Usual < c.Left {
			return Step{chat.Effort{Route: chat.RouteRAG, Light: true}, c.Why}
		}
		return Step{chat.Effort{Route: written(c)}, c.Why}
	case chat.RouteRAG:
		return Step{chat.Effort{Route: written(c)}, c.Why}
	default:
		return Step{chat.Effort{Route: chat.RouteTemplate}, c.Why}
	}
}

// first is the rung of a ticket for which nothing was tried. What can wait does: a
// follow-up or a job of a batch is never answered with less because others are in a hurry.
func first(c Case) Step {
	if !c.Lane.Interactive() {
		return Step{Effort: chat.Effort{Route: chat.RouteAgent}}
	}
	if c.Urgent {
		return Step{Effort: chat.Effort{Route: chat.RouteAgent, Light: c.Level >= 2, Bare: c.Level >= 3}}
	}
	switch c.Level {
	case 0:
		return Step{Effort: chat.Effort{Route: chat.RouteAgent}}
	case 1:
		if c.Known {
			return Step{chat.Effort{Route: chat.RouteRAG, Light: true}, chat.ReasonLevel}
		}
		// One call of the light model costs the vendors no more than retrieval does.
		return Step{chat.Effort{Route: chat.RouteAgent, Light: true, Bare: true}, chat.ReasonLevel}
	default:
		return Step{chat.Effort{Route: written(c)}, chat.ReasonLevel}
	}
}

// written is the better of the rungs that need no vendor. Of what is urgent people take
// care, and the template says so: an answer to a frequent question would not.
func written(c Case) chat.Route {
	if c.Level >= 3 || c.Urgent || !c.Lane.Interactive() {
		return chat.RouteTemplate
	}
	return chat.RouteFAQ
}
