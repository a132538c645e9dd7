package gate

import "time"

// BreakerConfig is what the rules say about a breaker. Zero fields mean their defaults.
type BreakerConfig struct {
	Window   time.Duration // that is looked at. Defaults to 10s.
	MinCalls int           // ends of calls in the window; fewer say nothing. Defaults to 10.
	Failures float64       // share of failures that opens it. Defaults to 0.5.
	Slow     float64       // share of slow calls that opens it. Defaults to 0.3.
	// Cooldown passes before the first probe, and up to a fifth more. It doubles with
	// each probe that fails, up to 5 minutes or itself, whichever is longer. Defaults to 30s.
	Cooldown time.Duration
	Probes   int           // at once, and good ones that close it. Defaults to 3.
	ProbeFor time.Duration // a probe without an end by then has failed. Defaults to 60s.
}

func (c BreakerConfig) complete() BreakerConfig {
	c.Window = positive(c.Window, 10*time.Second)
	c.MinCalls = positive(c.MinCalls, 10)
	c.Failures = positive(c.Failures, 0.5)
	c.Slow = positive(c.Slow, 0.3)
	c.Cooldown = positive(c.Cooldown, 30*time.Second)
	c.Probes = positive(c.Probes, 3)
	c.ProbeFor = positive(c.ProbeFor, time.Minute)
	return c
}

func positive[N int | float64 | time.Duration](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}
