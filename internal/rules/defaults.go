package rules

import (
	"reflect"
	"time"

	"sluice/internal/chat"
)

const (
	minute = time.Minute
	hour   = time.Hour
	day    = 24 * time.Hour
)

// builtin returns what a document starts from. Vendors and intents are added once it is
// known whether the document brings its own.
func builtin() *Rules {
	return &Rules{
		Lanes: map[chat.Lane]Lane{
			chat.High:     {Bound: 500, MaxWait: 10 * time.Second, Elastic: true, Share: 1},
			chat.Normal:   {Bound: 500, MaxWait: 10 * time.Second, Age: 20 * time.Second, Share: 1},
			chat.Low:      {Bound: 500, MaxWait: 15 * time.Second, Age: 20 * time.Second, Share: 1},
			chat.Deferred: {Bound: 10_000, MaxWait: 30 * minute, Age: 5 * minute, Share: 1},
			chat.Batch:    {Bound: 500_000, MaxWait: day, Age: 30 * minute, Share: 0.5},
		},
		Intake: Intake{
			Tenant:  Tenant{QPS: 50, Burst: 200, UserTokensPerMinute: 100_000},
			Tighten: Tighten{At: 0.8, Until: 0.5, Factor: 0.4},
			Predict: true,
		},
		Chains: map[string]Chain{
			ChainAgent: {Model: "strong", MaxSteps: 6},
			ChainRAG:   {Model: "light", MaxSteps: 1},
		},
		Valve: Valve{
			Levels: []Level{
				{Depth: 0.5, Errors: 0.05, P99: 8 * time.Second, Wait: 3 * time.Second},
				{Depth: 0.8, Errors: 0.10, P99: 10 * time.Second, Wait: 6 * time.Second},
				{Depth: 0.9, Errors: 0.20, P99: 15 * time.Second, Wait: 9 * time.Second},
			},
			Window: 5 * minute, MinCalls: 20, Hold: 2 * minute, UrgentWait: 30 * time.Second, UrgentShare: 0.5, Shadow: 0.01,
		},
		Knowledge: Knowledge{
			Threshold: 0.3, Passages: 3,
			Embeddings: Embeddings{Vendors: []string{}, Model: "embed", Batch: 10, Wait: 300 * time.Millisecond},
		},
		Cache: Cache{
			Answers: hour, Jitter: 5 * minute, Retrieval: 10 * minute, Prompts: hour,
			Tools: 30 * minute, Session: 30 * minute,
		},
		SMS:        SMS{Provider: "outbox", PerNumberPerDay: 10, PerTenantPerDay: 1000, Countries: []string{"CN", "US"}},
		Sockets:    DefaultSockets(),
		Alerts:     DefaultAlerts(),
		Retention:  Retention{Tickets: 90 * day, Events: 7 * day},
		MaxDeliver: 5,
		Replicas:   1,
	}
}

// blank returns a new entry of a list or a table with its defaults.
func blank(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch p := v.Addr().Interface().(type) {
	case *Vendor:
		*p = blankVendor()
	case *Tool:
		*p = blankTool()
	case *Endpoint:
		p.Weight = 1
	case *Allowance:
		p.Weight, p.Language = 1, chat.English
	case *QuietHours:
		p.Zone = "UTC"
	case *AlertWebhook:
		p.Lang = chat.English
	}
	return v
}

func blankVendor() Vendor {
	return Vendor{
		Kind:     KindOpenAI,
		Headroom: 0.8,
		Retry:    Retry{Attempts: 2, Permits: 0.1},
		Timeouts: Timeouts{
			Connect: 2 * time.Second, FirstToken: 10 * time.Second, Gap: 15 * time.Second,
			Call: 60 * time.Second, Stream: 120 * time.Second, ReleaseAfterCancel: 250 * time.Millisecond,
		},
		Breaker: Breaker{
			Window: 10 * time.Second, MinCalls: 10, Failures: 0.5, Slow: 0.3,
			SlowAfter: 5 * time.Second, Cooldown: 30 * time.Second, Probes: 3,
		},
		Warmup: true,
	}
}
