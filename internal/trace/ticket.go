package trace

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"sluice/internal/chat"
)

// Called returns ctx with the trace that a request says it belongs to.
func Called(ctx context.Context, h http.Header) context.Context {
	return otel.GetTextMapPropagator().Extract(ctx, propagation.HeaderCarrier(h))
}

// Accepted adds a ticket's first span, the acceptance, with a link to the caller's trace
// that ctx belongs to.
func Accepted(ctx context.Context, t *chat.Ticket) { accepted(ctx, t, time.Now()) }

func accepted(ctx context.Context, t *chat.Ticket, until time.Time) {
	options := []trace.SpanStartOption{
		trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindProducer), trace.WithTimestamp(t.AcceptedAt), trace.WithAttributes(about(t)...),
	}
	if caller := trace.SpanContextFromContext(ctx); caller.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: caller}))
	}
	ctx = context.WithValue(ctx, rootKey{}, root(t.ID))
	_, span := otel.Tracer(library).Start(ctx, "accept", options...)
	span.End(trace.WithTimestamp(until))
}

// Ended adds how long a ticket waited for its route, and how long it was answered. Of one
// that no caller handed in by itself, a line of a batch or a follow-up, it adds the first span
// too, with a link to the ticket that it follows up.
func Ended(t *chat.Ticket) {
	ctx := context.Background()
	if t.DecidedAt == nil || t.EndedAt == nil {
		return
	}
	switch {
	case t.Parent != "":
		accepted(Of(ctx, t.Parent), t, t.AcceptedAt)
	case t.Batch != "":
		accepted(ctx, t, t.AcceptedAt)
	}
	ctx = Of(ctx, t.ID)
	Past(ctx, "wait", t.AcceptedAt, *t.DecidedAt, about(t)...)
	Past(ctx, "answer", *t.DecidedAt, *t.EndedAt, append(about(t),
		attribute.String("sluice.status", string(t.Status)), attribute.String("sluice.route", string(t.Route)),
		attribute.String("sluice.reason", string(t.Reason)), attribute.Int("sluice.level", t.Level),
		attribute.String("sluice.vendor", t.Vendor), attribute.Int("sluice.attempts", t.Attempts),
	)...)
}

// about is what every span of a ticket may tell of it: no words and no customer.
func about(t *chat.Ticket) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("sluice.ticket", t.ID), attribute.String("sluice.tenant", t.Tenant), attribute.String("sluice.lane", string(t.Lane)),
		attribute.String("sluice.intent", t.Intent), attribute.Bool("sluice.urgent", t.Urgent),
	}
}

// Finish ends a span with what came of its call.
func Finish(span trace.Span, outcome string, failed bool, more ...attribute.KeyValue) {
	span.SetAttributes(append(more, attribute.String("sluice.outcome", outcome))...)
	if failed {
		span.SetStatus(codes.Error, outcome)
	}
	span.End()
}
