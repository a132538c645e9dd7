package main

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"
	"github.com/tmc/langchaingo/llms"
	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"sluice/internal/gate"
	"sluice/internal/llm"
	"sluice/internal/metrics"
	"sluice/internal/rules"
	"sluice/internal/trace"
)

// watch tells the gate how the calls of a vendor end. A good one is slow if its first
// token came later than slow_after, or a gap between tokens was longer than that: never
// because the answer is long. Each is counted.
func (f *fleet) watch(v rules.Vendor) func(context.Context) (context.Context, func(*llms.ContentResponse, error) gate.Verdict) {
	return func(ctx context.Context) (context.Context, func(*llms.ContentResponse, error) gate.Verdict) {
		ctx, timing := llm.WithTiming(ctx)
		begun := time.Now()
		ctx, span := trace.Start(ctx, "chat "+v.Name, oteltrace.SpanKindClient,
			attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", v.Name))
		return ctx, func(resp *llms.ContentResponse, err error) (got gate.Verdict) {
			var usage llm.Usage
			defer func() {
				took := time.Since(begun)
				f.metrics.Called(v.Name, metrics.Call{
					Outcome: string(got.Outcome), Took: took, FirstToken: got.FirstToken,
					Prompt: usage.PromptTokens, Completion: usage.CompletionTokens,
				})
				f.tally.Called(v.Name, took, got.Outcome == gate.Throttled, usage.PromptTokens+usage.CompletionTokens)
				trace.Finish(span, string(got.Outcome), err != nil,
					attribute.Int("gen_ai.usage.input_tokens", usage.PromptTokens), attribute.Int("gen_ai.usage.output_tokens", usage.CompletionTokens),
					attribute.Int64("sluice.first_token_ms", got.FirstToken.Milliseconds()))
			}()
			if err != nil {
				complain(ctx, err)
				return failure(err)
			}
			usage = llm.UsageOf(resp)
			got = gate.Verdict{
				End: gate.End{Outcome: gate.Good, Tokens: usage.PromptTokens + usage.CompletionTokens},
				Cut: !llm.Drained(resp),
			}
			got.FirstToken = timing.FirstToken()
			if timing.FirstToken() > v.Breaker.SlowAfter || timing.Gap() > v.Breaker.SlowAfter {
				got.Outcome = gate.Slow
			}
			return got
		}
	}
}

// complain logs a failure that is not the caller's own, though another try may make up for
// it: an operator reads here that it was the vendor's, or that our connections to it ran
// out. The text of an llm.Error holds nobody's words.
func complain(ctx context.Context, err error) {
	if e := (*llm.Error)(nil); errors.As(err, &e) {
		zerolog.Ctx(ctx).Warn().Err(e).Str("vendor", e.Vendor).Str("kind", string(e.Kind)).Msg("the vendor's call failed")
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
