package main

import (
	"slices"

	"sluice/internal/chat"
	"sluice/internal/rules"
)

// handsOff reports whether a ticket always goes to people, by its intent in the rules in
// force.
func (l *live) handsOff(t *chat.Ticket) bool {
	return slices.ContainsFunc(l.rules().Intents, func(in rules.Intent) bool { return in.Name == t.Intent && in.Handoff })
}
