//go:build e2e

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracing "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collected is what came to a collector: the spans, and everything as it was on the wire.
type collected struct {
	mu    sync.Mutex
	spans []*tracing.Span
	raw   bytes.Buffer
}

// ServeHTTP takes spans as a collector does: OTLP over HTTP, in protobuf.
func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	raw, err := io.ReadAll(body)
	var got collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(raw, &got)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(raw)
	for _, resource := range got.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// named returns the spans of a name.
func (c *collected) named(name string) (all []*tracing.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name {
			all = append(all, s)
		}
	}
	return all
}

func attributeOf(s *tracing.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// TestATicketIsOneTraceFromIntakeToDelivery: with the caller's own trace linked, and none of
// the customer's words.
func TestATicketIsOneTraceFromIntakeToDelivery(t *testing.T) {
	got := &collected{}
	server := httptest.NewServer(got)
	t.Cleanup(server.Close)
	i := start(t, setup{env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL, "OTEL_BSP_SCHEDULE_DELAY=200"}})
	const words, traceID = "Where is my secret parcel 4711 of Mrs Wang?", "4bf92f3577b34da6a3ce929d0e0e4736"
	asked := i.ask(question{Message: words, parent: "00-" + traceID + "-00f067aa0ba902b7-01"})
	ended := i.end(asked.TicketID, 20*time.Second)
	other := i.ask(question{Message: "Another question"})
	i.end(other.TicketID, 20*time.Second)
	i.stop()

	traces := map[string]bool{}
	for _, name := range []string{"accept", "wait", "answer", "chat " + ended.Vendor} {
		var mine []*tracing.Span
		for _, s := range got.named(name) {
			if attributeOf(s, "sluice.ticket") == asked.TicketID || attributeOf(s, "sluice.ticket") == "" {
				mine = append(mine, s)
			}
		}
		if len(mine) == 0 {
			t.Errorf("no span %q", name)
			continue
		}
		if name == "accept" {
			if s := mine[0]; len(s.Links) != 1 || hex.EncodeToString(s.Links[0].TraceId) != traceID || len(s.ParentSpanId) != 0 {
				t.Errorf("the first span is linked to %v, parent %x", s.Links, s.ParentSpanId)
			}
		}
		if attributeOf(mine[0], "sluice.ticket") != "" {
			traces[hex.EncodeToString(mine[0].TraceId)] = true
		}
	}
	if len(traces) != 1 {
		t.Errorf("the ticket is in %d traces", len(traces))
	}
	first := got.named("accept")
	if len(first) != 2 {
		t.Fatalf("%d first spans, want 2", len(first))
	}
	roots := map[string]string{}
	for _, s := range first {
		roots[hex.EncodeToString(s.TraceId)] = hex.EncodeToString(s.SpanId)
	}
	for _, s := range got.named("chat " + ended.Vendor) {
		if roots[hex.EncodeToString(s.TraceId)] != hex.EncodeToString(s.ParentSpanId) {
			t.Errorf("a vendor's call belongs to no ticket: trace %x, parent %x", s.TraceId, s.ParentSpanId)
		}
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	for _, secret := range []string{words, "4711", "Wang", tenantKey} {
		if bytes.Contains(got.raw.Bytes(), []byte(secret)) {
			t.Errorf("%q has left the process in a trace", secret)
		}
	}
}

func TestTheSamplersShareIsChecked(t *testing.T) {
	code, _, stderr := run(t, []string{"SLUICE_DATA=" + newDir(t), "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_TRACES_SAMPLER_ARG=often"}, "serve", "--listen", "127.0.0.1:0")
	oneLine(t, code, stderr, "OTEL_TRACES_SAMPLER_ARG", "often")
}
