package rules

import (
	"math/big"
	"strconv"
	"time"
)

// The kinds of vendor.
const (
	KindOpenAI    = "openai" // and whatever speaks its protocol
	KindAnthropic = "anthropic"
	KindOllama    = "ollama"
)

// Vendor is an LLM account with a contracted quota.
type Vendor struct {
	Name string `yaml:"name"` // 1 to 32 of a-z 0-9 -, unique. Required.
	Kind string `yaml:"kind"` // Defaults to KindOpenAI.
	// Endpoints share the account's quota; at least one.
	Endpoints []Endpoint `yaml:"endpoints"`
	// Models maps our word for a model ("strong", "light") to the vendor's; at least one.
	Models map[string]Model `yaml:"models"`
	// Quota is the contracted number of concurrent calls, at least 1. Required.
	Quota int `yaml:"quota"`
	// Headroom is the part of the quota that is used, above 0 and at most 1. Defaults to 0.8.
	Headroom float64 `yaml:"headroom"`
	// Elastic is the part of the limit kept for lanes with Elastic, 0 to below 1. Defaults to 0.
	Elastic float64 `yaml:"elastic"`
	// QPS is the most calls in a sliding second; 0: no limit, the default.
	QPS int `yaml:"qps"`
	// TokensPerMinute is the most tokens in a sliding minute; 0: no limit, the default.
	TokensPerMinute int      `yaml:"tokens_per_minute"`
	Retry           Retry    `yaml:"retry"`
	Timeouts        Timeouts `yaml:"timeouts"`
	Breaker         Breaker  `yaml:"breaker"`
	// Warmup opens connections before the first call. Defaults to true.
	Warmup bool `yaml:"warmup"`
}

// Limit returns the permits of the account: quota × headroom rounded down, at least 1.
// The product is exact for the decimal number that the document shows.
func (v Vendor) Limit() int { return max(1, part(v.Quota, v.Headroom)) }

// ElasticLimit returns how many of Limit's permits only elastic lanes may hold. The
// rest, at least 1, is the base.
func (v Vendor) ElasticLimit() int { return part(v.Limit(), v.Elastic) }

// part returns n × share rounded down. In binary 0.29 × 100 is 28.99…; so the share is
// taken as the shortest decimal that means it.
func part(n int, share float64) int {
	exact, ok := new(big.Rat).SetString(strconv.FormatFloat(share, 'f', -1, 64))
	if !ok { // not a number: Parse lets none through
		return 0
	}
	exact.Mul(exact, new(big.Rat).SetInt64(int64(n)))
	return int(new(big.Int).Quo(exact.Num(), exact.Denom()).Int64())
}

// Endpoint is one address of an account.
type Endpoint struct {
	URL    string `yaml:"url"`     // http or https, up to and including the version. Required.
	KeyEnv string `yaml:"key_env"` // environment variable with the key; empty: no key
	Weight int    `yaml:"weight"`  // share of the calls, 1 to 1,000. Defaults to 1.
}

// Model is one of a vendor's models. In the document a plain name will do.
type Model struct {
	Name string `yaml:"name"` // as the vendor calls it. Required.
	// Permits is the most calls of this model at once, at most the account's limit; 0:
	// only the account's limit, the default.
	Permits int `yaml:"permits"`
}

// Retry limits the second tries of calls.
type Retry struct {
	Attempts int     `yaml:"attempts"` // calls of one answer at this vendor, 1 to 10; 1: no retry. Defaults to 2.
	Permits  float64 `yaml:"permits"`  // of the limit that retries may hold, 0 to 1. Defaults to 0.1.
}

// Timeouts limit one call; all above 0.
type Timeouts struct {
	Connect    time.Duration `yaml:"connect"`     // until a connection stands. Defaults to 2s.
	FirstToken time.Duration `yaml:"first_token"` // of a stream. Defaults to 10s.
	Gap        time.Duration `yaml:"gap"`         // silence inside a stream. Defaults to 15s.
	Call       time.Duration `yaml:"call"`        // a call that is not streamed. Defaults to 60s.
	Stream     time.Duration `yaml:"stream"`      // a stream as a whole. Defaults to 120s.
	// ReleaseAfterCancel keeps the permit of a cancelled call, because the vendor
	// notices late; at most 500ms. Defaults to 250ms.
	ReleaseAfterCancel time.Duration `yaml:"release_after_cancel"`
}

// Breaker stops calls to a vendor that fails or crawls.
type Breaker struct {
	Window    time.Duration `yaml:"window"`     // that is looked at, at least 1s. Defaults to 10s.
	MinCalls  int           `yaml:"min_calls"`  // fewer say nothing, at least 1. Defaults to 10.
	Failures  float64       `yaml:"failures"`   // part that opens it, above 0 and at most 1. Defaults to 0.5.
	Slow      float64       `yaml:"slow"`       // part of slow calls that opens it, above 0 and at most 1. Defaults to 0.3.
	SlowAfter time.Duration `yaml:"slow_after"` // to the first token, above 0. Defaults to 5s.
	Cooldown  time.Duration `yaml:"cooldown"`   // open before the first probe, above 0. Defaults to 30s.
	Probes    int           `yaml:"probes"`     // good ones that close it, at least 1. Defaults to 3.
}
