// Package rules holds the one YAML document that steers every process: lanes, vendors,
// chains, the valve, intents and the rest. Bytes come in, a checked Rules value or the
// faults with line and column go out. It does no I/O; who stores and watches the
// document is the queue's business.
package rules

import (
	"time"

	"sluice/internal/chat"
)

// Rules is one whole document, every default filled in and every field checked. It is
// read by many at once and never changed; a new document makes a new value.
type Rules struct {
	Lanes  map[chat.Lane]Lane `yaml:"lanes"`  // all five, always
	Intake Intake             `yaml:"intake"` // how fast tenants may send
	// Tenants are those that have something of their own, by name; every default is filled in.
	Tenants map[string]Allowance `yaml:"tenants"`
	Vendors []Vendor             `yaml:"vendors"` // at least one
	Chains  map[string]Chain     `yaml:"chains"`  // ChainAgent and ChainRAG, always
	Tools   []Tool               `yaml:"tools"`   // that the agent may call; none where the document brings vendors and no tools
	Valve   Valve                `yaml:"valve"`   // when to answer with less
	// Intents are those of the document, then the shipped ones that it does not name: Other
	// is always among them.
	Intents   []Intent  `yaml:"intents"`
	Knowledge Knowledge `yaml:"knowledge"` // what the RAG chain answers from
	Cache     Cache     `yaml:"cache"`
	SMS       SMS       `yaml:"sms"`
	Sockets   Sockets   `yaml:"sockets"`
	Webhooks  Webhooks  `yaml:"webhooks"` // what is sent to tenants' own servers
	Alerts    Alerts    `yaml:"alerts"`   // what is wrong enough to tell, and whom
	Retention Retention `yaml:"retention"`
	// MaxDeliver is how often a job may be taken without coming to an end, 1 to 100. Then
	// it is answered by the template and kept as a dead letter. Defaults to 5.
	MaxDeliver int `yaml:"max_deliver"`
	Replicas   int `yaml:"replicas"` // of every stream and bucket: 1, 3 or 5. Defaults to 1.
}

// The chains that a document may describe.
const (
	ChainAgent = "agent"
	ChainRAG   = "rag"
)

// Other is the intent of a message that no pattern fits. Its template is the last
// answer of all.
const Other = "other"

// Lane says how much a lane holds and how long its tickets wait.
type Lane struct {
	// Bound is the most tickets accepted and not ended, at least 1. Defaults to 500;
	// deferred 10,000, batch 500,000.
	Bound int `yaml:"bound"`
	// MaxWait is the time from acceptance to the route decision, at least 1s. Defaults
	// to 10s; low 15s, deferred 30m, batch 24h.
	MaxWait time.Duration `yaml:"max_wait"`
	// Age is the wait that raises a ticket's rank by one, at least 1s. Defaults to 20s;
	// deferred 5m, batch 30m, so that no lane starves. High has none: 0.
	Age time.Duration `yaml:"age"`
	// Elastic lets the lane borrow a vendor's elastic permits. Defaults to false; high true.
	Elastic bool `yaml:"elastic"`
	// Share is the most of a vendor's base permits that the lane may hold, above 0 and
	// at most 1. Defaults to 1; batch 0.5.
	Share float64 `yaml:"share"`
}

// Intake limits what tenants send before the queue is full.
type Intake struct {
	Tenant  Tenant  `yaml:"tenant"`
	Tighten Tighten `yaml:"tighten"`
	// Predict answers at once with a lesser route when the predicted wait is past
	// max_wait. Defaults to true.
	Predict bool `yaml:"predict"`
}

// Tenant limits one tenant.
type Tenant struct {
	QPS   int `yaml:"qps"`   // tickets a second, at least 1. Defaults to 50.
	Burst int `yaml:"burst"` // tickets at once, at least 1. Defaults to 200.
	// UserTokensPerMinute is the most model tokens that one customer may use in a
	// minute; 0: no limit. Defaults to 100,000.
	UserTokensPerMinute int `yaml:"user_tokens_per_minute"`
}

// Tighten takes non-urgent work at a part of the rate while a lane fills.
type Tighten struct {
	At     float64 `yaml:"at"`     // depth ÷ bound where it begins, above 0 and at most 1. Defaults to 0.8.
	Until  float64 `yaml:"until"`  // depth ÷ bound where it ends, at most At. Defaults to 0.5.
	Factor float64 `yaml:"factor"` // of the tenant's rate, above 0 and at most 1. Defaults to 0.4.
}

// Chain names who serves a route, the first choice first.
type Chain struct {
	// Vendors are names of vendors, without repeats. Defaults to every vendor in the
	// document's order.
	Vendors []string `yaml:"vendors"`
	// Model is a key of each of these vendors' models. Defaults to "strong"; rag "light".
	Model string `yaml:"model"`
	// MaxSteps is the most model calls of one answer, 1 to 50. Defaults to 6; rag 1.
	MaxSteps int `yaml:"max_steps"`
}

// Intent is one thing that customers want. One with the name of a shipped intent has its
// fields wherever the document gives none.
type Intent struct {
	Name     string `yaml:"name"`      // 1 to 32 of a-z 0-9 _ -, unique
	Off      bool   `yaml:"off"`       // the shipped intent of this name is not wanted; never true after Parse
	Urgent   bool   `yaml:"urgent"`    // goes to lane high and to the agent at every level. Defaults to false.
	DeferSMS bool   `yaml:"defer_sms"` // may be answered later, by SMS. Defaults to false.
	Handoff  bool   `yaml:"handoff"`   // goes to people at once, without a model. Defaults to false.
	// Examples are messages of this intent, at most 500 characters each: the classifier
	// learns from them, and from the shipped ones of the same name.
	Examples []string `yaml:"examples"`
	// Patterns are RE2 expressions on the folded text: NFKC, lower case. One that fits
	// decides while the classifier knows fewer than 20 examples, and is evidence after that.
	Patterns []string `yaml:"patterns"`
	// Template is the answer without a model, by language, in one or several wordings: "zh"
	// and "en", no other.
	Template map[string]Texts `yaml:"template"`
}

// Cache says how long things are kept; 0 keeps none.
type Cache struct {
	Answers   time.Duration `yaml:"answers"`   // Defaults to 1h.
	Jitter    time.Duration `yaml:"jitter"`    // at most this is taken off an answer's time at random. Defaults to 5m.
	Retrieval time.Duration `yaml:"retrieval"` // Defaults to 10m.
	Prompts   time.Duration `yaml:"prompts"`   // Defaults to 1h.
	Tools     time.Duration `yaml:"tools"`     // Defaults to 30m.
	Session   time.Duration `yaml:"session"`   // Defaults to 30m.
}

// Retention says how long what has ended is kept, at least 1h each.
type Retention struct {
	Tickets time.Duration `yaml:"tickets"` // in the ledger. Defaults to 90d.
	Events  time.Duration `yaml:"events"`  // in the talk log. Defaults to 7d.
}
