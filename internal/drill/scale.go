package drill

import (
	"fmt"
	"strings"
	"time"

	"sluice/internal/sim"
)

// Scale is how much faster than in life everything runs.
const Scale = 20

// A simulated call, and what the rules say of calls, in the drill's time.
const (
	callMean   = 400 * time.Millisecond
	callP95    = 720 * time.Millisecond
	callMax    = time.Second
	firstMean  = 25 * time.Millisecond
	firstP95   = 45 * time.Millisecond
	maxWait    = time.Second // the least that rules allow
	firstToken = 10 * time.Second / Scale
	slowAfter  = 5 * time.Second / Scale
	window     = 2 * time.Second // of the breaker; a twentieth would be below its least
	cooldown   = 30 * time.Second / Scale
	probes     = 3
	minCalls   = 10
	// What a vendor needs to notice that its caller has left is the machine's: a twentieth
	// of what is shipped would be too short.
	releaseAfter = 25 * time.Millisecond
)

// healthy is how vendors behave when nothing is wrong.
func healthy() sim.Behaviour {
	call := sim.Lognormal(callMean, callP95)
	call.Max = callMax
	return sim.Behaviour{FirstToken: sim.Lognormal(firstMean, firstP95), Call: call}
}

// account is a vendor's account: what was contracted, and how many permits come of it.
type account struct {
	name    string
	quota   int
	permits int // quota × 0.8
	elastic float64
}

// accounts are three vendors of 8, 6 and 4 permits: small enough that two cores keep up,
// and each of the last two together can carry the steady load.
func accounts() []account {
	return []account{{name: "a", quota: 10, permits: 8}, {name: "b", quota: 8, permits: 6}, {name: "c", quota: 5, permits: 4}}
}

func permitsOf(all []account) (n int) {
	for _, a := range all {
		n += a.permits
	}
	return n
}

// setting is what differs between the rules of drills.
type setting struct {
	replicas int           // 0: 1
	connect  time.Duration // 0: 2 s ÷ Scale
	tools    string        // the heading tools; empty: none
	levels   bool          // the load has levels; else it stays at 0, so that every answer is asked of a vendor
}

// writtenRules are the rules of a drill.
func writtenRules(vendors []*vendor, s setting) string {
	if s.replicas == 0 {
		s.replicas = 1
	}
	if s.connect == 0 {
		s.connect = 2 * time.Second / Scale
	}
	var b strings.Builder
	fmt.Fprintf(&b, `replicas: %d
lanes:
  high:   {bound: 2000, max_wait: %[2]s, elastic: true}
  normal: {bound: 2000, max_wait: %[2]s, age: 1s}
  low:    {bound: 2000, max_wait: %[2]s, age: 1s}
  batch:  {bound: 10000, max_wait: 1h, share: 0.5}
intake:
  tenant: {qps: 100000, burst: 100000, user_tokens_per_minute: 0}
`, s.replicas, maxWait)
	b.WriteString(writtenValve(s.levels))
	b.WriteString("cache: {answers: 0s}\n") // no two messages of a drill are the same
	b.WriteString("vendors:\n")
	for _, v := range vendors {
		fmt.Fprintf(&b, `  - name: %s
    endpoints: [{url: %q}]
    models: {strong: model-l, light: model-s}
    quota: %d
    headroom: 0.8
    elastic: %g
    timeouts: {connect: %s, first_token: %s, gap: 750ms, call: 3s, stream: 6s, release_after_cancel: %s}
    breaker: {window: %s, min_calls: %d, failures: 0.5, slow: 0.3, slow_after: %s, cooldown: %s, probes: %d}
`, v.name, v.url, v.quota, v.elastic, s.connect, firstToken, releaseAfter, window, minCalls, slowAfter, cooldown, probes)
	}
	b.WriteString(s.tools)
	return b.String()
}

// The window and the hold of the valve, and how long what is urgent waits on after it was
// handed to people.
const (
	valveWindow = 10 * time.Second
	valveHold   = 4 * time.Second
	urgentWait  = 30 * time.Second / Scale
)

// writtenValve is the shipped valve at the scale, or one that stays closed. The window and
// the hold are what rules allow at least, and a little more.
func writtenValve(levels bool) string {
	if levels {
		return fmt.Sprintf(`valve:
  window: %s
  hold: %s
  urgent_wait: %s
  shadow: 0
  levels: [{depth: 0.5, errors: 0.05, p99: 400ms, wait: 150ms}, {depth: 0.8, errors: 0.10, p99: 500ms, wait: 300ms}, {depth: 0.9, errors: 0.20, p99: 750ms, wait: 450ms}]
`, valveWindow, valveHold, urgentWait)
	}
	return fmt.Sprintf(`valve:
  urgent_wait: %s
  min_calls: 1000000000
  shadow: 0
  levels: [{depth: 0.97, errors: 0.97, p99: 24h, wait: 24h}, {depth: 0.98, errors: 0.98, p99: 25h, wait: 25h}, {depth: 0.99, errors: 0.99, p99: 26h, wait: 26h}]
`, urgentWait)
}
