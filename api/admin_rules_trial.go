package api

import "sluice/internal/rules"

// How far the trial of an intent has come.
const (
	TrialPending = "pending" // under way: ask again
	TrialReady   = "ready"
	TrialFailed  = "failed" // its examples cannot be learnt, or it took too long
	TrialLeftOut = "left_out"
)

// IntentTrial says what an intent that a document adds, or gives other examples, is confused
// with, on examples that were held back.
type IntentTrial struct {
	Intent   string      `json:"intent"`
	Status   string      `json:"status" enum:"pending,ready,failed,left_out" doc:"pending: it is being worked out, ask again; left_out: more intents were changed than are tried at once"`
	Examples int         `json:"examples" doc:"that it is learnt from, shipped ones included"`
	Right    int         `json:"right" doc:"of them, understood by a model that has not seen them"`
	Accuracy float64     `json:"accuracy" doc:"right of examples"`
	Lost     []IntentMix `json:"lost" nullable:"false" doc:"what the others of them are taken for, the most frequent first"`
	Others   int         `json:"others" doc:"held-back examples of other intents"`
	Drawn    int         `json:"drawn" doc:"of them, taken for this one"`
	Won      []IntentMix `json:"won" nullable:"false" doc:"where those belong, the most frequent first"`
}

// IntentMix is one intent that another is confused with.
type IntentMix struct {
	Intent string `json:"intent"`
	Count  int    `json:"count"`
	Text   string `json:"text" doc:"the first such example"`
}

// tried asks for the trials of what a document changes; none where nobody makes any.
func (a *API) tried(actor string, next *rules.Rules) []IntentTrial {
	if a.deps.Trials == nil {
		return nil
	}
	return a.deps.Trials(actor, a.deps.Rules(), next)
}
