package metrics

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sluice/internal/chat"
)

// maxTenants is how many tenants have series of their own; the others are counted together
// as otherTenants, so that the page stays small however many there are.
const (
	maxTenants   = 1000
	otherTenants = "(others)"
)

// The buckets of the histograms, in seconds: waits are short or near a lane's limit, calls
// of a model take from half a second to two minutes.
var (
	waitBuckets = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 10, 15, 30, 60, 300, 1800}
	callBuckets = []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 10, 15, 20, 30, 45, 60, 120}
)

// Metrics counts. It is safe for concurrent use; a nil one counts nothing.
type Metrics struct {
	registry *prometheus.Registry

	queueWait  *prometheus.HistogramVec
	handle     *prometheus.HistogramVec
	answers    *prometheus.CounterVec
	refused    *prometheus.CounterVec
	permitWait *prometheus.HistogramVec
	turnedAway *prometheus.CounterVec
	calls      *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	firstToken *prometheus.HistogramVec
	tokens     *prometheus.CounterVec
	toolCalls  *prometheus.CounterVec
	texts      *prometheus.CounterVec
	nearest    *prometheus.CounterVec

	mu      sync.Mutex // guards the rest
	tenants map[string]bool
}

// New returns metrics that have counted nothing. Beside Sluice's own they hold those of the
// Go runtime and of the process.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), tenants: map[string]bool{}}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.queueWait = m.histogram("sluice_queue_wait_seconds", "From acceptance to the route decision.", waitBuckets, "lane")
	m.handle = m.histogram("sluice_handle_seconds", "From the taking of a ticket to its answer.", callBuckets, "route")
	m.answers = m.counter("sluice_answers_total", "Tickets answered.", "route", "lane", "level", "reason")
	m.refused = m.counter("sluice_refused_total", "Messages refused for load or a limit.", "tenant", "code")
	m.permitWait = m.histogram("sluice_permit_wait_seconds", "From the wish for a permit to its grant.", waitBuckets, "vendor", "lane")
	m.turnedAway = m.counter("sluice_gate_refused_total", "Wishes for a permit that were turned away at once, by the vendor that was wished for first.", "vendor", "tenant", "lane", "reason")
	m.calls = m.counter("sluice_vendor_calls_total", "Calls of vendors that have ended.", "vendor", "outcome")
	m.seconds = m.histogram("sluice_vendor_seconds", "How long calls of vendors took.", callBuckets, "vendor")
	m.firstToken = m.histogram("sluice_first_token_seconds", "From the call of a vendor to its first token, of streamed answers.", callBuckets, "vendor")
	m.tokens = m.counter("sluice_vendor_tokens_total", "Tokens that vendors have counted.", "vendor", "kind")
	m.toolCalls = m.counter("sluice_tool_calls_total", "Calls of tools that have ended.", "tool", "outcome")
	m.texts = m.counter("sluice_sms_total", "Text messages, by the state that they came to.", "provider", "status")
	m.nearest = m.counter("sluice_vector_searches_total", "Searches for passages by meaning where pgvector is configured, by who found them.", "by")
	return m
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(h)
	return h
}

// Handler returns the page.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// Answered counts a ticket that was answered here.
func (m *Metrics) Answered(t *chat.Ticket) {
	if m == nil || t.Status != chat.Answered {
		return
	}
	m.answers.WithLabelValues(string(t.Route), string(t.Lane), strconv.Itoa(t.Level), string(t.Reason)).Inc()
	if t.DecidedAt != nil {
		m.queueWait.WithLabelValues(string(t.Lane)).Observe(t.DecidedAt.Sub(t.AcceptedAt).Seconds())
	}
	if t.StartedAt != nil && t.EndedAt != nil {
		m.handle.WithLabelValues(string(t.Route)).Observe(t.EndedAt.Sub(*t.StartedAt).Seconds())
	}
}

// Refused counts a message of a tenant that was not accepted, by the code of its problem.
func (m *Metrics) Refused(tenant, code string) {
	if m == nil {
		return
	}
	m.refused.WithLabelValues(m.tenant(tenant), code).Inc()
}

// Granted counts a permit and how long it was waited for.
func (m *Metrics) Granted(vendor string, lane chat.Lane, waited time.Duration) {
	if m == nil {
		return
	}
	m.permitWait.WithLabelValues(vendor, string(lane)).Observe(waited.Seconds())
}

// TurnedAway counts a wish for a permit that was refused at once.
func (m *Metrics) TurnedAway(vendor, tenant string, lane chat.Lane, reason string) {
	if m == nil {
		return
	}
	m.turnedAway.WithLabelValues(vendor, m.tenant(tenant), string(lane), reason).Inc()
}

// Call is the end of a call of a vendor.
type Call struct {
	Outcome    string        // good, slow, failed, throttled; empty: it says nothing about the vendor
	Took       time.Duration // to the end of its body
	FirstToken time.Duration // 0: it was not streamed, or none came
	Prompt     int           // tokens; 0: not told
	Completion int
}

// Called counts a call of a vendor.
func (m *Metrics) Called(vendor string, c Call) {
	if m == nil {
		return
	}
	m.calls.WithLabelValues(vendor, outcome(c.Outcome)).Inc()
	m.seconds.WithLabelValues(vendor).Observe(c.Took.Seconds())
	if c.FirstToken > 0 {
		m.firstToken.WithLabelValues(vendor).Observe(c.FirstToken.Seconds())
	}
	m.tokens.WithLabelValues(vendor, "prompt").Add(float64(max(0, c.Prompt)))
	m.tokens.WithLabelValues(vendor, "completion").Add(float64(max(0, c.Completion)))
}

// ToolCalled counts a call of a tool.
func (m *Metrics) ToolCalled(tool, how string) {
	if m != nil {
		m.toolCalls.WithLabelValues(tool, outcome(how)).Inc()
	}
}

// Texted counts a text message that came to a state.
func (m *Metrics) Texted(n *chat.Notice) {
	if m != nil {
		m.texts.WithLabelValues(n.Provider, string(n.State)).Inc()
	}
}

// Neared counts a search for the nearest vectors, by who has found them.
func (m *Metrics) Neared(by string) {
	if m != nil {
		m.nearest.WithLabelValues(by).Inc()
	}
}

// outcome names what says nothing about the called one: a cancel, or a fault of ours.
func outcome(how string) string {
	if how == "" {
		return "other"
	}
	return how
}

// tenant returns the label of a tenant.
func (m *Metrics) tenant(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.tenants[name] {
		if len(m.tenants) >= maxTenants {
			return otherTenants
		}
		m.tenants[name] = true
	}
	return name
}
