package trace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"strconv"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Config is who this process is.
type Config struct {
	Service string // Defaults to sluice; OTEL_SERVICE_NAME wins.
	Version string
	Roles   string
	Node    string
}

const library = "sluice"

// Enabled reports whether the environment names a collector.
func Enabled() bool {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		if os.Getenv(name) != "" && os.Getenv("OTEL_SDK_DISABLED") != "true" {
			return true
		}
	}
	return false
}

// Open begins to send spans by OTLP over HTTP to the collector that the environment names,
// in the variables of the OpenTelemetry specification (OTEL_EXPORTER_OTLP_ENDPOINT, …_HEADERS,
// …_TIMEOUT, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_BSP_*). Of all tickets the part
// is sent that OTEL_TRACES_SAMPLER_ARG names, from 0 to 1, and every process sends the same
// ones. Spans are kept in memory until they are sent, 2,048 at most: what comes beyond is
// dropped, as is everything while the collector is away. close sends what is left. Without a
// collector in the environment nothing is opened.
func Open(ctx context.Context, cfg Config) (close func(context.Context) error, err error) {
	nothing := func(context.Context) error { return nil }
	if !Enabled() {
		return nothing, nil
	}
	share, err := sampled(os.Getenv("OTEL_TRACES_SAMPLER_ARG"))
	if err != nil {
		return nothing, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nothing, fmt.Errorf("open trace exporter: %w", err)
	}
	if cfg.Service == "" {
		cfg.Service = library
	}
	who, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", cfg.Service), attribute.String("service.version", cfg.Version),
		attribute.String("service.instance.id", cfg.Node), attribute.String("sluice.roles", cfg.Roles),
	), resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nothing, fmt.Errorf("describe this process for traces: %w", err)
	}
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(exporter), sdk.WithResource(who), sdk.WithIDGenerator(ids{}),
		sdk.WithSampler(sdk.TraceIDRatioBased(share)), // by the ticket alone: the same in every process
	)
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return provider.Shutdown, nil
}

func sampled(arg string) (float64, error) {
	if arg == "" {
		return 1, nil
	}
	share, err := strconv.ParseFloat(arg, 64)
	if err != nil || share < 0 || share > 1 {
		return 0, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG: must be from 0 to 1, is %q", arg)
	}
	return share, nil
}

// Of returns a context whose spans belong to a ticket's trace.
func Of(ctx context.Context, ticket string) context.Context {
	return trace.ContextWithRemoteSpanContext(ctx, root(ticket))
}

// root is the first span of a ticket's trace.
func root(ticket string) trace.SpanContext {
	sum := sha256.Sum256([]byte(ticket))
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(sum[:16]), SpanID: trace.SpanID(sum[16:24]), TraceFlags: trace.FlagsSampled, Remote: true,
	})
}

// Start begins a span of the trace that ctx belongs to; End must be called on it.
func Start(ctx context.Context, name string, kind trace.SpanKind, about ...attribute.KeyValue) (context.Context, trace.Span) {
	return otel.Tracer(library).Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(about...))
}

// Past adds a span that is over.
func Past(ctx context.Context, name string, from, to time.Time, about ...attribute.KeyValue) {
	if to.Before(from) {
		to = from
	}
	_, span := otel.Tracer(library).Start(ctx, name, trace.WithTimestamp(from), trace.WithAttributes(about...))
	span.End(trace.WithTimestamp(to))
}

type rootKey struct{}

// ids makes the ids of spans: those of a ticket's first span from the ticket, others by chance.
type ids struct{}

func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if first, ok := ctx.Value(rootKey{}).(trace.SpanContext); ok {
		return first.TraceID(), first.SpanID()
	}
	var id trace.TraceID
	_, _ = rand.Read(id[:]) // never fails
	return id, ids{}.NewSpanID(ctx, id)
}

func (ids) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	_, _ = rand.Read(id[:]) // never fails
	return id
}
