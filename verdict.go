package main

import (
	"context"
	"errors"
	"time"

	"github.com/tmc/langchaingo/llms"

	"sluice/internal/gate"
	"sluice/internal/llm"
)

// watch tells the gate how calls end. A good one is slow if its first token or any gap
// between tokens took longer than slowAfter: never because the answer is long.
func watch(slowAfter time.Duration) func(context.Context) (context.Context, func(*llms.ContentResponse, error) gate.Verdict) {
	return func(ctx context.Context) (context.Context, func(*llms.ContentResponse, error) gate.Verdict) {
		ctx, timing := llm.WithTiming(ctx)
		return ctx, func(resp *llms.ContentResponse, err error) gate.Verdict {
			if err != nil {
				return failure(err)
			}
			usage := llm.UsageOf(resp)
			v := gate.Verdict{
				End: gate.End{Outcome: gate.Good, Tokens: usage.PromptTokens + usage.CompletionTokens},
				Cut: !llm.Drained(resp),
			}
			if max(timing.FirstToken(), timing.Gap()) > slowAfter {
				v.Outcome = gate.Slow
			}
			return v
		}
	}
}

// failure returns what a failed call means.
func failure(err error) gate.Verdict {
	var v gate.Verdict
	switch llm.OutcomeOf(err) {
	case llm.Failed:
		v.Outcome = gate.Failed
	case llm.Throttled:
		v.Outcome, v.Unused = gate.Throttled, true
	case llm.Good, llm.Ignored:
	}
	switch llm.RetryOf(err) {
	case llm.RetryAnywhere:
		v.Again = gate.Anywhere
	case llm.RetryElsewhere:
		v.Again = gate.Elsewhere
	case llm.RetryNowhere:
	}
	var e *llm.Error
	if errors.As(err, &e) {
		v.RetryAfter = e.RetryAfter
		v.Unused = v.Unused || e.Phase == llm.PhaseConnect || e.Kind == llm.Rejected || e.Kind == llm.PoolExhausted
	}
	return v
}
