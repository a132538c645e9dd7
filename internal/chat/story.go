package chat

import (
	"slices"
	"time"
)

// Step is one thing that happened to a ticket. Fields that say nothing about it are empty.
type Step struct {
	At      time.Time `json:"at"`
	What    string    `json:"what"`
	Attempt int       `json:"attempt,omitempty"`
	Why     string    `json:"why,omitempty"` // the cause of a failure, the reason of an end
	Route   Route     `json:"route,omitempty"`
	Vendor  string    `json:"vendor,omitempty"`
	Model   string    `json:"model,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	Outcome string    `json:"outcome,omitempty"` // of a call, or the state of a delivery
	MS      int64     `json:"ms,omitempty"`      // how long it took
	Ticket  string    `json:"ticket,omitempty"`  // another one
}

// What a ticket notes of itself while it is worked on.
const (
	StepLesser = "lesser" // a rung came to nothing; the next one is lower
	StepTurn   = "turn"   // it had waited for an earlier message of its session
	StepPermit = "permit" // it had waited for a vendor's permit, and has it
	StepCall   = "call"   // a vendor was called; MS until the call ended
	StepTool   = "tool"   // a tool was called
)

// MaxSteps is how many steps a ticket keeps of its own; half of them are its first.
const MaxSteps = 32

// Note keeps steps of the ticket. Where there is no room the oldest of the later half go,
// and are counted in Skipped. The caller stores the ticket.
func (t *Ticket) Note(steps ...Step) {
	// Copies of a ticket share what they were copied with.
	t.Steps = append(slices.Clone(t.Steps), steps...)
	if over := len(t.Steps) - MaxSteps; over > 0 {
		t.Steps = slices.Delete(t.Steps, MaxSteps/2, MaxSteps/2+over)
		t.Skipped += over
	}
}

// Story tells what happened to the ticket as far as it is known, in order.
func (t *Ticket) Story() []Step {
	story := []Step{{At: t.AcceptedAt, What: "accepted"}}
	failed := false
	for _, f := range t.Failures {
		story = append(story,
			Step{At: f.StartedAt, What: "taken", Attempt: f.Attempt},
			Step{At: f.At, What: "failed", Attempt: f.Attempt, Why: f.Cause})
		failed = failed || f.Attempt == t.Attempts
	}
	if t.StartedAt != nil && !failed {
		story = append(story, Step{At: *t.StartedAt, What: "taken", Attempt: t.Attempts})
	}
	story = append(story, t.Steps...)
	if t.Handoff != nil {
		story = append(story, Step{At: t.Handoff.At, What: "handed off"})
	}
	slices.SortStableFunc(story[1:], func(a, b Step) int { return a.At.Compare(b.At) })
	if t.EndedAt != nil {
		story = append(story, Step{
			At: *t.EndedAt, What: string(t.Status), Why: string(t.Reason), Route: t.Route, Vendor: t.Vendor, Model: t.Model,
		})
	}
	return story
}
