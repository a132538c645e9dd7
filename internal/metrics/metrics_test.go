package metrics

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"sluice/internal/chat"
)

// page returns the lines of the page that are of Sluice, without those of buckets.
func page(t *testing.T, m *Metrics) []string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	var all []string
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "sluice_") && !strings.Contains(line, "_bucket{") {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

func has(t *testing.T, lines []string, want ...string) {
	t.Helper()
	for _, w := range want {
		found := false
		for _, l := range lines {
			found = found || l == w
		}
		if !found {
			t.Errorf("no line %q in\n%s", w, strings.Join(lines, "\n"))
		}
	}
}

func TestWhatHappensIsCounted(t *testing.T) {
	t.Parallel()
	m := New()
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	after := func(d time.Duration) *time.Time { at := noon.Add(d); return &at }
	m.Answered(&chat.Ticket{
		Status: chat.Answered, Lane: chat.High, Level: 1, Route: chat.RouteRAG, Reason: chat.ReasonLevel,
		AcceptedAt: noon, DecidedAt: after(2 * time.Second), StartedAt: after(2 * time.Second), EndedAt: after(5 * time.Second),
	})
	m.Answered(&chat.Ticket{Status: chat.Cancelled, Lane: chat.High})
	m.Refused("shop", "queue_full")
	m.Granted("a", chat.Normal, 250*time.Millisecond)
	m.TurnedAway("a", "shop", chat.Low, "wait")
	m.Called("a", Call{Outcome: "good", Took: 4 * time.Second, FirstToken: time.Second, Prompt: 100, Completion: 20})
	m.Called("a", Call{Took: time.Second})
	m.ToolCalled("order_query", "failed")
	m.Texted(&chat.Notice{Provider: "outbox", State: chat.NoticeSent})
	m.Neared("memory")
	has(t, page(t, m),
		`sluice_vector_searches_total{by="memory"} 1`,
		`sluice_answers_total{lane="high",level="1",reason="level",route="rag"} 1`,
		`sluice_queue_wait_seconds_sum{lane="high"} 2`,
		`sluice_handle_seconds_sum{route="rag"} 3`,
		`sluice_refused_total{code="queue_full",tenant="shop"} 1`,
		`sluice_permit_wait_seconds_sum{lane="normal",vendor="a"} 0.25`,
		`sluice_gate_refused_total{lane="low",reason="wait",tenant="shop",vendor="a"} 1`,
		`sluice_vendor_calls_total{outcome="good",vendor="a"} 1`,
		`sluice_vendor_calls_total{outcome="other",vendor="a"} 1`,
		`sluice_vendor_seconds_count{vendor="a"} 2`,
		`sluice_first_token_seconds_sum{vendor="a"} 1`,
		`sluice_first_token_seconds_count{vendor="a"} 1`,
		`sluice_vendor_tokens_total{kind="prompt",vendor="a"} 100`,
		`sluice_vendor_tokens_total{kind="completion",vendor="a"} 20`,
		`sluice_tool_calls_total{outcome="failed",tool="order_query"} 1`,
		`sluice_sms_total{provider="outbox",status="sent"} 1`,
	)
}

func TestHowEverythingStandsIsAskedAtEachScrape(t *testing.T) {
	t.Parallel()
	m := New()
	asked, lag := 0, 1500*time.Millisecond
	m.Stand(func(context.Context) Standing {
		asked++
		return Standing{
			Lanes:       map[chat.Lane]Lane{chat.High: {Depth: 3, Bound: 500, Oldest: 2 * time.Second}},
			Vendors:     map[string]Account{"a": {InUse: 7, Limit: 48, Breaker: 2}},
			Tools:       map[string]Account{"tool:a": {Breaker: 1}},
			Endpoints:   map[string]map[string]int{"a": {"http://a/v1": 7}},
			Level:       &asked,
			RecorderLag: &lag,
			Promises:    map[chat.PromiseStatus]int{chat.PromiseBroken: 1},
			Caches:      map[string]map[string]uint64{"answers": {"hit": 9}},
			Probes:      map[string]map[string]uint64{"a": {"lost": 2}},
		}
	})
	page(t, m)
	lines := page(t, m)
	has(t, lines,
		`sluice_lane_depth{lane="high"} 3`, `sluice_lane_bound{lane="high"} 500`, `sluice_lane_oldest_seconds{lane="high"} 2`,
		`sluice_permits_in_use{vendor="a"} 7`, `sluice_permits_limit{vendor="a"} 48`,
		`sluice_breaker_state{name="a"} 2`, `sluice_breaker_state{name="tool:a"} 1`,
		`sluice_endpoint_in_flight{endpoint="http://a/v1",vendor="a"} 7`,
		`sluice_level 2`, `sluice_recorder_lag_seconds 1.5`, `sluice_promises{status="broken"} 1`,
		`sluice_cache_total{cache="answers",result="hit"} 9`, `sluice_probes_total{name="a",outcome="lost"} 2`,
	)
	if joined := strings.Join(lines, "\n"); strings.Contains(joined, "sluice_sockets") {
		t.Errorf("what is not known is shown:\n%s", joined)
	}
}

// TestTenantsBeyondTheBoundAreCountedTogether: the page stays small however many there are.
func TestTenantsBeyondTheBoundAreCountedTogether(t *testing.T) {
	t.Parallel()
	m := New()
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for i := range maxTenants + 50 {
				m.Refused(fmt.Sprintf("tenant-%d", i), "rate_limited")
			}
		})
	}
	callers.Wait()
	lines := page(t, m)
	if len(lines) != maxTenants+1 {
		t.Errorf("%d series, want %d", len(lines), maxTenants+1)
	}
	has(t, lines, `sluice_refused_total{code="rate_limited",tenant="(others)"} 200`)
}

func TestNamesFollowTheConventions(t *testing.T) {
	t.Parallel()
	m := New()
	m.Refused("shop", "queue_full")
	m.Stand(func(context.Context) Standing {
		return Standing{Caches: map[string]map[string]uint64{"answers": {"hit": 1}}}
	})
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	problems, err := promlint.New(w.Body).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "sluice_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestNobodyCountsIntoNothing(t *testing.T) {
	t.Parallel()
	var m *Metrics
	m.Answered(&chat.Ticket{Status: chat.Answered})
	m.Refused("shop", "queue_full")
	m.Granted("a", chat.High, 0)
	m.TurnedAway("a", "shop", chat.High, "wait")
	m.Called("a", Call{})
	m.ToolCalled("a", "good")
	m.Texted(&chat.Notice{Provider: "outbox", State: chat.NoticeSent})
}
