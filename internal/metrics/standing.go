package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sluice/internal/chat"
)

// standingLimit is how long a scrape waits for how everything stands; what is not known by
// then is missing from it.
const standingLimit = 2 * time.Second

// Standing is how everything stands at one moment, as far as the process knows: what is nil
// or empty is left out of the page.
type Standing struct {
	Lanes       map[chat.Lane]Lane
	Vendors     map[string]Account
	Tools       map[string]Account        // by the names of their accounts at the gate
	Endpoints   map[string]map[string]int // calls in flight of this process: vendor → endpoint
	Level       *int
	Sockets     *int
	DeadLetters *int
	Promises    map[chat.PromiseStatus]int
	RecorderLag *time.Duration
	Nodes       *int
	Caches      map[string]map[string]uint64 // cache → result → how often, of this process
	Alerts      map[Alert]int                // how many of each fire
	Probes      map[string]map[string]uint64 // vendor or tool → outcome → how often
}

// Lane is how a lane stands.
type Lane struct {
	Depth, Bound int
	Oldest       time.Duration // how long its oldest ticket has been there; 0: it is empty
	Longest      time.Duration // the longest wait for somebody to take a ticket
	MaxWait      time.Duration // that the rules allow
}

// Alert is a kind of alert.
type Alert struct{ Name, Severity string }

// Account is how a vendor or a tool stands.
type Account struct {
	InUse, Limit int
	Breaker      int // 0 closed, 1 half-open, 2 open
}

// Stand has each scrape ask how everything stands. It may be called once.
func (m *Metrics) Stand(ask func(context.Context) Standing) {
	m.registry.MustRegister(standing{ask})
}

// standing is a collector that asks anew for each scrape.
type standing struct {
	ask func(context.Context) Standing
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	laneDepth   = desc("sluice_lane_depth", "Tickets accepted and not ended.", "lane")
	laneBound   = desc("sluice_lane_bound", "Most tickets that the lane holds.", "lane")
	laneOldest  = desc("sluice_lane_oldest_seconds", "How long the oldest ticket of the lane has been in it.", "lane")
	laneWaiting = desc("sluice_lane_waiting_seconds", "The longest wait of the lane for somebody to take a ticket.", "lane")
	laneMaxWait = desc("sluice_lane_max_wait_seconds", "The longest wait that the rules allow.", "lane")
	inUse       = desc("sluice_permits_in_use", "Permits in use.", "vendor")
	limit       = desc("sluice_permits_limit", "Permits that may be in use now.", "vendor")
	breaker     = desc("sluice_breaker_state", "Breaker of a vendor or tool: 0 closed, 1 half-open, 2 open.", "name")
	endpoint    = desc("sluice_endpoint_in_flight", "Calls in flight of this process.", "vendor", "endpoint")
	level       = desc("sluice_level", "Highest load level that any ticket feels, 0 to 3.")
	sockets     = desc("sluice_sockets", "Open sockets of this process.")
	deadLetters = desc("sluice_dead_letters", "Dead letters that are kept.")
	promises    = desc("sluice_promises", "Promises by state, of the last 90 days.", "status")
	recorderLag = desc("sluice_recorder_lag_seconds", "Age of the oldest event or ended ticket that is not in the ledger yet.")
	nodes       = desc("sluice_nodes", "Processes that take messages in or hold permits.")
	alerts      = desc("sluice_alerts_firing", "Alerts that fire.", "name", "severity")
	caches      = desc("sluice_cache_total", "Look-ups in a cache of this process.", "cache", "result")
	probes      = desc("sluice_probes_total", "Probes of half-open breakers, counted by the controller.", "name", "outcome")
)

// Describe implements prometheus.Collector.
func (s standing) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		laneDepth, laneBound, laneOldest, laneWaiting, laneMaxWait, inUse, limit, breaker, endpoint, level, sockets, deadLetters, promises, recorderLag, nodes, alerts, caches, probes,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (s standing) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), standingLimit)
	defer cancel()
	now := s.ask(ctx)
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for lane, l := range now.Lanes {
		gauge(laneDepth, float64(l.Depth), string(lane))
		gauge(laneBound, float64(l.Bound), string(lane))
		gauge(laneOldest, l.Oldest.Seconds(), string(lane))
		gauge(laneWaiting, l.Longest.Seconds(), string(lane))
		gauge(laneMaxWait, l.MaxWait.Seconds(), string(lane))
	}
	for vendor, a := range now.Vendors {
		gauge(inUse, float64(a.InUse), vendor)
		gauge(limit, float64(a.Limit), vendor)
		gauge(breaker, float64(a.Breaker), vendor)
	}
	for tool, a := range now.Tools {
		gauge(breaker, float64(a.Breaker), tool)
	}
	for vendor, all := range now.Endpoints {
		for name, n := range all {
			gauge(endpoint, float64(n), vendor, name)
		}
	}
	for d, v := range map[*prometheus.Desc]*int{level: now.Level, sockets: now.Sockets, deadLetters: now.DeadLetters, nodes: now.Nodes} {
		if v != nil {
			gauge(d, float64(*v))
		}
	}
	for status, n := range now.Promises {
		gauge(promises, float64(n), string(status))
	}
	for a, n := range now.Alerts {
		gauge(alerts, float64(n), a.Name, a.Severity)
	}
	if now.RecorderLag != nil {
		gauge(recorderLag, now.RecorderLag.Seconds())
	}
	counts(to, caches, now.Caches)
	counts(to, probes, now.Probes)
}

// counts gives a counter with two labels.
func counts(to chan<- prometheus.Metric, d *prometheus.Desc, all map[string]map[string]uint64) {
	for name, by := range all {
		for what, n := range by {
			to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), name, what)
		}
	}
}
